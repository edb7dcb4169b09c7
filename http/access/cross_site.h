#pragma once
// Finds the site whose page made a browser send a request, from header fields that browsers set.
// Pages cannot change these fields. Programs that are not browsers send none of them.

#include <string>
#include <string_view>

#include "http/request/options.h"
#include "http/request/request.h"

namespace hg::http {

/// Returns true if Origin, Sec-Fetch-Site or Referer is present, which means that a browser sent
/// the request for a page.
bool TellsOfPage(const Request& request);

/// Returns whether the origin is this server: the Host of the request, with HTTP or HTTPS.
bool IsOwnOrigin(const Request& request, std::string_view origin);

/// Returns whether tsd.http.request.cors_domains contains the origin or "*".
bool IsListedOrigin(std::string_view origin, const Options& options);

/// The pages that the entry "*" in tsd.http.request.cors_domains permits.
enum class Star : uint8_t {
  kNobody,  // none: origins must be listed by name
  kOrigins  // all pages that send an Origin
};

/// Returns the header field that names another site, such as "Origin: http://evil.example". Returns
/// "" if no field names another site, or if tsd.http.request.cors_domains lists that site.
std::string ForeignSite(const Request& request, const Options& options, Star star);

/// Returns true for "localhost", a loopback address, or "".
bool IsThisMachine(std::string_view host);

/// Returns whether a daemon that only its own machine can reach may serve requests with this Host.
/// A page of another site can make its own name resolve to 127.0.0.1, so that browsers treat the
/// daemon as part of that site. This attack is not possible with an IP address, with "localhost",
/// or with a name in tsd.http.request.hosts. A request without Host ("") is allowed, because it
/// cannot come from a browser: browsers always send one.
bool IsKnownHost(std::string_view host, const Options& options);

}  // namespace hg::http
