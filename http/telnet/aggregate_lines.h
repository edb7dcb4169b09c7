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
  std::string text;  // the error text to send after the command and ": "; "" = no error
  // The result that the store returned; nullopt if the line was not passed to the store.
  std::optional<Status> stored;
};

/// Stores the histogram of a telnet line whose first word is "histogram". May block on disk I/O.
AggregateReply RunHistogramLine(const std::vector<std::string_view>& words, Services& services,
                                WriteContext& context);

/// Stores the value of a rollup or pre-aggregate of a telnet line whose first word is "rollup". May
/// block on disk I/O.
AggregateReply RunRollupLine(const std::vector<std::string_view>& words, Services& services,
                             WriteContext& context);

}  // namespace hg::http
