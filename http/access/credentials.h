#pragma once
// Credentials as clients send them: in the Authorization field of a request (RFC 7617, RFC 6750) or
// by the telnet command `auth`.

#include <string>
#include <string_view>

namespace hg::http {

struct Credentials {
  enum class Kind { kNone, kPassword, kToken, kUnreadable };
  Kind kind = Kind::kNone;
  std::string name;    // user name; only used with kPassword
  std::string secret;  // the password, or the token
};

/// Parses "Basic dXNlcjpwYXNz", "Bearer hg_…", and "Token hg_…" or "Token user:pass" of InfluxDB
/// clients. The first word may be in any case. The result is kNone for an empty field and
/// kUnreadable for an unknown scheme.
Credentials ReadAuthorization(std::string_view field);

/// Parses "auth basic USER PASSWORD" or "auth bearer TOKEN", without the line end. OpenTSDB
/// documents the first form for plug-ins. In this form, the password is the rest of the line and
/// may contain blanks.
Credentials ReadAuthLine(std::string_view line);

/// Returns whether the line is an `auth` command.
bool IsAuthLine(std::string_view line);

}  // namespace hg::http
