#pragma once
// What copies and checks of a store (storage/maintenance.h) say, as /api/admin sends it and the
// tools read it. Ours.

#include <string>
#include <string_view>

#include "storage/maintenance.h"

namespace hg::http {

/// {"files":2,"filesTotal":2,"bytes":700,"bytesTotal":700,"kept":0,"linked":2,"copied":0}
std::string ProgressJson(const CopyProgress& progress);
/// {"files":3,"bytes":900,"damages":[{"file":"…","offset":40,"what":"…","lost":"…"}],"notes":["…"]}
std::string ReportJson(const CheckReport& report);

/// InvalidArgument: it is none, and which member lacks.
Result<CopyProgress> ParseProgress(std::string_view json);
Result<CheckReport> ParseReport(std::string_view json);

}  // namespace hg::http
