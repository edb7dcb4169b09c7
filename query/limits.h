#pragma once
// Limits of one sub-query (spec query.md §15.1): counted in cells and bytes of storage, looked at
// between batches, so that one batch always passes.

#include <cstdint>
#include <string>
#include <string_view>

#include "query/limits_file.h"
#include "query/options.h"
#include "storage/base/status.h"
#include "storage/base/work_watch.h"
#include "storage/points/points.h"

namespace hg::query {

/// What one sub-query may read; 0 = no limit.
struct Limits {
  int64_t bytes_max = 0;
  int64_t cells_max = 0;
  size_t batch_rows = 128;
};

/// Those of the limits file for that metric, else those of the options; lifted where the request
/// asks and the options allow. InvalidArgument: the limits file cannot be read.
Result<Limits> LimitsFor(const Options& options, LimitsFile* file, std::string_view metric,
                         bool lift_bytes, bool lift_cells);

/// One thread at a time.
class LimitCounter {
 public:
  /// `watch` outlives the counter.
  LimitCounter(const Limits& limits, WorkWatch& watch) : limits_(limits), watch_(watch) {}

  /// Before a row is used. LimitExceeded, or what the watch says.
  Status Count(const RowHour& row);
  /// The same of rows that are given by their statistics. Where there is no limit.
  Status CountHours(uint64_t rows, uint64_t points);

  [[nodiscard]] bool limited() const { return limits_.bytes_max > 0 || limits_.cells_max > 0; }
  [[nodiscard]] uint64_t rows() const { return rows_; }
  [[nodiscard]] uint64_t points() const { return points_; }

 private:
  Status Check() const;

  const Limits limits_;
  WorkWatch& watch_;
  uint64_t rows_ = 0;
  uint64_t points_ = 0;
  uint64_t steps_ = 0;  // not told to the watch yet
  int64_t bytes_ = 0;
  int64_t cells_ = 0;
};

}  // namespace hg::query
