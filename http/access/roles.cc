#include "http/access/roles.h"

namespace hg::http {
namespace {

constexpr Role kGiven[] = {Role::kRead, Role::kWrite, Role::kAdmin};

}  // namespace

std::string_view RoleName(Role role) {
  switch (role) {
    case Role::kAnyone:
      return "anyone";
    case Role::kUser:
      return "user";
    case Role::kRead:
      return "read";
    case Role::kWrite:
      return "write";
    case Role::kAdmin:
      return "admin";
  }
  return "";
}

Result<Roles> ParseRoles(std::string_view text) {
  Roles roles;
  while (true) {
    const std::string_view word = text.substr(0, text.find(','));
    Role found = Role::kAnyone;
    for (const Role role : kGiven)
      if (word == RoleName(role)) found = role;
    if (found == Role::kAnyone) {
      return Status::InvalidArgument("\"" + std::string(word) +
                                     "\" is not a role (expected read, write or admin)");
    }
    roles = roles.With(found);
    if (word.size() == text.size()) return roles;
    text.remove_prefix(word.size() + 1);
  }
}

std::string RolesText(Roles roles) {
  if (roles.Has(Role::kAdmin)) return std::string(RoleName(Role::kAdmin));
  std::string text;
  for (const Role role : kGiven) {
    if (!roles.Has(role)) continue;
    if (!text.empty()) text += ',';
    text += RoleName(role);
  }
  return text;
}

}  // namespace hg::http
