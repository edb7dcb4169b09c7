#pragma once
// Calls /api/admin of a running daemon, with or without TLS, as the user named by a file or the
// environment.

#include <string>
#include <string_view>

#include "http/request/request.h"
#include "storage/base/status.h"
#include "tsd/command_line.h"

namespace hg::tsd {

/// The option with the path of a file with credentials. Credentials cannot be given on the command
/// line itself, because every process on the machine can read command lines.
inline constexpr OptionSpec kCredentialsOption{
    "--credentials-file", "PATH",
    "file whose first line is USER:PASSWORD or a token; the default is $TSDB_CREDENTIALS"};
inline constexpr OptionSpec kAuthoritiesOption{
    "--ca-file", "PATH",
    "PEM file of the authority of the daemon's certificate; the default is $TSDB_CA_FILE, then "
    "the system's authorities"};

inline constexpr OptionSpec kCertificateOption{
    "--cert-file", "PATH",
    "PEM file with this tool's own certificate; the default is $TSDB_CERT_FILE"};
inline constexpr OptionSpec kKeyOption{
    "--key-file", "PATH",
    "PEM file with its private key; the default is $TSDB_KEY_FILE, then the file of the "
    "certificate"};

/// Address and credentials for a connection to a daemon, read from options and the environment.
struct DaemonAccess {
  std::string authorization;     // the Authorization header; "" = none
  std::string authorities_file;  // "" = the system's authorities
  std::string certificate_file;  // "" = no certificate is sent
  std::string key_file;          // "" = in the certificate file
};

/// Reads the options and the environment. Returns NotFound with the name of an unreadable file, and
/// InvalidArgument for a file without credentials or for a key without a certificate.
Result<DaemonAccess> ReadDaemonAccess(const CommandLine& line);

/// Sends a request to URL/api/admin/CALL, by POST if `post` is set and otherwise by GET, and
/// returns the response. URL is http://HOST:PORT or https://HOST:PORT. There is no timeout.
/// InvalidArgument: invalid URL, certificate of another host, file without the expected content, or
/// the error message of the daemon. Unavailable: no connection.
Result<std::string> AskDaemon(const std::string& url, const DaemonAccess& access,
                              std::string_view call, bool post, const http::Parameters& parameters);

}  // namespace hg::tsd
