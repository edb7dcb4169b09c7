#pragma once
// Decides which series are combined into one output, and which tags this output has
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

/// A group of series that are combined into one output. The group does not own its members. The
/// members are in the order of Series::order.
struct SeriesGroup {
  /// The values (UIDs) of the group-by tag keys; Series::order if each series is a group of its
  /// own.
  Bytes id;
  std::vector<const Series*> members;
  std::vector<const codec::Annotation*> annotations;
};

/// Groups series, which must be sorted by Series::order. Returns the groups in output order. If
/// `each_alone` is set (aggregator "none"), each series is a group of its own. If a series ends
/// before `window` or begins after it, the series still creates its group, but it is not a member
/// of the group. Charges the groups to `memory`, which must outlive the groups. Returns the errors
/// of `memory`.
Result<std::vector<SeriesGroup>> FormGroups(const KeyLayout& layout,
                                            const std::vector<Series>& series, bool each_alone,
                                            std::span<const Bytes> group_by,
                                            const ScanWindow& window, MemoryTally* memory);

/// Sets the metric, the tags, the aggregated tag keys, the TSUIDs and the annotations of `*out` to
/// those of `group`. Charges working memory and reports its work to names->context(), and returns
/// its errors. The caller must charge the result. NotFound: a UID has no name.
Status Describe(const KeyLayout& layout, const SeriesGroup& group, NameMemo* names, Group* out);

}  // namespace hg::query
