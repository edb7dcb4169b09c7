#pragma once
// Calls that list and change the regions of tables (region-store.md §11.2). /api/admin, `tsdb
// admin` and `tsdb table` use them.

#include <string>
#include <string_view>

#include "http/request/request.h"
#include "storage/base/request_context.h"
#include "storage/base/status.h"
#include "storage/store.h"

namespace hg::http {

/// Returns whether the call changes how data is stored; such a call must be a POST.
bool AdminChanges(std::string_view call);

/// Runs one call on any store. Returns a JSON document with one line per element. Row keys are
/// written as in storage/region/pre_split.h. Parameters:
/// - rows: the call `regions` also counts the rows and bytes of values of each region
/// - table: optional for `regions`, `sizes` and `compact` (default: all tables), else required
/// - split: region (any key in it; default: the region of `at`, or the first one), at (the key
///   where the second half begins)
/// - merge: at (the key where two neighbouring regions meet)
/// - create: families (http/wire/table_text.h), splits (comma-separated), uniform, hex
/// - alter: families
///
/// NotFound: unknown call or table. InvalidArgument: a parameter is missing or invalid.
/// `watch` can end the call `count`.
Result<std::string> RunAdminCall(Store& store, std::string_view call, const Parameters& parameters,
                                 RequestContext& watch);

}  // namespace hg::http
