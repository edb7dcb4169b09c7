#include "tsd/tools/admin_client.h"

#include <algorithm>
#include <boost/asio/connect.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/read.hpp>
#include <boost/asio/ssl.hpp>
#include <boost/asio/write.hpp>
#include <cstdlib>

#include "http/wire/base64.h"
#include "storage/base/bytes.h"
#include "storage/base/file.h"

namespace hg::tsd {
namespace {

namespace asio = boost::asio;
using asio::ip::tcp;
using boost::system::error_code;

struct Place {
  bool tls = false;
  std::string host;  // without brackets
  std::string port;
  std::string text;  // as in the URL
};

std::string PercentEncoded(const std::string& text) {
  std::string out;
  for (const char c : text) {
    const bool plain = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9');
    if (plain) {
      out.push_back(c);
    } else {
      out += "%" + ToHexUpper({&c, 1});
    }
  }
  return out;
}

/// Returns the option, or else the environment variable; "" = neither is set.
std::string OptionOr(const CommandLine& line, const OptionSpec& option, const char* variable) {
  if (const auto value = line.Value(option.name)) return *value;
  const char* const value = std::getenv(variable);
  return value == nullptr ? "" : value;
}

Result<Place> ParseUrl(const std::string& url) {
  constexpr std::string_view kPlain = "http://", kTls = "https://";
  Place place;
  place.tls = url.starts_with(kTls);
  if (place.tls || url.starts_with(kPlain))
    place.text = url.substr((place.tls ? kTls : kPlain).size());
  if (place.text.ends_with('/')) place.text.pop_back();
  const size_t colon = place.text.rfind(':');
  if (colon == std::string::npos || colon == 0 || colon + 1 == place.text.size() ||
      place.text.find('/') != std::string::npos) {
    return Status::InvalidArgument("\"" + url +
                                   "\" is not like http://127.0.0.1:4242 or https://HOST:PORT");
  }
  place.host = place.text.substr(0, colon);
  if (place.host.starts_with('[') && place.host.ends_with(']'))
    place.host = place.host.substr(1, place.host.size() - 2);
  place.port = place.text.substr(colon + 1);
  return place;
}

/// Reads until the daemon closes the connection, even if it did not accept the whole request.
template <typename Stream>
std::string Exchange(Stream& stream, const std::string& request, error_code* error) {
  asio::write(stream, asio::buffer(request), *error);
  std::string answer;
  asio::read(stream, asio::dynamic_buffer(answer), *error);
  return answer;
}

Status LoadFiles(const DaemonAccess& access, asio::ssl::context* context) {
  const auto failed = [](const std::string& file, const char* what, const error_code& error) {
    return Status::InvalidArgument(file + ": " + what +
                                   " in PEM format can be read: " + error.message());
  };
  error_code error;
  if (access.authorities_file.empty()) {
    context->set_default_verify_paths(error);
  } else {
    context->load_verify_file(access.authorities_file, error);
  }
  if (error) return failed(access.authorities_file, "no certificates", error);
  if (access.certificate_file.empty()) return {};
  context->use_certificate_chain_file(access.certificate_file, error);
  if (error) return failed(access.certificate_file, "no certificate", error);
  const std::string& key = access.key_file.empty() ? access.certificate_file : access.key_file;
  context->use_private_key_file(key, asio::ssl::context::pem, error);
  return error ? failed(key, "no private key that fits the certificate", error) : Status();
}

Result<std::string> ExchangeOverTls(tcp::socket socket, const Place& place,
                                    const DaemonAccess& access, const std::string& request) {
  error_code error;
  asio::ssl::context context(asio::ssl::context::tls_client);
  RETURN_IF_ERROR(LoadFiles(access, &context));
  asio::ssl::stream<tcp::socket> stream(std::move(socket), context);
  stream.set_verify_mode(asio::ssl::verify_peer);
  stream.set_verify_callback(asio::ssl::host_name_verification(place.host));
  // The server name extension must not contain an IP address (RFC 6066 §3).
  if (asio::ip::make_address(place.host, error); error)
    SSL_set_tlsext_host_name(stream.native_handle(), place.host.c_str());
  stream.handshake(asio::ssl::stream_base::client, error);
  if (error) {
    return Status::InvalidArgument("cannot establish a TLS connection to https://" + place.text +
                                   ": " + error.message());
  }
  std::string answer = Exchange(stream, request, &error);
  if (error != asio::error::eof)
    return Status::Unavailable("the response of https://" + place.text + " was cut short");
  return answer;
}

Result<std::string> Send(const Place& place, const DaemonAccess& access,
                         const std::string& request) {
  asio::io_context io;
  error_code error;
  tcp::socket socket(io);
  const auto addresses = tcp::resolver(io).resolve(place.host, place.port, error);
  if (!error) asio::connect(socket, addresses, error);
  if (error)
    return Status::Unavailable("no daemon answers at " + place.text + ": " + error.message());
  if (place.tls) return ExchangeOverTls(std::move(socket), place, access, request);
  return Exchange(socket, request, &error);
}

}  // namespace

Result<DaemonAccess> ReadDaemonAccess(const CommandLine& line) {
  DaemonAccess access;
  access.authorities_file = OptionOr(line, kAuthoritiesOption, "TSDB_CA_FILE");
  access.certificate_file = OptionOr(line, kCertificateOption, "TSDB_CERT_FILE");
  access.key_file = OptionOr(line, kKeyOption, "TSDB_KEY_FILE");
  if (access.certificate_file.empty() && !access.key_file.empty())
    return Status::InvalidArgument(access.key_file + " is a key without a certificate");
  std::string said;
  if (const auto path = line.Value(kCredentialsOption.name)) {
    ASSIGN_OR_RETURN(said, ReadWholeFile(PosixFileSystem(), *path));
    said.resize(std::min(said.find_first_of("\r\n"), said.size()));
    if (said.empty())
      return Status::InvalidArgument(*path +
                                     ": its first line is neither USER:PASSWORD nor a token");
  } else {
    said = OptionOr(line, kCredentialsOption, "TSDB_CREDENTIALS");
  }
  // The text is a token if it has no colon, because tokens contain none.
  if (said.find(':') != std::string::npos) {
    access.authorization = "Basic " + http::ToBase64(said);
  } else if (!said.empty()) {
    access.authorization = "Bearer " + said;
  }
  if (access.authorization.find_first_of("\r\n") != std::string::npos)
    return Status::InvalidArgument("the credentials have more than one line");
  return access;
}

Result<std::string> AskDaemon(const std::string& url, const DaemonAccess& access,
                              std::string_view call, bool post,
                              const http::Parameters& parameters) {
  ASSIGN_OR_RETURN(const Place place, ParseUrl(url));
  std::string target = "/api/admin/" + PercentEncoded(std::string(call));
  char separator = '?';
  for (const auto& [name, value] : parameters.items()) {
    target += separator + name + '=' + PercentEncoded(value);
    separator = '&';
  }
  // With HTTP/1.0 the response is not chunked and ends with the connection.
  std::string request = (post ? "POST " : "GET ") + target + " HTTP/1.0\r\nHost: " + place.text +
                        "\r\nContent-Length: 0\r\n";
  if (!access.authorization.empty()) request += "Authorization: " + access.authorization + "\r\n";
  ASSIGN_OR_RETURN(const std::string answer, Send(place, access, request + "\r\n"));
  const size_t head_end = answer.find("\r\n\r\n");
  const size_t blank = answer.find(' ');
  if (head_end == std::string::npos || blank > head_end) {
    return Status::Unavailable("no response from " + url);
  }
  std::string body = answer.substr(head_end + 4);
  if (answer.compare(blank + 1, 3, "200") == 0) return body;
  return Status::InvalidArgument(url + " answered " + answer.substr(blank + 1, 3) + ": " + body);
}

}  // namespace hg::tsd
