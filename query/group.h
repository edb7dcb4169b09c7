#pragma once
// Which series form an output together, and the tags it shows (spec query.md §4.3, §4.6, §9.3).

#include <cstdint>
#include <span>
#include <vector>

#include "query/answer.h"
#include "query/name_memo.h"
#include "query/plan.h"
#include "query/series_set.h"
#include "storage/base/status.h"

namespace hg::query {

/// One output to be: its members in order, borrowed.
struct SeriesGroup {
  Bytes id;  // values of the keys that group, or the series' order if each stands alone
  std::vector<const Series*> members;
  std::vector<codec::Annotation> annotations;
};

/// `series` sorted by Series::order. `each_alone`: the aggregator "none". Groups come in output
/// order. Series outside the window give their group an output, but are no members of it.
std::vector<SeriesGroup> FormGroups(const KeyLayout& layout, const std::vector<Series>& series,
                                    bool each_alone, std::span<const Bytes> group_by,
                                    const ScanWindow& window);

/// Fills metric, tags, aggregate tags, TSUIDs and annotations. NotFound: a UID without a name.
Status Describe(const KeyLayout& layout, const SeriesGroup& group, NameMemo* names, Group* out);

}  // namespace hg::query
