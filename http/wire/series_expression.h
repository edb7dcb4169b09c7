#pragma once
// Parses "metric{key=value,…}", with which lookup and tsmeta select series in a query string
// (opentsdb-http-api.md §17.4, §18.1).

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "storage/base/status.h"

namespace hg::http {

/// One condition for a tag. nullopt: this side of '=' was empty. An empty side matches anything, as
/// "*" does.
struct TagWish {
  std::optional<std::string> key, value;

  [[nodiscard]] static bool Any(const std::optional<std::string>& text) {
    return !text || *text == "*";
  }
};

struct SeriesExpression {
  std::optional<std::string> metric;  // nullopt: there is no text before the brace
  std::vector<TagWish> tags;
};

/// Parses the expression. InvalidArgument: a brace is not closed, or a tag is not two words around
/// one '='.
Result<SeriesExpression> ParseSeriesExpression(std::string_view text);

}  // namespace hg::http
