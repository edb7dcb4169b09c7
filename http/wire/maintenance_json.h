#pragma once
// Writes JSON for /api/admin: the progress of copies of a store, and the reports of checks of a
// store (storage/maintenance.h). Hourglass extension.

#include <string>

#include "storage/maintenance.h"

namespace hg::http {

/// Returns the progress as JSON, for example
/// {"files":2,"filesTotal":2,"bytes":700,"bytesTotal":700,"kept":0,"linked":2,"copied":0}
std::string ProgressJson(const CopyProgress& progress);
/// Returns the report as JSON, for example
/// {"files":3,"bytes":900,"damages":[{"file":"…","offset":40,"what":"…","lost":"…"}],"notes":["…"]}
std::string ReportJson(const CheckReport& report);

}  // namespace hg::http
