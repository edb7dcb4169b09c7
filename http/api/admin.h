#pragma once
// Administrative calls that list and change the regions of tables (region-store.md §11.2).
// /api/admin, `tsdb admin` and `tsdb table` run these calls.

#include <string>
#include <string_view>

#include "http/request/request.h"
#include "storage/base/request_context.h"
#include "storage/base/status.h"
#include "storage/for_each_region.h"
#include "storage/store.h"

namespace hg::http {

/// Returns whether the administrative call does more than read, for example `split` or `compact`.
/// The client must use POST for these calls, except to read the progress of a backup.
bool AdminChanges(std::string_view call);

/// Runs one administrative call on a store of any kind. Returns a JSON document with one line per
/// element. Row keys are written as in storage/region/pre_split.h. The parameters of the calls are:
/// - rows: if given, `regions` also counts the rows and the bytes of values of each region
/// - table: not used by `tables` and `flush`; optional for `regions`, `sizes` and `compact`
///   (default: all tables); required for all other calls
/// - for `split`: region (any key in the region; default: the region of `at`, or the first region),
///   at (the first key of the second half; default: the store selects a key)
/// - for `merge`: at (the key where two neighbouring regions meet)
/// - for `create`: families (http/wire/table_text.h), splits (comma-separated), uniform, hex
/// - for `alter`: families
///
/// NotFound: the call or the table is unknown. InvalidArgument: a parameter is missing or invalid.
/// `watch` can end `count`, `regions`, `sizes`, `compact` and `merge` early. `rows_read` is called
/// while `regions` counts rows; it may be empty.
Result<std::string> RunAdminCall(Store& store, std::string_view call, const Parameters& parameters,
                                 RequestContext& watch, const RowsRead& rows_read = {});

}  // namespace hg::http
