#pragma once
// What a client may do. A role is what an endpoint or a line command asks for, roles are what a
// user has (docs/security.md).

#include <cstdint>
#include <string>
#include <string_view>

#include "storage/base/status.h"

namespace hg::http {

enum class Role : uint8_t {
  kAnyone = 0,  // nobody is asked who he is
  kUser = 1,    // whoever is known, whatever he may else
  kRead = 2,
  kWrite = 4,
  kAdmin = 8,
};

/// "read", "write", "admin"; "user" and "anyone" for the others.
std::string_view RoleName(Role role);

/// Immutable value.
class Roles {
 public:
  /// A stranger's: none.
  constexpr Roles() = default;
  /// Where authentication is off.
  static constexpr Roles All() { return Roles(0xFF); }
  static constexpr Roles Of(Role role) { return Roles().With(role); }

  [[nodiscard]] constexpr Roles With(Role role) const {
    return Roles(bits_ | Bit(Role::kUser) | Bit(role));
  }
  /// An administrator may do what the others may.
  [[nodiscard]] constexpr bool Has(Role role) const {
    return role == Role::kAnyone || (bits_ & (Bit(role) | Bit(Role::kAdmin))) != 0;
  }
  bool operator==(const Roles&) const = default;

 private:
  explicit constexpr Roles(int bits) : bits_(static_cast<uint8_t>(bits)) {}
  static constexpr uint8_t Bit(Role role) { return static_cast<uint8_t>(role); }

  uint8_t bits_ = 0;
};

/// "read,write" in any order. InvalidArgument names the word that is none, or says that there is
/// none at all.
Result<Roles> ParseRoles(std::string_view text);
/// The same text, in order; without read and write for an administrator.
std::string RolesText(Roles roles);

}  // namespace hg::http
