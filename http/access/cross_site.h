#pragma once
// Finds the site whose web page made a browser send a request. The functions use header fields that
// browsers set and that pages cannot change. Programs that are not browsers send none of these
// fields.

#include <string>
#include <string_view>

#include "http/request/options.h"
#include "http/request/request.h"

namespace hg::http {

/// Returns whether the field Origin, Sec-Fetch-Site or Referer is present and not empty. If one of
/// them is, a browser sent the request for a web page.
bool TellsOfPage(const Request& request);

/// Returns whether `origin` is the origin of this server. This is so if `origin` is "http://" or
/// "https://", followed by the Host field of the request.
bool IsOwnOrigin(const Request& request, std::string_view origin);

/// Returns whether tsd.http.request.cors_domains contains the origin or the entry "*".
bool IsListedOrigin(std::string_view origin, const Options& options);

/// The web pages that the entry "*" in tsd.http.request.cors_domains permits.
enum class Star : uint8_t {
  kNobody,  // "*" permits no page: origins must be listed by name
  kOrigins  // "*" permits all pages that send an Origin
};

/// Returns the header field that names a foreign site, such as "Origin: http://evil.example".
/// Returns "" if no field names a foreign site, or if tsd.http.request.cors_domains lists the site.
/// `star` says what the entry "*" in this setting permits.
std::string ForeignSite(const Request& request, const Options& options, Star star);

/// Returns whether the host, which may have a port, is "localhost", a loopback address, or "".
bool IsThisMachine(std::string_view host);

/// Returns whether a request with this Host may be served on a port with a loopback address. A page
/// of a foreign site can make the name of its site resolve to 127.0.0.1, so that browsers treat the
/// daemon as a part of that site. This attack is not possible with an IP address, with "localhost",
/// or with a name in tsd.http.request.hosts. A request without Host ("") is allowed, because
/// browsers always send a Host.
bool IsKnownHost(std::string_view host, const Options& options);

}  // namespace hg::http
