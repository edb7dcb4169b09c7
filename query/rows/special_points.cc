#include "query/rows/special_points.h"

#include "storage/model/special_double.h"

namespace hg::query {

bool PassOverSpecials(RowHour* row, KeptPoints* kept) {
  if (row->is_double.empty() && !row->all_double) return false;
  const auto passed_over = [row](size_t i) {
    return row->double_at(i) && IsSpecialDouble(row->value[i]);
  };
  // This first check has no branch per point. It also finds integers that look like special
  // doubles, but few rows have integers and doubles.
  bool maybe = false;
  for (const uint64_t bits : row->value) maybe |= (bits & kInfinityBits) == kInfinityBits;
  if (!maybe) return false;
  const size_t n = row->value.size();
  kept->offset_ms.resize(n);
  kept->value.resize(n);
  kept->is_double.resize(row->is_double.size());
  size_t count = 0;
  for (size_t i = 0; i < n; ++i) {
    kept->offset_ms[count] = row->offset_ms[i];
    kept->value[count] = row->value[i];
    if (!row->is_double.empty()) kept->is_double[count] = row->is_double[i];
    count += passed_over(i) ? 0 : 1;
  }
  if (count == n) return false;
  row->offset_ms = {kept->offset_ms.data(), count};
  row->value = {kept->value.data(), count};
  if (!row->is_double.empty()) row->is_double = {kept->is_double.data(), count};
  return true;
}

}  // namespace hg::query
