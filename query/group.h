#pragma once
// Decides which series form one output together, and which tags the output has (opentsdb-queries.md
// §4.3, §4.6, §9.3).

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

/// A group of series that become one output. The group does not own its members. They are in the
/// order of Series::order.
struct SeriesGroup {
  Bytes id;  // tag values of the group-by keys; Series::order if each series is a group
  std::vector<const Series*> members;
  std::vector<const codec::Annotation*> annotations;
};

/// Groups series, which must be sorted by Series::order. Returns groups in output order. With
/// `each_alone` (aggregator "none"), each series is a group. A series outside the window creates
/// its group but is not a member of it. Charges the groups to `memory`, which must outlive the
/// groups. Fails with errors of `memory`.
Result<std::vector<SeriesGroup>> FormGroups(const KeyLayout& layout,
                                            const std::vector<Series>& series, bool each_alone,
                                            std::span<const Bytes> group_by,
                                            const ScanWindow& window, MemoryTally* memory);

/// Sets metric, tags, aggregated tag keys, TSUIDs and annotations of `*out`. NotFound: a UID has no
/// name.
Status Describe(const KeyLayout& layout, const SeriesGroup& group, NameMemo* names, Group* out);

}  // namespace hg::query
