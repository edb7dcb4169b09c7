#pragma once
// The lines `rollup` and `histogram` (spec http-api.md §19.3).

#include <string>
#include <string_view>
#include <vector>

namespace hg::http {

struct Services;

struct AggregateReply {
  std::string text;   // with its LF; empty if there is nothing to say
  bool busy = false;  // the store took nothing: the line is to be run again after a while
};

/// Stores the histogram of a line, given as its words ("histogram" first). Blocks, but not for a
/// busy store.
AggregateReply RunHistogramLine(const std::vector<std::string_view>& words, Services& services);

/// The same of a value of a rollup or pre-aggregate table.
AggregateReply RunRollupLine(const std::vector<std::string_view>& words, Services& services);

}  // namespace hg::http
