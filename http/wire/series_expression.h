#pragma once
// "metric{key=value,…}": how lookup and tsmeta name series in a query string (spec http-api.md
// §17.4, §18.1).

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "storage/base/status.h"

namespace hg::http {

/// One condition as written; none = the side of '=' was empty, which means any as "*" does.
struct TagWish {
  std::optional<std::string> key, value;

  [[nodiscard]] static bool Any(const std::optional<std::string>& text) {
    return !text || *text == "*";
  }
};

struct SeriesExpression {
  std::optional<std::string> metric;  // none = nothing before the brace
  std::vector<TagWish> tags;
};

/// InvalidArgument: a brace that is not closed, a tag that is not two words around one '='.
Result<SeriesExpression> ParseSeriesExpression(std::string_view text);

}  // namespace hg::http
