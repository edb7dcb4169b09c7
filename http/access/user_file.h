#pragma once
// The file of users: text, a user on each line, and no secret in it that could be used as it
// stands.
//
//   # who, roles, secrets between blanks
//   grafana:read:$y$j9T$…                 a password (crypt(5))
//   agents:write:token$5e884898da28…      a bearer token, by its SHA-256 in hexadecimal
//   ops:admin:$y$j9T$… token$ef92b778…    either; as many tokens as there are machines
//   s7.example.org:write:                 known by a client certificate only

#include <string>
#include <string_view>
#include <vector>

#include "http/access/roles.h"
#include "storage/base/status.h"

namespace hg::http {

struct User {
  std::string name;  // letters, digits, and . _ - @, at most kUserNameBytesMax
  Roles roles;
  std::vector<std::string> passwords;  // hashes
  std::vector<std::string> tokens;     // digests, hexadecimal
};

inline constexpr size_t kUserNameBytesMax = 128;

/// InvalidArgument says what is wrong with it.
Status CheckUserName(std::string_view name);

/// InvalidArgument names the line and what is wrong with it.
Result<std::vector<User>> ParseUserFile(std::string_view text);

/// The text of such a file, users in the order given. Remarks are not kept.
std::string UserFileText(const std::vector<User>& users);

/// What a file keeps of a token.
std::string TokenDigest(std::string_view token);

}  // namespace hg::http
