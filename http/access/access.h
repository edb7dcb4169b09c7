#pragma once
// Authenticates clients as users of the user file, and caches the passwords that were verified.

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

/// An authenticated user. The object is immutable.
struct Identity {
  std::string name;
  Roles roles;
  /// The password hash or the token digest in the user file that matches the secret of the client.
  /// "": the client was authenticated by its certificate.
  std::string secret;
};
using IdentityPtr = std::shared_ptr<const Identity>;

/// A request or a telnet line that was rejected because the client lacks permission. The texts are
/// valid only while the listener runs.
struct AccessRefusal {
  /// Address of the client, HTTP method and path; method and path are "" for a telnet line.
  std::string_view remote, method, path;
  std::string_view user;  // name of the user; "": the client is not authenticated
  int status = 0;         // HTTP status: 401 or 403; for a telnet line always 401
};

/// A function that returns whether a password matches a hash, for example PasswordMatches.
using PasswordCheck = std::function<bool(std::string_view password, const std::string& hash)>;

/// Authenticates clients. The object is thread-safe. Checking a password takes about 10 ms of CPU
/// time and 16 MiB of memory, so the caller of Judge must limit the number of concurrent calls. A
/// verified password stays in a cache until a Load no longer finds its hash in the user file, or
/// until the cache is emptied because it is full.
class Access {
 public:
  /// Before the first Load, the object has no users. The first Load computes a password hash, and
  /// no other function of the object may run at the same time. Judge calls `matches` on the thread
  /// that called Judge.
  explicit Access(PasswordCheck matches = PasswordMatches);

  /// Replaces all users by the users in the text of a user file. Removes cached credentials that
  /// the new user file does not contain. If Load fails, nothing changes.
  Status Load(std::string_view users);
  /// Sets the listener to which TellRefused passes rejected requests and telnet lines. Event loops
  /// and pool threads call TellRefused, so the listener must be thread-safe. Call ListenForRefusals
  /// at most once, before the first client is rejected.
  void ListenForRefusals(std::function<void(const AccessRefusal&)> listener) {
    refused_ = std::move(listener);
  }
  void TellRefused(const AccessRefusal& refusal) const {
    if (refused_) refused_(refusal);
  }
  /// Returns a number that changes with each Load. After the number has changed, a caller that
  /// holds an Identity must look up this Identity again.
  [[nodiscard]] uint64_t generation() const { return generation_.load(std::memory_order_acquire); }

  /// Looks up credentials without computing a password hash. Returns null if the credentials are
  /// unknown, or if only Judge can check the password.
  [[nodiscard]] IdentityPtr Known(const Credentials& said);
  /// Checks credentials; this may compute the slow password hash. Returns null if the credentials
  /// are wrong. The check takes equally long whether the user exists or not. If the credentials are
  /// in the cache (see Known), no hash is computed.
  [[nodiscard]] IdentityPtr Judge(const Credentials& said);
  /// Returns the user who belongs to a verified client certificate. `names` are the names in the
  /// certificate. The first of these names that is a user name selects the user. Returns null if no
  /// name is a user name.
  [[nodiscard]] IdentityPtr ByCertificate(std::span<const std::string> names) const;
  /// Returns the current Identity of a user after a Load. Returns null if the user, or the secret
  /// that the client sent, is no longer in the user file.
  [[nodiscard]] IdentityPtr Renew(const Identity& who) const;

 private:
  struct HashOfDigest {
    size_t operator()(const Digest& digest) const;
  };
  struct Users {
    std::unordered_map<std::string, User> by_name;
    /// The users who have tokens. The key is the SHA-256 of a token in hexadecimal.
    std::unordered_map<std::string, IdentityPtr> by_token;
  };

  [[nodiscard]] std::shared_ptr<const Users> users() const;
  static IdentityPtr Renew(const Users& users, const Identity& who);
  [[nodiscard]] Digest KeyOf(const Credentials& said) const;

  const PasswordCheck matches_;
  /// The argument of ListenForRefusals; may be empty. The member does not change after the first
  /// rejection of a client.
  std::function<void(const AccessRefusal&)> refused_;
  const Digest key_ = RandomDigest();  // the HMAC key with which the keys of proved_ are computed
  /// The password hash that Judge checks if the user does not exist. It does not change after the
  /// first Load.
  std::string nobodys_hash_;
  std::atomic<uint64_t> generation_{0};

  mutable std::mutex mutex_;
  std::shared_ptr<const Users> users_;  // the users of the last Load; guarded by mutex_
  /// The users whose passwords were verified. The key is the HMAC of user name and password.
  /// Guarded by mutex_.
  std::unordered_map<Digest, IdentityPtr, HashOfDigest> proved_;
};

}  // namespace hg::http
