#include "query/series/choose_series.h"

#include <functional>

#include "storage/base/checked_sort.h"

namespace hg::query {
namespace {

// The cost of listing a series. SeriesFilter reports the cost of its filters.
constexpr uint64_t kListedSeriesSteps = 8;

}  // namespace

Result<SeriesMatcher> ChooseSeries(Points& points, ByteView metric, SeriesFilter* filter,
                                   MemoryTally* memory) {
  SeriesMatcher chosen;
  Status failed;
  const auto take = [&](ByteView tsuid) -> Status {
    RETURN_IF_ERROR(memory->Step(kListedSeriesSteps));
    ASSIGN_OR_RETURN(const bool admitted, filter->Admits(tsuid));
    if (!admitted) return {};
    RETURN_IF_ERROR(memory->Add(static_cast<int64_t>(2 * sizeof(Bytes) + tsuid.size())));
    chosen.tsuids.emplace_back(tsuid);
    return {};
  };
  RETURN_IF_ERROR(
      points.ListSeries(metric, filter->matcher(), memory->context(), [&](ByteView tsuid) {
        failed = take(tsuid);
        return failed.ok();
      }));
  RETURN_IF_ERROR(failed);
  RETURN_IF_ERROR(CheckedSort(&chosen.tsuids, std::less<>(), memory));
  return chosen;
}

}  // namespace hg::query
