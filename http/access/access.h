#pragma once
// Who a client is: the users of the file, and what has been proved by them so far.

#include <atomic>
#include <functional>
#include <memory>
#include <mutex>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "http/access/credentials.h"
#include "http/access/roles.h"
#include "http/access/secret.h"
#include "http/access/user_file.h"
#include "storage/base/status.h"

namespace hg::http {

/// A user who has proved to be it. Immutable.
struct Identity {
  std::string name;
  Roles roles;
  std::string secret;  // what stands in the file of the secret that was shown; "" = a certificate
};
using IdentityPtr = std::shared_ptr<const Identity>;

/// Somebody may not do what he asks for; borrows.
struct AccessRefusal {
  std::string_view remote, method, path;  // "" of a line that is no request
  std::string_view user;                  // "": he did not prove to be anybody
  int status = 0;                         // 401, 403
};

/// Whether a password fits a hash, as PasswordMatches.
using PasswordCheck = std::function<bool(std::string_view password, const std::string& hash)>;

/// Thread-safe. Judging a password takes some 10 ms of a core and 16 MiB, so whoever calls Judge
/// bounds how often it runs at once; a password that was right is known without that as long as the
/// file has the hash that it fits.
class Access {
 public:
  /// Nobody is known yet. What costs anything is done by the first Load, which no other call may
  /// run beside. `matches` is called by Judge, on its threads.
  explicit Access(PasswordCheck matches = PasswordMatches);

  /// Takes the users of a file's text for all that come from now on, and forgets what was proved of
  /// others. On failure everything stays as it was.
  Status Load(std::string_view users);
  /// At most once, before anybody is refused: told of whom his credentials did not help, on the
  /// thread of his connection.
  void ListenForRefusals(std::function<void(const AccessRefusal&)> listener) {
    refused_ = std::move(listener);
  }
  void TellRefused(const AccessRefusal& refusal) const {
    if (refused_) refused_(refusal);
  }
  /// Changes with each Load: an identity from before it must be looked at again.
  [[nodiscard]] uint64_t generation() const { return generation_.load(std::memory_order_acquire); }

  /// Null: nobody, or a password that only Judge can judge. Quick.
  [[nodiscard]] IdentityPtr Known(const Credentials& said);
  /// Null: nobody. Takes as long for users that do not exist; what is Known by now, no time.
  [[nodiscard]] IdentityPtr Judge(const Credentials& said);
  /// The user of the first of these names that is one: what a certificate that was verified says
  /// its subject is.
  [[nodiscard]] IdentityPtr ByCertificate(std::span<const std::string> names) const;
  /// The same user after a Load; null if he or the secret he showed is gone.
  [[nodiscard]] IdentityPtr Renew(const Identity& who) const;

 private:
  struct HashOfDigest {
    size_t operator()(const Digest& digest) const;
  };
  struct Users {
    std::unordered_map<std::string, User> by_name;
    std::unordered_map<std::string, IdentityPtr> by_token;  // its digest in hexadecimal
  };

  [[nodiscard]] std::shared_ptr<const Users> users() const;
  static IdentityPtr Renew(const Users& users, const Identity& who);
  [[nodiscard]] Digest KeyOf(const Credentials& said) const;

  const PasswordCheck matches_;
  std::function<void(const AccessRefusal&)> refused_;  // constant once somebody was refused
  const Digest key_ = RandomDigest();                  // of proved_
  std::string nobodys_hash_;  // as dear as a user's; constant from the first Load on
  std::atomic<uint64_t> generation_{0};

  mutable std::mutex mutex_;
  std::shared_ptr<const Users> users_;                            // guarded by mutex_
  std::unordered_map<Digest, IdentityPtr, HashOfDigest> proved_;  // guarded by mutex_
};

}  // namespace hg::http
