#include "http/request/influx_target.h"

#include <algorithm>

#include "http/request/request.h"
#include "http/wire/percent.h"

namespace hg::http {
namespace {

constexpr std::string_view kWriteV1 = "/write", kWriteV2 = "/api/v2/write", kQuery = "/query";

/// Returns the path without the prefix "/influx" and without a final slash.
std::string_view PathOf(std::string_view target) {
  std::string_view path = target.substr(0, target.find('?'));
  if (path.starts_with(kInfluxPrefix) && path.substr(kInfluxPrefix.size()).starts_with('/'))
    path.remove_prefix(kInfluxPrefix.size());
  if (path.ends_with('/')) path.remove_suffix(1);
  return path;
}

/// Returns the parameters with the '?' in front of them.
std::string_view ParametersOf(std::string_view target) {
  return target.substr(std::min(target.find('?'), target.size()));
}

}  // namespace

InfluxApi InfluxApiOf(std::string_view target) {
  const std::string_view path = PathOf(target);
  if (path == kWriteV2) return InfluxApi::kV2;
  for (const std::string_view known :
       {kWriteV1, kQuery, std::string_view("/ping"), std::string_view("/health")})
    if (path == known) return InfluxApi::kV1;
  return InfluxApi::kNone;
}

bool IsInfluxWritePath(std::string_view target) {
  const std::string_view path = PathOf(target);
  return path == kWriteV1 || path == kWriteV2;
}

Credentials InfluxCredentials(std::string_view target) {
  const std::string_view path = PathOf(target);
  const std::string_view text = ParametersOf(target);
  if ((path != kWriteV1 && path != kQuery) || text.empty()) return {};
  Parameters parameters;
  if (!ParseQueryString(text.substr(1), &parameters, nullptr)) return {};
  const std::string* const name = parameters.Find("u");
  if (name == nullptr) return {};
  const std::string* const password = parameters.Find("p");
  return {Credentials::Kind::kPassword, *name, password == nullptr ? "" : *password};
}

std::optional<InfluxUnit> PlainInfluxUnit(std::string_view target) {
  if (!IsInfluxWritePath(target)) return std::nullopt;
  std::string_view rest = ParametersOf(target);
  std::string_view precision;
  while (!rest.empty()) {
    rest.remove_prefix(1);  // '?' or the separator between pairs
    const std::string_view pair = rest.substr(0, rest.find_first_of("&;"));
    rest.remove_prefix(pair.size());
    if (pair.find_first_of("%+") != std::string_view::npos) return std::nullopt;
    if (pair.substr(0, pair.find('=')) != "precision") continue;
    precision = pair.substr(std::min(pair.size(), std::string_view("precision=").size()));
  }
  return ParseInfluxUnit(precision);
}

}  // namespace hg::http
