#pragma once
// How a tool speaks to a running daemon: /api/admin, plainly or over TLS, as the user that a file
// or the environment names.

#include <string>
#include <string_view>

#include "http/request.h"
#include "storage/base/status.h"
#include "tsd/command_line.h"

namespace hg::tsd {

/// The words of a command are seen by every process of the machine, so none of them is a secret.
inline constexpr OptionSpec kCredentialsOption{
    "--credentials-file", "PATH",
    "whose first line is USER:PASSWORD or a token, where the daemon asks; else $TSDB_CREDENTIALS"};
inline constexpr OptionSpec kAuthoritiesOption{
    "--ca-file", "PATH",
    "who vouches for the daemon's certificate, PEM; else $TSDB_CA_FILE, else the system's"};

inline constexpr OptionSpec kCertificateOption{
    "--cert-file", "PATH",
    "this tool's own certificate, PEM, where the daemon asks for one; else $TSDB_CERT_FILE"};
inline constexpr OptionSpec kKeyOption{
    "--key-file", "PATH",
    "its private key, PEM; else $TSDB_KEY_FILE, else it stands in the certificate's file"};

/// What the options say, or the environment.
struct DaemonAccess {
  std::string authorization;     // the field of that name; "" = none
  std::string authorities_file;  // "" = the system's
  std::string certificate_file;  // "" = none is shown
  std::string key_file;          // "" = the certificate's
};

/// NotFound names a file that cannot be read, InvalidArgument one without credentials, or says that
/// there is a key without a certificate.
Result<DaemonAccess> ReadDaemonAccess(const CommandLine& line);

/// The answer of URL/api/admin/CALL, by POST if `post`; URL is http://HOST:PORT or
/// https://HOST:PORT. Waits as long as the daemon takes. InvalidArgument: no such URL, a
/// certificate that is not HOST's, a file without what it is to have, by its name, or the daemon
/// refused; its message. Unavailable: nobody answers
/// there.
Result<std::string> AskDaemon(const std::string& url, const DaemonAccess& access,
                              std::string_view call, bool post, const http::Parameters& parameters);

}  // namespace hg::tsd
