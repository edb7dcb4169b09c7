#include "http/access/user_file.h"

#include <algorithm>
#include <set>

#include "http/access/secret.h"
#include "storage/base/bytes.h"

namespace hg::http {
namespace {

constexpr std::string_view kToken = "token$";

constexpr std::string_view kHead =
    "# Users of the daemon, a line each: name:roles:secrets. `tsdb user` writes it; SIGHUP makes\n"
    "# the daemon read it anew.\n";

/// Removes the text before the next separator, and the separator, from *text. Returns the text.
std::string_view TakeField(std::string_view* text, char separator) {
  const size_t end = std::min(text->find(separator), text->size());
  const std::string_view field = text->substr(0, end);
  text->remove_prefix(std::min(end + 1, text->size()));
  return field;
}

bool IsTokenDigest(std::string_view text) {
  return text.size() == 2 * Digest().size() &&
         text.find_first_not_of("0123456789abcdef") == std::string_view::npos;
}

Status AddSecret(std::string_view secret, User* user) {
  if (secret.starts_with(kToken)) {
    secret.remove_prefix(kToken.size());
    if (!IsTokenDigest(secret))
      return Status::InvalidArgument("a token is kept as its SHA-256 in lower-case hexadecimal");
    user->tokens.emplace_back(secret);
    return {};
  }
  std::string hash(secret);
  // The secret may be a password in clear text, so the error must not repeat it, because errors are
  // logged.
  if (!IsPasswordHash(hash)) {
    return Status::InvalidArgument(
        "a secret is neither a password hash that this system considers safe nor " +
        std::string(kToken) + "…");
  }
  user->passwords.push_back(std::move(hash));
  return {};
}

Result<User> ParseUser(std::string_view line) {
  if (std::count(line.begin(), line.end(), ':') != 2)
    return Status::InvalidArgument("it does not have the form name:roles:secrets");
  User user;
  user.name = TakeField(&line, ':');
  RETURN_IF_ERROR(CheckUserName(user.name));
  ASSIGN_OR_RETURN(user.roles, ParseRoles(TakeField(&line, ':')));
  while (!line.empty()) {
    const std::string_view secret = TakeField(&line, ' ');
    if (!secret.empty()) RETURN_IF_ERROR(AddSecret(secret, &user));
  }
  return user;
}

}  // namespace

Status CheckUserName(std::string_view name) {
  const auto allowed = [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '.' ||
           c == '_' || c == '-' || c == '@';
  };
  if (!name.empty() && name.size() <= kUserNameBytesMax &&
      std::all_of(name.begin(), name.end(), allowed))
    return {};
  return Status::InvalidArgument("\"" + std::string(name) + "\" is no user's name: 1 to " +
                                 std::to_string(kUserNameBytesMax) +
                                 " letters, digits, and . _ - @");
}

Result<std::vector<User>> ParseUserFile(std::string_view text) {
  std::vector<User> users;
  std::set<std::string> names;
  for (size_t number = 1; !text.empty(); ++number) {
    std::string_view line = TakeField(&text, '\n');
    if (line.ends_with('\r')) line.remove_suffix(1);
    if (line.find_first_not_of(" \t") == std::string_view::npos || line.starts_with('#')) continue;
    Result<User> user = ParseUser(line);
    const std::string where = "line " + std::to_string(number);
    if (!user.ok()) return Prepend(user.status(), where);
    if (!names.insert(user->name).second)
      return Status::InvalidArgument(where + ": there is another line for " + user->name);
    users.push_back(std::move(*user));
  }
  return users;
}

std::string UserFileText(const std::vector<User>& users) {
  std::string text(kHead);
  for (const User& user : users) {
    text += user.name + ":" + RolesText(user.roles) + ":";
    std::string_view separator;
    for (const std::string& hash : user.passwords) {
      text.append(separator).append(hash);
      separator = " ";
    }
    for (const std::string& digest : user.tokens) {
      text.append(separator).append(kToken).append(digest);
      separator = " ";
    }
    text += '\n';
  }
  return text;
}

std::string TokenDigest(std::string_view token) {
  const Digest digest = Sha256(token);
  return ToHex({reinterpret_cast<const char*>(digest.data()), digest.size()});
}

}  // namespace hg::http
