#pragma once
// Aggregates the raw points of one series in one interval, and converts the results to cells of a
// rollup table (opentsdb-schema.md §13.4).

#include <cstdint>
#include <vector>

#include "storage/base/status.h"
#include "storage/codec/rollup_tables.h"
#include "storage/points/points.h"
#include "storage/store.h"

namespace hg::tsd {

/// The ids of the aggregates that automatic rollups have.
struct RollupIds {
  uint8_t sum = 0, count = 0, min = 0, max = 0;

  /// Finds the ids of the aggregates in the configuration. InvalidArgument: the configuration has
  /// no id for one of these aggregates.
  static Result<RollupIds> Of(const codec::RollupTables& tables);
  [[nodiscard]] bool Has(uint8_t id) const {
    return id == sum || id == count || id == min || id == max;
  }
};

/// The aggregates of one interval. The object is not thread-safe.
class RollupSum {
 public:
  /// Adds the points [begin, end) of the row. The caller must add points in ascending order of
  /// time. NaNs are skipped, as in queries.
  void Add(const RowHour& row, size_t begin, size_t end);
  void Add(const RowStatistics& row);

  [[nodiscard]] bool empty() const { return count_ == 0; }
  [[nodiscard]] uint64_t count() const { return count_; }

  /// Appends the cells of the interval, which has the number `index` in its row of the rollup
  /// table. If all points are integers and the sum fits into 64 bits, the values are exact
  /// integers. Otherwise they are doubles that were added in the order of the points. If a row was
  /// added by means of its statistics, the sum of the row counts as one number in this order. Each
  /// number is stored in its shortest form.
  void AppendCells(uint16_t index, const RollupIds& ids, std::vector<Cell>* cells) const;

 private:
  void AddInt(int64_t v);
  void AddDouble(double v);

  uint64_t count_ = 0;
  bool ints_ = true;  // whether all points so far are integers and their sum fits into 64 bits
  int64_t int_sum_ = 0, int_least_ = 0, int_most_ = 0;
  /// Aggregates of all points; integers are converted to doubles.
  double sum_ = 0, least_ = 0, most_ = 0;
};

}  // namespace hg::tsd
