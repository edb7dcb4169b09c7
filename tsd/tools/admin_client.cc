#include "tsd/tools/admin_client.h"

#include <boost/asio/ip/tcp.hpp>
#include <iterator>

#include "storage/base/bytes.h"

namespace hg::tsd {
namespace {

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

}  // namespace

Result<std::string> AskDaemon(const std::string& url, std::string_view call, bool post,
                              const http::Parameters& parameters) {
  constexpr std::string_view kScheme = "http://";
  std::string place = url.starts_with(kScheme) ? url.substr(kScheme.size()) : "";
  if (place.ends_with('/')) place.pop_back();
  const size_t colon = place.rfind(':');
  if (colon == std::string::npos || colon == 0 || colon + 1 == place.size() ||
      place.find('/') != std::string::npos) {
    return Status::InvalidArgument("\"" + url + "\" is not like http://127.0.0.1:4242");
  }
  std::string target = "/api/admin/" + PercentEncoded(std::string(call));
  char separator = '?';
  for (const auto& [name, value] : parameters.items()) {
    target += separator + name + '=' + PercentEncoded(value);
    separator = '&';
  }
  boost::asio::ip::tcp::iostream stream(place.substr(0, colon), place.substr(colon + 1));
  if (!stream) return Status::Unavailable("nobody answers at " + url);
  // HTTP/1.0: the answer comes whole, and ends with the connection.
  stream << (post ? "POST " : "GET ") << target << " HTTP/1.0\r\nHost: " << place
         << "\r\nContent-Length: 0\r\n\r\n"
         << std::flush;
  const std::string answer((std::istreambuf_iterator<char>(stream)),
                           std::istreambuf_iterator<char>());
  const size_t head_end = answer.find("\r\n\r\n");
  const size_t blank = answer.find(' ');
  if (head_end == std::string::npos || blank > head_end) {
    return Status::Unavailable("no answer from " + url);
  }
  std::string body = answer.substr(head_end + 4);
  if (answer.compare(blank + 1, 3, "200") == 0) return body;
  return Status::InvalidArgument(url + " answered " + answer.substr(blank + 1, 3) + ": " + body);
}

}  // namespace hg::tsd
