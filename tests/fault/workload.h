#pragma once
// Makes random writes to a cell store and a point store, the same ones for every store, and returns
// the content as text. tests/fault uses these functions to compare an engine with the model.

#include <cstdint>
#include <string>

#include "storage/points/points.h"
#include "storage/store.h"

namespace hg {

/// Start of the first row-hour that WriteSome writes to, in seconds.
inline constexpr uint32_t kWorkloadBase = 1700002800;

/// Returns every cell of the tables tsdb and tsdb-uid as text. It leaves out timestamps, because
/// stored points do not have their own. A failing scan ends the test case.
std::string DumpCells(Store& store);
/// Like DumpCells, but returns the error of a failing scan.
Result<std::string> TryDumpCells(Store& store);

/// The number of series in the workload. They are numbered from 0.
inline constexpr uint64_t kWorkloadSeries = 4;
Bytes WorkloadTsuid(uint64_t i);

/// Makes one write to the cell store or the point store, chosen by the seed. The write is committed
/// when the call returns ok.
Status WriteSome(uint64_t seed, Store& cells, Points& points);

}  // namespace hg
