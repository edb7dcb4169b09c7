#include "http/access/cross_site.h"

#include <algorithm>

#include "storage/model/letter_case.h"

namespace hg::http {
namespace {

constexpr std::string_view kOrigin = "origin", kFetchSite = "sec-fetch-site", kReferer = "referer";

bool IsNamedOrigin(std::string_view origin, const Options& options) {
  return std::any_of(options.cors_domains.begin(), options.cors_domains.end(),
                     [&](const std::string& domain) { return EqualIgnoringCase(domain, origin); });
}

/// Returns the origin of a URL. The origin of "http://a.example/x?y" is "http://a.example".
std::string_view OriginOf(std::string_view url) {
  const size_t scheme = url.find("://");
  if (scheme == std::string_view::npos) return url;
  return url.substr(0, url.find_first_of("/?#", scheme + 3));
}

/// Returns the host name in a text with or without a port: "web", "1.2.3.4" or "[::1]". Returns ""
/// if the text is invalid.
std::string_view NameOf(std::string_view host) {
  size_t end = host.find(':');
  if (host.starts_with('[')) {
    end = host.find(']');
    if (end == std::string_view::npos) return {};
    ++end;
  }
  const std::string_view name = host.substr(0, end);
  std::string_view port = host.substr(name.size());
  if (port.starts_with(':')) port.remove_prefix(1);
  const bool digits =
      std::all_of(port.begin(), port.end(), [](char c) { return c >= '0' && c <= '9'; });
  return digits ? name : std::string_view();
}

bool IsAddress(std::string_view name) {
  if (name.starts_with('[')) {
    return name.find_first_not_of("0123456789abcdefABCDEF:.[]") == std::string_view::npos &&
           name.find(':') != std::string_view::npos;
  }
  return !name.empty() && name.find_first_not_of("0123456789.") == std::string_view::npos;
}

}  // namespace

bool TellsOfPage(const Request& request) {
  return std::any_of(request.headers.begin(), request.headers.end(), [](const auto& header) {
    const auto& [name, value] = header;
    return !value.empty() && (name == kOrigin || name == kFetchSite || name == kReferer);
  });
}

bool IsOwnOrigin(const Request& request, std::string_view origin) {
  const std::string* host = request.Header("host");
  if (host == nullptr || host->empty()) return false;
  for (std::string_view scheme : {"http://", "https://"}) {
    if (origin.starts_with(scheme) && EqualIgnoringCase(origin.substr(scheme.size()), *host))
      return true;
  }
  return false;
}

bool IsListedOrigin(std::string_view origin, const Options& options) {
  return IsNamedOrigin(origin, options) || IsNamedOrigin("*", options);
}

std::string ForeignSite(const Request& request, const Options& options, Star star) {
  const auto in_words = [](std::string_view name, std::string_view value) {
    return std::string(name) + ": " + std::string(value);
  };
  // Browsers send no Origin with most GET requests. Then only Referer names the site, which may be
  // a listed one.
  bool listed = false;
  std::string foreign;
  for (const auto& [name, value] : request.headers) {
    if (value.empty()) continue;
    if (name == kOrigin) {
      if (IsOwnOrigin(request, value)) continue;
      const bool may =
          star == Star::kOrigins ? IsListedOrigin(value, options) : IsNamedOrigin(value, options);
      if (!may) return in_words("Origin", value);
      listed = true;
    } else if (name == kReferer) {
      const std::string_view origin = OriginOf(value);
      if (IsOwnOrigin(request, origin)) continue;
      if (IsNamedOrigin(origin, options)) {
        listed = true;
      } else {
        foreign = in_words("Referer", origin);
      }
    } else if (name == kFetchSite && value != "same-origin" && value != "none") {
      foreign = in_words("Sec-Fetch-Site", value);
    }
  }
  return listed ? "" : foreign;
}

bool IsThisMachine(std::string_view host) {
  if (host.empty()) return true;
  const std::string_view name = NameOf(host);
  return EqualIgnoringCase(name, "localhost") || name == "[::1]" ||
         (IsAddress(name) && name.starts_with("127."));
}

bool IsKnownHost(std::string_view host, const Options& options) {
  if (host.empty()) return true;
  const std::string_view name = NameOf(host);
  if (IsAddress(name) || EqualIgnoringCase(name, "localhost")) return true;
  return !name.empty() &&
         std::any_of(options.hosts.begin(), options.hosts.end(), [&](const std::string& known) {
           return known == "*" || EqualIgnoringCase(known, name);
         });
}

}  // namespace hg::http
