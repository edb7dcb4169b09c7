#pragma once
// What a client says about itself: the Authorization field of a request (RFC 7617, RFC 6750), the
// line `auth` of the line protocol.

#include <string>
#include <string_view>

namespace hg::http {

struct Credentials {
  enum class Kind { kNone, kPassword, kToken, kUnreadable };
  Kind kind = Kind::kNone;
  std::string name;    // kPassword
  std::string secret;  // the password, or the token
};

/// "Basic dXNlcjpwYXNz", "Bearer hg_…", and as InfluxDB's clients have it "Token hg_…" and "Token
/// user:pass", in any case of the first word. A field that is not there is kNone, one of another
/// kind kUnreadable.
Credentials ReadAuthorization(std::string_view field);

/// "auth basic USER PASSWORD" (as OpenTSDB documents it for plug-ins; the password is the rest of
/// the line) or "auth bearer TOKEN", without the line's end.
Credentials ReadAuthLine(std::string_view line);

/// Whether the line is for ReadAuthLine.
bool IsAuthLine(std::string_view line);

}  // namespace hg::http
