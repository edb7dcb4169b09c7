#pragma once
// Limits for the number of cells and bytes that one sub-query reads from storage
// (opentsdb-queries.md §15.1). The limits are checked before each batch of rows, so every sub-query
// may read at least one batch.

#include <cstdint>
#include <string>
#include <string_view>

#include "query/request/limits_file.h"
#include "query/request/options.h"
#include "storage/base/request_context.h"
#include "storage/base/status.h"
#include "storage/points/points.h"

namespace hg::query {

/// The maximum amount of data that one sub-query may read; 0 = no limit. `batch_rows` is the number
/// of rows between two checks of the limits.
struct Limits {
  int64_t bytes_max = 0;
  int64_t cells_max = 0;
  size_t batch_rows = 128;
};

/// Returns the limits for sub-queries of a metric. They come from the limits file, or from the
/// options if the file has no limits for the metric. If `lift_bytes` is true and the options allow
/// clients to lift the limit, there is no limit for bytes. `lift_cells` does the same for cells.
/// InvalidArgument: the limits file cannot be read. Also returns the other errors of
/// LimitsFile::Find.
Result<Limits> LimitsFor(const Options& options, LimitsFile* file, std::string_view metric,
                         RequestContext& context, bool lift_bytes, bool lift_cells);

/// Counts the rows, bytes and cells that one sub-query reads, and checks its limits. Not
/// thread-safe.
class LimitCounter {
 public:
  /// `watch` must outlive the counter.
  LimitCounter(const Limits& limits, RequestContext& watch) : limits_(limits), watch_(watch) {}

  /// Counts one row. Call this function before you use the row. LimitExceeded: the sub-query has
  /// read more than a limit allows. Also returns the errors of the request context.
  Status Count(const RowHour& row);
  /// Counts rows of which the caller uses only the statistics, not the points. Call this function
  /// only if limited() is false.
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
  uint64_t steps_ = 0;  // steps that were not yet charged to watch_
  int64_t bytes_ = 0;
  int64_t cells_ = 0;
};

}  // namespace hg::query
