#pragma once
// What the raw points of one series and one interval come to, and the cells that say so in a rollup
// table (spec schema.md §13.4).

#include <cstdint>
#include <vector>

#include "storage/base/status.h"
#include "storage/codec/rollup_tables.h"
#include "storage/points/points.h"
#include "storage/store.h"

namespace hg::tsd {

/// The aggregates that rollups have which are made here.
struct RollupIds {
  uint8_t sum = 0, count = 0, min = 0, max = 0;

  /// InvalidArgument: one of them is not configured.
  static Result<RollupIds> Of(const codec::RollupTables& tables);
  [[nodiscard]] bool Has(uint8_t id) const {
    return id == sum || id == count || id == min || id == max;
  }
};

/// One thread at a time.
class RollupSum {
 public:
  /// Points [begin, end) of the row; later than all before, as is the next. NaNs are skipped, as a
  /// query skips them.
  void Add(const RowHour& row, size_t begin, size_t end);
  void Add(const RowStatistics& row);

  [[nodiscard]] bool empty() const { return count_ == 0; }
  [[nodiscard]] uint64_t count() const { return count_; }

  /// Integers are exact: where all points are, and their sum is one of 64 bits, so are the values.
  /// Else they are doubles, the sum in the order of the points, or of the rows that came by their
  /// statistics. Numbers take the fewest bytes that hold them.
  void AppendCells(uint16_t index, const RollupIds& ids, std::vector<Cell>* cells) const;

 private:
  void AddInt(int64_t v);
  void AddDouble(double v);

  uint64_t count_ = 0;
  bool ints_ = true;  // so far, and the sum fits
  int64_t int_sum_ = 0, int_least_ = 0, int_most_ = 0;
  double sum_ = 0, least_ = 0, most_ = 0;  // of all, integers converted
};

}  // namespace hg::tsd
