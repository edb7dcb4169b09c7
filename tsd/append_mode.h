#pragma once
// Implements tsd.storage.enable_appends for an engine that stores points instead of cells. New
// points are written to the append cell of their row, as in OpenTSDB (opentsdb-schema.md §10). All
// other operations are passed to the engine unchanged. Reads return the same points as without this
// setting, but take longer.

#include <memory>
#include <string>

#include "storage/points/points.h"
#include "storage/store.h"

namespace hg::tsd {

/// Returns a point store that writes points to the append cells of their rows, in the family "t" of
/// `table` in `cells`. It passes all other operations to `points`. `cells` and `points` must
/// outlive the returned object.
std::unique_ptr<Points> MakeAppendModePoints(Store& cells, Points& points,
                                             const std::string& table);

}  // namespace hg::tsd
