#pragma once
// The evaluation of function expressions over what their sub-queries found (spec query.md §12.2 to
// §12.5). Pure.

#include <vector>

#include "query/answer.h"
#include "query/expression/gexp.h"
#include "query/validate.h"
#include "storage/base/status.h"
#include "storage/base/work_watch.h"
#include "storage/model/key_layout.h"

namespace hg::query {

/// The results of all expressions, one after another, trimmed to the query's range. `answer` is
/// untrimmed and used up. InvalidArgument: arguments that do not fit, an index beyond the
/// sub-queries (quirk Q20), series that do not pair. LimitExceeded: too many series. Else what
/// `watch` says, if there is one; results are charged to it and stay so.
Result<std::vector<Group>> RunGexps(const std::vector<GexpCall>& calls, const ValidQuery& query,
                                    Answer answer, const KeyLayout& layout, WorkWatch* watch);

}  // namespace hg::query
