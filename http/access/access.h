#pragma once
// Authentication: the users of the user file, and the credentials that were verified so far.

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

/// An authenticated user. Immutable.
struct Identity {
  std::string name;
  Roles roles;
  std::string secret;  // the entry of the user file that the client's secret matched; "" =
                       // authenticated by certificate
};
using IdentityPtr = std::shared_ptr<const Identity>;

/// A request or telnet line that was refused for lack of access. The texts belong to the caller of
/// the listener.
struct AccessRefusal {
  std::string_view remote, method, path;  // method and path are "" for a telnet line
  std::string_view user;                  // "": the client is not authenticated
  int status = 0;                         // 401 or 403
};

/// Returns whether the password matches the hash, as PasswordMatches does.
using PasswordCheck = std::function<bool(std::string_view password, const std::string& hash)>;

/// Thread-safe. Checking a password takes about 10 ms of CPU time and 16 MiB, so the caller of
/// Judge must limit concurrent calls. A password that was verified once is cached while the user
/// file keeps its hash.
class Access {
 public:
  /// Starts without users. The first Load does the expensive setup; no other call may run
  /// concurrently with it. Judge calls `matches` on its callers' threads.
  explicit Access(PasswordCheck matches = PasswordMatches);

  /// Replaces the users by those of a user file's text. Drops cached credentials that the new file
  /// does not contain. On failure nothing changes.
  Status Load(std::string_view users);
  /// Sets the listener for refusals of clients whose credentials did not suffice. It is called on
  /// the thread of the client's connection. Call at most once, before the first refusal.
  void ListenForRefusals(std::function<void(const AccessRefusal&)> listener) {
    refused_ = std::move(listener);
  }
  void TellRefused(const AccessRefusal& refusal) const {
    if (refused_) refused_(refusal);
  }
  /// Returns a number that changes with each Load. An Identity that was looked up before the change
  /// must be looked up again.
  [[nodiscard]] uint64_t generation() const { return generation_.load(std::memory_order_acquire); }

  /// Looks up credentials without computing a password hash. Returns null if they are unknown, or
  /// if they hold a password that only Judge can check.
  [[nodiscard]] IdentityPtr Known(const Credentials& said);
  /// Checks credentials with the slow password hash. Returns null if they are wrong. The check
  /// takes equally long for users that do not exist. If Known finds the credentials by then,
  /// returns without computing a hash.
  [[nodiscard]] IdentityPtr Judge(const Credentials& said);
  /// Returns the user for a verified client certificate. `names` are the names in the certificate.
  /// The first of them that is the name of a user counts.
  [[nodiscard]] IdentityPtr ByCertificate(std::span<const std::string> names) const;
  /// Returns the current Identity of the same user after a Load. Null: the user, or the secret that
  /// the client presented, was removed.
  [[nodiscard]] IdentityPtr Renew(const Identity& who) const;

 private:
  struct HashOfDigest {
    size_t operator()(const Digest& digest) const;
  };
  struct Users {
    std::unordered_map<std::string, User> by_name;
    /// Key: SHA-256 of the token, in hexadecimal.
    std::unordered_map<std::string, IdentityPtr> by_token;
  };

  [[nodiscard]] std::shared_ptr<const Users> users() const;
  static IdentityPtr Renew(const Users& users, const Identity& who);
  [[nodiscard]] Digest KeyOf(const Credentials& said) const;

  const PasswordCheck matches_;
  std::function<void(const AccessRefusal&)> refused_;  // constant after the first refusal
  const Digest key_ = RandomDigest();                  // HMAC key for proved_
  std::string nobodys_hash_;  // checked for unknown users at equal cost; constant after 1st Load
  std::atomic<uint64_t> generation_{0};

  mutable std::mutex mutex_;
  std::shared_ptr<const Users> users_;                            // guarded by mutex_
  std::unordered_map<Digest, IdentityPtr, HashOfDigest> proved_;  // guarded by mutex_
};

}  // namespace hg::http
