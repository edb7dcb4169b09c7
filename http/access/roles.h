#pragma once
// The permissions of clients. Each endpoint and each telnet command requires one Role. A user has a
// set of Roles (docs/security.md).

#include <cstdint>
#include <string>
#include <string_view>

#include "storage/base/status.h"

namespace hg::http {

enum class Role : uint8_t {
  kAnyone = 0,  // the endpoint needs no authentication
  kUser = 1,    // the endpoint needs an authenticated user with any role
  kRead = 2,
  kWrite = 4,
  kAdmin = 8,
};

/// Returns the name of the role: "read", "write" or "admin"; "user" for kUser, and "anyone" for
/// kAnyone.
std::string_view RoleName(Role role);

/// A set of roles. The value is immutable.
class Roles {
 public:
  /// Creates a set without roles, for a client that is not authenticated.
  constexpr Roles() = default;
  /// Returns the set of all roles. Every client has this set if authentication is off.
  static constexpr Roles All() { return Roles(0xFF); }
  static constexpr Roles Of(Role role) { return Roles().With(role); }

  [[nodiscard]] constexpr Roles With(Role role) const {
    return Roles(bits_ | Bit(Role::kUser) | Bit(role));
  }
  /// Returns whether the set contains the role. A set with kAdmin contains every role.
  [[nodiscard]] constexpr bool Has(Role role) const {
    return role == Role::kAnyone || (bits_ & (Bit(role) | Bit(Role::kAdmin))) != 0;
  }
  bool operator==(const Roles&) const = default;

 private:
  explicit constexpr Roles(int bits) : bits_(static_cast<uint8_t>(bits)) {}
  static constexpr uint8_t Bit(Role role) { return static_cast<uint8_t>(role); }

  uint8_t bits_ = 0;
};

/// Parses a list such as "read,write", in any order. InvalidArgument: the text has no words, or a
/// word is unknown; the error message contains the unknown word.
Result<Roles> ParseRoles(std::string_view text);
/// Returns the text of a set of roles, in a fixed order. If the set contains kAdmin, the text omits
/// "read" and "write".
std::string RolesText(Roles roles);

}  // namespace hg::http
