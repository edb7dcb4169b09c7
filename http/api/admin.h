#pragma once
// /api/admin/…: lists and changes the regions of tables (region-store.md §11.2). Hourglass
// extension. `tsdb admin` and `tsdb table` make the same calls, on a data directory or by HTTP.

#include <string>
#include <string_view>

#include "http/request/request.h"
#include "http/request/response_writer.h"
#include "storage/base/request_context.h"
#include "storage/base/status.h"
#include "storage/store.h"

namespace hg::http {

struct Services;

/// GET: tables, describe, regions, sizes, count. POST: create, alter, drop, truncate, split, merge,
/// flush, compact. Clients on other machines and pages in a browser get 403, unless the setting
/// tsd.http.admin.remote allows them. POST backup?folder=/absolute/path copies the store
/// (storage/maintenance.h) and sends the response when the copy is complete. GET backup returns the
/// progress of the running copy, or the result of the last one. POST check reports all damage of
/// the files. wire/maintenance_json.h has the form of these responses. A call that takes long gets
/// 503 while an equal one runs, because it would only wait for it.
void HandleAdmin(const Request& request, Services& services, ResponseWriter& out);

/// Returns true if the call changes how data is stored, so that it must be a POST.
bool AdminChanges(std::string_view call);

/// Runs one call on any store. Returns a JSON document with one line per element. Row keys are
/// written as in storage/region/pre_split.h. Parameters:
/// - rows: regions also counts the rows and bytes of values of each region
/// - table: optional for regions, sizes and compact (default: all tables), else required
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
