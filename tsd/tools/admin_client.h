#pragma once
// Calls /api/admin of a running daemon, with or without TLS. The user comes from a file or from the
// environment.

#include <string>
#include <string_view>

#include "http/request/request.h"
#include "storage/base/status.h"
#include "tsd/command_line.h"

namespace hg::tsd {

/// The option with the path of a file with credentials. An option cannot contain the credentials
/// themselves, because every process on the machine can read command lines.
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
    "PEM file with the private key of this tool's certificate; the default is $TSDB_KEY_FILE, then "
    "the file of the certificate"};

/// Credentials and TLS files for requests to a daemon, from options and the environment.
struct DaemonAccess {
  std::string authorization;     // value of the header Authorization; "" = no header
  std::string authorities_file;  // "" = the system's certificate authorities
  std::string certificate_file;  // certificate of the client; "" = no certificate
  std::string key_file;          // "" = the key is in certificate_file
};

/// Reads the options and the environment. NotFound: a file is unreadable; the error message names
/// it. InvalidArgument: a file has no credentials, or there is a key without a certificate.
Result<DaemonAccess> ReadDaemonAccess(const CommandLine& line);

/// Sends a request to URL/api/admin/CALL and returns the response. Uses POST if `post` is true and
/// GET otherwise. URL is http://HOST:PORT or https://HOST:PORT. There is no timeout.
/// InvalidArgument: the URL is invalid, the certificate is of another host, a file lacks the
/// expected content, or the daemon returned an error. Unavailable: no connection.
Result<std::string> AskDaemon(const std::string& url, const DaemonAccess& access,
                              std::string_view call, bool post, const http::Parameters& parameters);

}  // namespace hg::tsd
