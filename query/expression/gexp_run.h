#pragma once
// Evaluates function expressions over the results of their sub-queries (opentsdb-queries.md §12.2
// to §12.5).

#include <vector>

#include "query/expression/gexp.h"
#include "query/plan/validate.h"
#include "query/request/answer.h"
#include "storage/base/request_context.h"
#include "storage/base/status.h"
#include "storage/model/key_layout.h"

namespace hg::query {

/// Returns the results of all expressions in their order, trimmed to the query's range. `answer`
/// must be untrimmed; the function modifies it. InvalidArgument: a function has wrong arguments, an
/// index beyond the sub-queries (opentsdb-queries.md, quirk Q20), or series that cannot be paired.
/// LimitExceeded: too many series. Also fails with errors of `watch`, which may be nullptr. The
/// results stay charged to `watch`.
Result<std::vector<Group>> RunGexps(const std::vector<GexpCall>& calls, const ValidQuery& query,
                                    Answer answer, const KeyLayout& layout, RequestContext* watch);

}  // namespace hg::query
