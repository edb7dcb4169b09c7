#pragma once
// The telnet commands `rollup` and `histogram` (opentsdb-http-api.md §19.3).

#include <string>
#include <string_view>
#include <vector>

namespace hg {
class WriteContext;
}

namespace hg::http {

struct Services;

struct AggregateReply {
  std::string text;  // with its LF; empty if there is nothing to send
  // The store refuses writes for now; the caller should run the line again after a while.
  bool busy = false;
};

/// Stores the histogram of a line, given as words ("histogram" first). May block on disk I/O. If
/// the store is busy, returns at once with `busy`.
AggregateReply RunHistogramLine(const std::vector<std::string_view>& words, Services& services,
                                WriteContext& context);

/// Like RunHistogramLine, for a value of a rollup or pre-aggregate table.
AggregateReply RunRollupLine(const std::vector<std::string_view>& words, Services& services,
                             WriteContext& context);

}  // namespace hg::http
