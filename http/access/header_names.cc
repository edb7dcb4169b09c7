#include "http/access/header_names.h"

#include <algorithm>
#include <array>

namespace hg::http {
namespace {

template <size_t N>
bool Has(const std::array<std::string_view, N>& names, std::string_view name) {
  return std::find(names.begin(), names.end(), name) != names.end();
}

/// Header fields in which proxies send the client's address or their own name.
constexpr std::array<std::string_view, 10> kProxyNames = {
    "cf-connecting-ip",         "client-ip", "fastly-client-ip", "proxy-client-ip",
    "true-client-ip",           "via",       "x-client-ip",      "x-cluster-client-ip",
    "x-original-forwarded-for", "x-real-ip"};

}  // namespace

bool MayBeShown(std::string_view lower_name) {
  static constexpr std::array<std::string_view, 26> kNames = {"accept",
                                                              "accept-charset",
                                                              "accept-encoding",
                                                              "accept-language",
                                                              "cache-control",
                                                              "connection",
                                                              "content-encoding",
                                                              "content-length",
                                                              "content-type",
                                                              "expect",
                                                              "host",
                                                              "origin",
                                                              "pragma",
                                                              "sec-fetch-dest",
                                                              "sec-fetch-mode",
                                                              "sec-fetch-site",
                                                              "transfer-encoding",
                                                              "user-agent",
                                                              "via",
                                                              "x-dashboard-id",
                                                              "x-datasource-uid",
                                                              "x-forwarded-for",
                                                              "x-grafana-org-id",
                                                              "x-panel-id",
                                                              "x-real-ip",
                                                              "x-requested-with"};
  return Has(kNames, lower_name);
}

bool WasForwarded(const Request& request) {
  return std::any_of(request.headers.begin(), request.headers.end(), [](const auto& header) {
    const std::string_view name = header.first;
    return name.starts_with("forwarded") || name.starts_with("x-forwarded") ||
           name.starts_with("x-envoy-") || Has(kProxyNames, name);
  });
}

}  // namespace hg::http
