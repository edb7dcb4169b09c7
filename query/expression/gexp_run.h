#pragma once
// Evaluates function expressions on the results of their sub-queries (opentsdb-queries.md §12.2 to
// §12.5).

#include <vector>

#include "query/expression/gexp.h"
#include "query/plan/validate.h"
#include "query/request/answer.h"
#include "storage/base/request_context.h"
#include "storage/base/status.h"
#include "storage/model/key_layout.h"

namespace hg::query {

/// Returns the results of all expressions in `calls`, in this order, trimmed to the time range of
/// `query`. `answer` contains the untrimmed results of the sub-queries. The memory of the results
/// stays charged to `watch`, which may be nullptr.
///
/// InvalidArgument: a function has wrong arguments, a sub-query index is too large
/// (opentsdb-queries.md, quirk Q20), or series cannot be paired. LimitExceeded: there are too many
/// series. Also returns the errors of `watch`.
Result<std::vector<Group>> RunGexps(const std::vector<GexpCall>& calls, const ValidQuery& query,
                                    Answer answer, const KeyLayout& layout, RequestContext* watch);

}  // namespace hg::query
