#pragma once
// Parses the credentials that clients send in the Authorization field of a request (RFC 7617, RFC
// 6750) or with the telnet command `auth`.

#include <string>
#include <string_view>

namespace hg::http {

struct Credentials {
  enum class Kind { kNone, kPassword, kToken, kUnreadable };
  Kind kind = Kind::kNone;
  std::string name;    // user name; used only if the kind is kPassword
  std::string secret;  // the password or the token
};

/// Parses "Basic dXNlcjpwYXNz" and "Bearer hg_…", and also "Token hg_…" and "Token user:pass",
/// which InfluxDB clients send. The case of the first word is ignored. The result has the kind
/// kNone for an empty field, and kUnreadable for any other text.
Credentials ReadAuthorization(std::string_view field);

/// Parses "auth basic USER PASSWORD" or "auth bearer TOKEN", without the line end. The password is
/// the rest of the line and may contain blanks. The result has the kind kUnreadable for any other
/// line. OpenTSDB documents the form "auth basic" for its authentication plug-ins.
Credentials ReadAuthLine(std::string_view line);

/// Returns whether the line is an `auth` command of the telnet protocol.
bool IsAuthLine(std::string_view line);

}  // namespace hg::http
