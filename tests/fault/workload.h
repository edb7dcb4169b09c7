#pragma once
// Random writes to the cell store and the point store, the same on every store, and the visible
// content afterwards. tests/fault uses them to compare an engine with the model.

#include <cstdint>
#include <string>

#include "storage/points/points.h"
#include "storage/store.h"

namespace hg {

/// Start of the first row-hour that WriteSome touches.
inline constexpr uint32_t kWorkloadBase = 1700002800;

/// Every cell of the tables tsdb and tsdb-uid as text, without timestamps, because points do not
/// keep their own. A failing scan ends the test case.
std::string DumpCells(Store& store);
/// Like DumpCells, but a failing scan is returned as an error.
Result<std::string> TryDumpCells(Store& store);

/// The TSUID of series i of the workload; i is below kWorkloadSeries.
inline constexpr uint64_t kWorkloadSeries = 4;
Bytes WorkloadTsuid(uint64_t i);

/// One write to the cell store or the point store, chosen by the seed. It is committed when the
/// call returns ok.
Status WriteSome(uint64_t seed, Store& cells, Points& points);

}  // namespace hg
