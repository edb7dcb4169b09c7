#pragma once
// The telnet commands `rollup` and `histogram` (opentsdb-http-api.md §19.3).

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "storage/base/status.h"

namespace hg {
class WriteContext;
}

namespace hg::http {

struct Services;

struct AggregateReply {
  std::string text;  // the error to send after the command and ": "; "" = no error
  // The result of the store; nullopt if the line was not passed to the store.
  std::optional<Status> stored;
};

/// Stores the histogram of a line. The first word is "histogram". May block on disk I/O.
AggregateReply RunHistogramLine(const std::vector<std::string_view>& words, Services& services,
                                WriteContext& context);

/// Like RunHistogramLine, for a line with a value of a rollup or pre-aggregate.
AggregateReply RunRollupLine(const std::vector<std::string_view>& words, Services& services,
                             WriteContext& context);

}  // namespace hg::http
