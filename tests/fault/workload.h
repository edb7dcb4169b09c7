#pragma once
// Makes random writes to a cell store and a point store, and returns the content of a store as
// text. The seed determines each write, so tests can make the same writes to an engine and to the
// model and compare both.

#include <cstdint>
#include <string>

#include "storage/points/points.h"
#include "storage/store.h"

namespace hg {

/// The start of the first row-hour to which WriteSome writes, in seconds.
inline constexpr uint32_t kWorkloadBase = 1700002800;

/// Returns every cell of the tables tsdb and tsdb-uid as text. The text has no timestamps, because
/// stored points have no cell timestamps. If a scan fails, the test case ends with a failure.
std::string DumpCells(Store& store);
/// Returns the same text as DumpCells, or the error if a scan fails.
Result<std::string> TryDumpCells(Store& store);

/// The number of series to which WriteSome writes. Their numbers start at 0 (WorkloadTsuid).
inline constexpr uint64_t kWorkloadSeries = 4;
Bytes WorkloadTsuid(uint64_t i);

/// Makes one write to the cell store or to the point store. The seed determines the write. The
/// write is committed when the function returns OK.
Status WriteSome(uint64_t seed, Store& cells, Points& points);

}  // namespace hg
