#pragma once
// Decides which series form an output together, and which tags the output shows
// (opentsdb-queries.md §4.3, §4.6, §9.3).

#include <cstdint>
#include <span>
#include <vector>

#include "query/request/answer.h"
#include "query/rows/series_set.h"
#include "query/series/name_memo.h"
#include "query/time/scan_window.h"
#include "storage/base/request_context.h"
#include "storage/base/status.h"

namespace hg::query {

/// A group of series that become one output. It borrows its members, which are in the order of
/// Series::order.
struct SeriesGroup {
  Bytes id;  // tag values of the group-by keys, or Series::order if each series is a group
  std::vector<const Series*> members;
  std::vector<const codec::Annotation*> annotations;
};

/// Groups series, which must be sorted by Series::order. Returns groups in output order.
/// `each_alone` (aggregator "none") makes each series a group. A series outside the window creates
/// its group but does not become a member. Charges the groups to `memory`, which must outlive them.
/// Fails with errors of `memory`.
Result<std::vector<SeriesGroup>> FormGroups(const KeyLayout& layout,
                                            const std::vector<Series>& series, bool each_alone,
                                            std::span<const Bytes> group_by,
                                            const ScanWindow& window, MemoryTally* memory);

/// Fills metric, tags, aggregate tags, TSUIDs and annotations of `*out`. NotFound: a UID has no
/// name.
Status Describe(const KeyLayout& layout, const SeriesGroup& group, NameMemo* names, Group* out);

}  // namespace hg::query
