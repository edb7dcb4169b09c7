#pragma once
// Random writes through both doors that are the same on every store, and what a store shows of
// them: how tests/fault compares an engine with the model.

#include <cstdint>
#include <string>

#include "storage/points/points.h"
#include "storage/store.h"

namespace hg {

/// Time of the first row-hour that WriteSome touches.
inline constexpr uint32_t kWorkloadBase = 1700002800;

/// Every cell of the tables tsdb and tsdb-uid as text, without times: points have none of their
/// own. Ends the test case if a scan fails.
std::string DumpCells(Store& store);
/// The same; a failing scan is an error.
Result<std::string> TryDumpCells(Store& store);

/// The series of the workload; i below kWorkloadSeries.
inline constexpr uint64_t kWorkloadSeries = 4;
Bytes WorkloadTsuid(uint64_t i);

/// One write through either door, chosen by the seed; committed when it returns ok.
Status WriteSome(uint64_t seed, Store& cells, Points& points);

}  // namespace hg
