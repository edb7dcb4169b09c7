#pragma once
// Parses expressions "metric{key=value,…}" in query strings. Lookup and tsmeta select series by
// such expressions (opentsdb-http-api.md §17.4, §18.1).

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "storage/base/status.h"

namespace hg::http {

/// A condition for one tag. If a side of '=' is empty, its member is nullopt; the condition then
/// allows anything for that side, as "*" does.
struct TagWish {
  std::optional<std::string> key, value;

  [[nodiscard]] static bool Any(const std::optional<std::string>& text) {
    return !text || *text == "*";
  }
};

struct SeriesExpression {
  /// Name of the metric; nullopt: there is no text before the brace.
  std::optional<std::string> metric;
  std::vector<TagWish> tags;
};

/// Parses the expression. InvalidArgument: a brace is not closed, or a tag does not have one of the
/// forms KEY=VALUE, KEY= and =VALUE.
Result<SeriesExpression> ParseSeriesExpression(std::string_view text);

}  // namespace hg::http
