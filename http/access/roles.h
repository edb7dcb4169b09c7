#pragma once
// The permissions of clients. An endpoint or a telnet command needs one Role; a user has a set of
// Roles (docs/security.md).

#include <cstdint>
#include <string>
#include <string_view>

#include "storage/base/status.h"

namespace hg::http {

enum class Role : uint8_t {
  kAnyone = 0,  // no authentication needed
  kUser = 1,    // any authenticated user
  kRead = 2,
  kWrite = 4,
  kAdmin = 8,
};

/// "read", "write" or "admin"; "user" and "anyone" for kUser and kAnyone.
std::string_view RoleName(Role role);

/// A set of roles. Immutable value.
class Roles {
 public:
  /// No roles: a client that is not authenticated.
  constexpr Roles() = default;
  /// All roles: used when authentication is off.
  static constexpr Roles All() { return Roles(0xFF); }
  static constexpr Roles Of(Role role) { return Roles().With(role); }

  [[nodiscard]] constexpr Roles With(Role role) const {
    return Roles(bits_ | Bit(Role::kUser) | Bit(role));
  }
  /// An administrator has every role.
  [[nodiscard]] constexpr bool Has(Role role) const {
    return role == Role::kAnyone || (bits_ & (Bit(role) | Bit(Role::kAdmin))) != 0;
  }
  bool operator==(const Roles&) const = default;

 private:
  explicit constexpr Roles(int bits) : bits_(static_cast<uint8_t>(bits)) {}
  static constexpr uint8_t Bit(Role role) { return static_cast<uint8_t>(role); }

  uint8_t bits_ = 0;
};

/// Parses "read,write" in any order. InvalidArgument names an unknown word, or says that there is
/// none.
Result<Roles> ParseRoles(std::string_view text);
/// The text of a set of roles, in a fixed order. For an administrator, read and write are left out.
std::string RolesText(Roles roles);

}  // namespace hg::http
