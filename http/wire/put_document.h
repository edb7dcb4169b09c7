#pragma once
// The body of /api/put, the exact way: all that OpenTSDB's binding accepts and refuses (spec
// http-api.md §8.1, §8.4).

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "storage/base/status.h"

namespace hg::http {

/// A tag of a put point; no value = JSON null.
struct PutTag {
  std::string key;
  std::optional<std::string> value;
};

/// One element of the body as it was bound, nothing checked yet.
struct PutPoint {
  bool null = false;  // the element was JSON null
  std::optional<std::string> metric;
  int64_t timestamp = 0;
  std::optional<std::string> value;  // text as written
  /// One per key, in the order of OpenTSDB's map (hash16).
  std::optional<std::vector<PutTag>> tags;
  std::optional<std::string> tsuid;
  // Of /api/rollup only.
  std::optional<std::string> interval, aggregator, group_by;
};

/// The points of a body that begins with { or [. InvalidArgument says what does not fit where; the
/// whole body is then refused.
/// `rollup`: binds the fields of /api/rollup too.
Result<std::vector<PutPoint>> ParsePutDocument(std::string_view body, bool rollup = false);

}  // namespace hg::http
