#include "http/access/access.h"

#include <algorithm>
#include <cstring>

namespace hg::http {
namespace {

/// Maximum number of verified passwords in the cache. When it is reached, the cache is emptied.
constexpr size_t kProvedMax = 4096;

bool Holds(const std::vector<std::string>& list, const std::string& item) {
  return std::find(list.begin(), list.end(), item) != list.end();
}

}  // namespace

Access::Access(PasswordCheck matches)
    : matches_(std::move(matches)), users_(std::make_shared<Users>()) {}

size_t Access::HashOfDigest::operator()(const Digest& digest) const {
  size_t hash;
  std::memcpy(&hash, digest.data(), sizeof hash);
  return hash;
}

Status Access::Load(std::string_view text) {
  ASSIGN_OR_RETURN(std::vector<User> list, ParseUserFile(text));
  auto users = std::make_shared<Users>();
  for (User& user : list) {
    for (const std::string& token : user.tokens) {
      auto who = std::make_shared<const Identity>(Identity{user.name, user.roles, token});
      if (!users->by_token.emplace(token, std::move(who)).second)
        return Status::InvalidArgument("two users have the same token; one of them is " +
                                       user.name);
    }
    const std::string name = user.name;
    users->by_name.emplace(name, std::move(user));
  }
  if (nobodys_hash_.empty()) {
    ASSIGN_OR_RETURN(nobodys_hash_, HashPassword(MakeToken()));
  }
  std::lock_guard lock(mutex_);
  users_ = std::move(users);
  // Verified passwords that are still valid stay in the cache. If all were removed, every user
  // would have to wait for a slow check, and the checks of wrong passwords could delay it further.
  for (auto proved = proved_.begin(); proved != proved_.end();) {
    proved->second = Renew(*users_, *proved->second);
    proved = proved->second == nullptr ? proved_.erase(proved) : std::next(proved);
  }
  generation_.fetch_add(1, std::memory_order_release);
  return {};
}

std::shared_ptr<const Access::Users> Access::users() const {
  std::lock_guard lock(mutex_);
  return users_;
}

/// The key is unambiguous, because names contain no colon.
Digest Access::KeyOf(const Credentials& said) const {
  return HmacSha256(key_, said.name + ":" + said.secret);
}

IdentityPtr Access::Known(const Credentials& said) {
  if (said.kind == Credentials::Kind::kToken) {
    // Tokens are looked up by their digest, so the duration of the lookup reveals nothing about the
    // tokens.
    const auto all = users();
    const auto found = all->by_token.find(TokenDigest(said.secret));
    return found == all->by_token.end() ? nullptr : found->second;
  }
  if (said.kind != Credentials::Kind::kPassword) return nullptr;
  const Digest key = KeyOf(said);
  std::lock_guard lock(mutex_);
  const auto found = proved_.find(key);
  return found == proved_.end() ? nullptr : found->second;
}

IdentityPtr Access::Judge(const Credentials& said) {
  // Another call may have verified the same password while this call waited.
  IdentityPtr known = Known(said);
  if (known != nullptr || said.kind != Credentials::Kind::kPassword) return known;
  const uint64_t generation = this->generation();
  const auto all = users();
  const auto user = all->by_name.find(said.name);
  const bool has_one = user != all->by_name.end() && !user->second.passwords.empty();
  if (!has_one) {
    // The response time must not reveal whether the user exists.
    (void)matches_(said.secret, nobodys_hash_);
    return nullptr;
  }
  for (const std::string& hash : user->second.passwords) {
    if (!matches_(said.secret, hash)) continue;
    auto who = std::make_shared<const Identity>(Identity{said.name, user->second.roles, hash});
    const Digest key = KeyOf(said);
    std::lock_guard lock(mutex_);
    if (generation == this->generation()) {
      if (proved_.size() >= kProvedMax) proved_.clear();
      proved_[key] = who;
    }
    return who;
  }
  return nullptr;
}

IdentityPtr Access::ByCertificate(std::span<const std::string> names) const {
  const auto all = users();
  for (const std::string& name : names) {
    const auto user = all->by_name.find(name);
    if (user != all->by_name.end())
      return std::make_shared<const Identity>(Identity{name, user->second.roles, ""});
  }
  return nullptr;
}

IdentityPtr Access::Renew(const Identity& who) const { return Renew(*users(), who); }

IdentityPtr Access::Renew(const Users& users, const Identity& who) {
  const auto user = users.by_name.find(who.name);
  if (user == users.by_name.end()) return nullptr;
  const User& now = user->second;
  const bool still =
      who.secret.empty() || Holds(now.passwords, who.secret) || Holds(now.tokens, who.secret);
  if (!still) return nullptr;
  return std::make_shared<const Identity>(Identity{who.name, now.roles, who.secret});
}

}  // namespace hg::http
