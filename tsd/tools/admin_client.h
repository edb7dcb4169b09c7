#pragma once
// Sends requests to /api/admin of a running daemon, with or without TLS. The credentials come from
// a file or from the environment.

#include <string>
#include <string_view>

#include "http/request/request.h"
#include "storage/base/status.h"
#include "tsd/command_line.h"

namespace hg::tsd {

/// The option whose value is the path of a file with credentials. An option cannot contain the
/// credentials themselves, because every process on the machine can read command lines.
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

/// The credentials and TLS files for requests to a daemon. They come from options and from the
/// environment.
struct DaemonAccess {
  std::string authorization;     // value of the header Authorization; "" = the header is not sent
  std::string authorities_file;  // CA certificates; "" = the certificate authorities of the system
  std::string certificate_file;  // certificate of the client; "" = the client sends none
  std::string key_file;          // key of the client; "" = the key is in certificate_file
};

/// Reads the options and the environment. NotFound: a file cannot be read; the error message
/// contains its name. InvalidArgument: a file contains no credentials, or there is a key without a
/// certificate.
Result<DaemonAccess> ReadDaemonAccess(const CommandLine& line);

/// Sends a request to URL/api/admin/CALL and returns the response. Sends a POST request if `post`
/// is true, and a GET request otherwise. URL has the form http://HOST:PORT or https://HOST:PORT.
/// There is no timeout.
///
/// InvalidArgument: the URL is invalid, the certificate belongs to another host, a file does not
/// have the expected content, or the daemon returned an error. Unavailable: the daemon cannot be
/// reached.
Result<std::string> AskDaemon(const std::string& url, const DaemonAccess& access,
                              std::string_view call, bool post, const http::Parameters& parameters);

}  // namespace hg::tsd
