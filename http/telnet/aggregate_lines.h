#pragma once
// The lines `rollup` and `histogram` (spec http-api.md §19.3).

#include <string>
#include <string_view>
#include <vector>

namespace hg::http {

struct Services;

/// Stores the histogram of a line, given as its words ("histogram" first). What to reply, with its
/// LF; empty if there is nothing to say. Blocks.
std::string RunHistogramLine(const std::vector<std::string_view>& words, Services& services);

/// The same of a value of a rollup or pre-aggregate table.
std::string RunRollupLine(const std::vector<std::string_view>& words, Services& services);

}  // namespace hg::http
