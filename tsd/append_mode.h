#pragma once
// tsd.storage.enable_appends over an engine that stores points natively: new points go to the
// append cell of their row (spec schema.md §10), as OpenTSDB's do; everything else is the engine's.
// Exact, and slower than the native form.

#include <memory>
#include <string>

#include "storage/points/points.h"
#include "storage/store.h"

namespace hg::tsd {

/// The points door of `cells` and `points`, which outlive it, writing to family "t" of `table`.
std::unique_ptr<Points> MakeAppendModePoints(Store& cells, Points& points,
                                             const std::string& table);

}  // namespace hg::tsd
