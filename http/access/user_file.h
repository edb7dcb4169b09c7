#pragma once
// The user file: a text with one user per line. The file contains only hashes of secrets. Blanks
// separate the secrets of a user. Examples of lines:
//
//   # user, roles, secrets separated by blanks
//   grafana:read:$y$j9T$…                 a password (crypt(5))
//   agents:write:token$5e884898da28…      a bearer token, by its SHA-256 in hexadecimal
//   ops:admin:$y$j9T$… token$ef92b778…    a password and a token; any number of tokens is allowed
//   s7.example.org:write:                 a user who is authenticated by a client certificate only

#include <string>
#include <string_view>
#include <vector>

#include "http/access/roles.h"
#include "storage/base/status.h"

namespace hg::http {

struct User {
  /// The user name: letters, digits, and the characters . _ - @; at most kUserNameBytesMax bytes.
  std::string name;
  Roles roles;
  std::vector<std::string> passwords;  // hashes of passwords in the form that HashPassword returns
  std::vector<std::string> tokens;     // SHA-256 digests of tokens in hexadecimal
};

inline constexpr size_t kUserNameBytesMax = 128;

/// Returns InvalidArgument if the name is empty, is too long, or has a character that is not
/// allowed in user names. The error message contains the name, the maximum length and the allowed
/// characters.
Status CheckUserName(std::string_view name);

/// Parses the text of a user file. The message of InvalidArgument contains the number of the first
/// invalid line and describes the error in this line.
Result<std::vector<User>> ParseUserFile(std::string_view text);

/// Returns the text of a user file with these users, in the order of the list. The text begins with
/// a comment that describes the format, and has no other comments.
std::string UserFileText(const std::vector<User>& users);

/// Returns the form in which the user file stores a token: its SHA-256 in hexadecimal.
std::string TokenDigest(std::string_view token);

}  // namespace hg::http
