#include "tsd/rollup/rollup_sum.h"

#include <algorithm>
#include <bit>
#include <cmath>

#include "storage/codec/rollup.h"
#include "storage/model/special_double.h"

namespace hg::tsd {
namespace {

PointValue SmallestDouble(double v) {
  const auto single = static_cast<float>(v);
  const bool exact =
      std::bit_cast<uint64_t>(static_cast<double>(single)) == std::bit_cast<uint64_t>(v);
  return exact ? PointValue::Float(single) : PointValue::Double(v);
}

}  // namespace

Result<RollupIds> RollupIds::Of(const codec::RollupTables& tables) {
  RollupIds ids;
  const auto find = [&tables](const char* name, uint8_t* id) {
    const auto known = tables.aggregator_ids.find(std::string_view(name));
    if (known == tables.aggregator_ids.end())
      return Status::InvalidArgument(
          "tsd.rollups.config has no id for \"" + std::string(name) +
          "\" in aggregationIds; automatic rollups need sum, count, min and max");
    *id = known->second;
    return Status();
  };
  RETURN_IF_ERROR(find("sum", &ids.sum));
  RETURN_IF_ERROR(find("count", &ids.count));
  RETURN_IF_ERROR(find("min", &ids.min));
  RETURN_IF_ERROR(find("max", &ids.max));
  return ids;
}

void RollupSum::AddInt(int64_t v) {
  const auto value = static_cast<double>(v);
  if (count_ == 0) {
    int_least_ = int_most_ = v;
    least_ = most_ = value;
  }
  int_least_ = std::min(int_least_, v);
  int_most_ = std::max(int_most_, v);
  if (__builtin_add_overflow(int_sum_, v, &int_sum_)) ints_ = false;
  if (value < least_) least_ = value;  // if values are equal, the earlier one stays, as in queries
  if (value > most_) most_ = value;
  sum_ += value;
  ++count_;
}

void RollupSum::AddDouble(double v) {
  ints_ = false;
  // Of an hour with infinities, rollups have only the finite numbers. While its points exist,
  // queries read the points.
  if (!std::isfinite(v)) return;
  if (count_ == 0) least_ = most_ = v;
  if (v < least_) least_ = v;
  if (v > most_) most_ = v;
  sum_ += v;
  ++count_;
}

void RollupSum::Add(const RowHour& row, size_t begin, size_t end) {
  for (size_t i = begin; i < end; ++i) {
    if (row.double_at(i) && IsSpecialDouble(row.value[i])) continue;  // as in queries
    if (row.double_at(i)) {
      AddDouble(std::bit_cast<double>(row.value[i]));
    } else {
      AddInt(static_cast<int64_t>(row.value[i]));
    }
  }
}

// The sum of integers in row statistics is exact (storage/points/row_statistics.h), so it may be
// converted to an integer.
void RollupSum::Add(const RowStatistics& row) {
  if (row.count == 0) return;
  if (count_ == 0) {
    least_ = row.least;
    most_ = row.most;
    int_least_ = row.all_double ? 0 : static_cast<int64_t>(row.least);
    int_most_ = row.all_double ? 0 : static_cast<int64_t>(row.most);
  }
  if (row.least < least_) least_ = row.least;
  if (row.most > most_) most_ = row.most;
  sum_ += row.sum;
  if (row.all_double) {
    ints_ = false;
  } else {
    int_least_ = std::min(int_least_, static_cast<int64_t>(row.least));
    int_most_ = std::max(int_most_, static_cast<int64_t>(row.most));
    if (__builtin_add_overflow(int_sum_, static_cast<int64_t>(row.sum), &int_sum_)) ints_ = false;
  }
  count_ += row.count;
}

void RollupSum::AppendCells(uint16_t index, const RollupIds& ids, std::vector<Cell>* cells) const {
  const auto add = [&](uint8_t id, const PointValue& value) {
    Cell cell;
    cell.family = "t";
    cell.qualifier = codec::RollupQualifier{id, index, value.flags}.Encode();
    AppendBig(&cell.value, value.bits, ValueWidth(value.flags));
    cells->push_back(std::move(cell));
  };
  add(ids.sum, ints_ ? PointValue::Int(int_sum_) : SmallestDouble(sum_));
  add(ids.count, PointValue::Int(static_cast<int64_t>(count_)));
  add(ids.min, ints_ ? PointValue::Int(int_least_) : SmallestDouble(least_));
  add(ids.max, ints_ ? PointValue::Int(int_most_) : SmallestDouble(most_));
}

}  // namespace hg::tsd
