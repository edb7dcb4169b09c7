#pragma once
// /api/admin/…: regions of the tables, and what may be asked of them (spec region-store.md §11.2).
// Ours; `tsdb admin` makes the same calls, on a data directory or through here.

#include <string>
#include <string_view>

#include "http/request.h"
#include "http/response_writer.h"
#include "storage/base/status.h"
#include "storage/store.h"

namespace hg::http {

struct Services;

/// GET: tables, regions, sizes, count. POST: create, split, merge, flush, compact. 403 for clients
/// of other machines and for pages in a browser, unless the setting lets them in. POST
/// backup?folder=/absolute/path: a copy of the store (storage/maintenance.h), answered when it is
/// whole; GET backup: how far the running one is, or how far the last one came. POST check: every
/// damage of the files. Their answers are in wire/maintenance_json.h.
void HandleAdmin(const Request& request, Services& services, ResponseWriter& out);

/// True: the call changes how things are stored, and is for POST alone.
bool AdminChanges(std::string_view call);

/// One call on any store; its answer as a JSON document, a line for each element. Keys are text as
/// in storage/region/pre_split.h. Parameters: table; regions and sizes: none for all tables; split:
/// region (any key of it; absent: the first, or that of `at`), at; merge: at; create: families,
/// splits (between commas), uniform, hex, points; compact: none for all tables. NotFound: no such
/// call or table. InvalidArgument: a parameter is missing or wrong.
Result<std::string> RunAdminCall(Store& store, std::string_view call, const Parameters& parameters);

}  // namespace hg::http
