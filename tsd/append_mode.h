#pragma once
// Implements tsd.storage.enable_appends for an engine that stores points natively. New points go to
// the append cell of their row, as in OpenTSDB (opentsdb-schema.md §10). All other operations go to
// the engine unchanged. Reads return the same points as in native mode, but take longer.

#include <memory>
#include <string>

#include "storage/points/points.h"
#include "storage/store.h"

namespace hg::tsd {

/// Returns a point store that writes to family "t" of `table`. `cells` and `points` must outlive
/// the result.
std::unique_ptr<Points> MakeAppendModePoints(Store& cells, Points& points,
                                             const std::string& table);

}  // namespace hg::tsd
