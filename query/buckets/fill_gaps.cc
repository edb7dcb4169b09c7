#include "query/buckets/fill_gaps.h"

#include <bit>
#include <cstdint>
#include <limits>
#include <utility>
#include <vector>

namespace hg::query {

// Removes buckets that are not on the grid, and adds a fill value for each grid time without a
// bucket.
Status FillGaps(const BucketGrid& grid, PointColumns* buckets) {
  const FillPolicy fill = grid.spec().fill;
  if (grid.spec().run_all || fill == FillPolicy::kNone) return {};
  const std::vector<int64_t> times = std::exchange(buckets->time_ms, grid.fill_grid());
  const std::vector<uint64_t> bits = std::move(buckets->bits);
  const auto missing = std::bit_cast<uint64_t>(
      fill == FillPolicy::kZero ? 0.0 : std::numeric_limits<double>::quiet_NaN());
  std::vector<uint64_t> filled(buckets->time_ms.size(), missing);
  size_t next = 0;
  for (size_t i = 0; i < filled.size(); ++i) {
    while (next < times.size() && times[next] < buckets->time_ms[i]) ++next;
    if (next < times.size() && times[next] == buckets->time_ms[i]) {
      filled[i] = bits[next++];
    } else if (fill == FillPolicy::kScalar) {
      return Status::InvalidArgument("unhandled fill policy: scalar");
    }
  }
  buckets->bits = std::move(filled);
  return {};
}

}  // namespace hg::query
