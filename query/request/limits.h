#pragma once
// Limits of one sub-query (opentsdb-queries.md §15.1) for cells and bytes that it reads from
// storage. They are checked after each batch of rows, so one batch always passes.

#include <cstdint>
#include <string>
#include <string_view>

#include "query/request/limits_file.h"
#include "query/request/options.h"
#include "storage/base/request_context.h"
#include "storage/base/status.h"
#include "storage/points/points.h"

namespace hg::query {

/// The maximum amount of data that one sub-query may read; 0 = no limit.
struct Limits {
  int64_t bytes_max = 0;
  int64_t cells_max = 0;
  size_t batch_rows = 128;
};

/// Returns the limits that the limits file has for the metric, or the limits of the options if the
/// file has none. `lift_bytes` and `lift_cells` remove a limit if the options allow this.
/// InvalidArgument: the limits file cannot be read.
Result<Limits> LimitsFor(const Options& options, LimitsFile* file, std::string_view metric,
                         RequestContext& context, bool lift_bytes, bool lift_cells);

/// Not thread-safe.
class LimitCounter {
 public:
  /// `watch` must outlive the counter.
  LimitCounter(const Limits& limits, RequestContext& watch) : limits_(limits), watch_(watch) {}

  /// Counts a row. Call this function before the row is used. Fails with LimitExceeded or with
  /// errors of the request context.
  Status Count(const RowHour& row);
  /// Counts rows of which the caller uses only the statistics. Call this function only if limited()
  /// is false.
  Status CountHours(uint64_t rows, uint64_t points);

  [[nodiscard]] bool limited() const { return limits_.bytes_max > 0 || limits_.cells_max > 0; }
  [[nodiscard]] uint64_t rows() const { return rows_; }
  [[nodiscard]] uint64_t points() const { return points_; }

 private:
  Status Check() const;

  const Limits limits_;
  RequestContext& watch_;
  uint64_t rows_ = 0;
  uint64_t points_ = 0;
  uint64_t steps_ = 0;  // steps that were not reported to watch_ yet
  int64_t bytes_ = 0;
  int64_t cells_ = 0;
};

}  // namespace hg::query
