#include "tsd/tools/selected_rows.h"

#include <algorithm>

#include "storage/points/match_series.h"
#include "storage/points/points_over_cells.h"

namespace hg::tsd {

std::vector<ScanSpec> ScansOf(const KeyLayout& layout, const std::string& data_table,
                              const WordQueries& queries, const Selection& selection) {
  constexpr size_t kBatchRows = 128;
  RowRange hours;
  hours.begin = static_cast<uint32_t>(queries.start_s / kRowSpan * kRowSpan);
  if (queries.end_s)
    hours.end = static_cast<uint64_t>(*queries.end_s / kRowSpan * kRowSpan + kRowSpan);
  return points::BucketScans(layout, data_table, selection.metric, hours, kBatchRows);
}

bool IsSelected(const KeyLayout& layout, const Selection& selection, ByteView key) {
  const size_t prefix = std::min(key.size(), static_cast<size_t>(layout.prefix_width()));
  return points::MatchesSeries(selection.matcher, layout, selection.metric, key.substr(prefix));
}

}  // namespace hg::tsd
