#pragma once
// Authentication: the users of the user file, and a cache of credentials that were verified.

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
  std::string secret;  // the entry of the user file for the client's secret; "": the client was
                       // authenticated by its certificate
};
using IdentityPtr = std::shared_ptr<const Identity>;

/// A request or a telnet line that was rejected because the client lacks permission. The texts are
/// valid only during the call of the listener.
struct AccessRefusal {
  std::string_view remote, method, path;  // method and path are "" for a telnet line
  std::string_view user;                  // "": the client is not authenticated
  int status = 0;                         // the HTTP status: 401 or 403; telnet: 401
};

/// A function that returns whether the password matches the hash, such as PasswordMatches.
using PasswordCheck = std::function<bool(std::string_view password, const std::string& hash)>;

/// Thread-safe. Checking a password takes about 10 ms of CPU time and 16 MiB, so the caller of
/// Judge must limit concurrent calls. After a password was verified, it stays in a cache as long as
/// the user file has its hash.
class Access {
 public:
  /// The object has no users until the first Load. The first Load does expensive setup; no other
  /// call may run concurrently with it. Judge calls `matches` on its caller's thread.
  explicit Access(PasswordCheck matches = PasswordMatches);

  /// Replaces the users by those in the text of a user file. Drops cached credentials that the new
  /// file does not have. If it fails, nothing changes.
  Status Load(std::string_view users);
  /// Sets the listener for rejected clients. The thread of the client's connection calls the
  /// listener. Call this function at most once, before the first client is rejected.
  void ListenForRefusals(std::function<void(const AccessRefusal&)> listener) {
    refused_ = std::move(listener);
  }
  void TellRefused(const AccessRefusal& refusal) const {
    if (refused_) refused_(refusal);
  }
  /// Returns a number that changes with each Load. After it has changed, the caller must look up
  /// again an Identity that it got before.
  [[nodiscard]] uint64_t generation() const { return generation_.load(std::memory_order_acquire); }

  /// Looks up credentials without computing a password hash. Returns null if they are unknown, or
  /// if they have a password that only Judge can check.
  [[nodiscard]] IdentityPtr Known(const Credentials& said);
  /// Checks credentials with the slow password hash. Returns null if they are wrong. The check
  /// takes equally long for users that do not exist. If the credentials are in the cache by now
  /// (Known), no hash is computed.
  [[nodiscard]] IdentityPtr Judge(const Credentials& said);
  /// Returns the user for a verified client certificate. `names` are the names in the certificate.
  /// The first of these names that is the name of a user determines the user.
  [[nodiscard]] IdentityPtr ByCertificate(std::span<const std::string> names) const;
  /// Returns the current Identity of the same user after a Load. Returns null if the user, or the
  /// secret that the client sent, was removed from the user file.
  [[nodiscard]] IdentityPtr Renew(const Identity& who) const;

 private:
  struct HashOfDigest {
    size_t operator()(const Digest& digest) const;
  };
  struct Users {
    std::unordered_map<std::string, User> by_name;
    /// The key is the SHA-256 of the token in hexadecimal.
    std::unordered_map<std::string, IdentityPtr> by_token;
  };

  [[nodiscard]] std::shared_ptr<const Users> users() const;
  static IdentityPtr Renew(const Users& users, const Identity& who);
  [[nodiscard]] Digest KeyOf(const Credentials& said) const;

  const PasswordCheck matches_;
  std::function<void(const AccessRefusal&)> refused_;  // constant after the first refusal
  const Digest key_ = RandomDigest();                  // HMAC key for proved_
  std::string nobodys_hash_;  // hash that is checked for unknown users; constant after first Load
  std::atomic<uint64_t> generation_{0};

  mutable std::mutex mutex_;
  std::shared_ptr<const Users> users_;                            // guarded by mutex_
  std::unordered_map<Digest, IdentityPtr, HashOfDigest> proved_;  // guarded by mutex_
};

}  // namespace hg::http
