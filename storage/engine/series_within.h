#pragma once
// Finds the series that have rows in a range of time. The search uses the day indexes of the files.

#include <cstdint>
#include <vector>

#include "storage/base/request_context.h"
#include "storage/base/status.h"
#include "storage/engine/engine.h"
#include "storage/engine/version.h"
#include "storage/model/timestamp.h"

namespace hg::engine {

/// Removes from `series` the numbers of those series that have no rows of the points table in
/// `rows`. All series must belong to `metric` ("" = any metric). Compares rows in memory by hours,
/// and rows in files by days (UTC). If a file has rows in the range but no usable day index, no
/// series is removed. Does not check the TTL: the caller must first remove expired hours from
/// `rows` with NotExpired (embedded_scan.h). Returns Busy if `watch` (may be null) may not wait for
/// the disk. After Corruption (a damaged day index), `series` is unchanged.
Status KeepSeriesWithin(const Engine& engine, const Version& version, ByteView metric,
                        const RowRange& rows, RequestContext* watch, std::vector<uint32_t>* series);

}  // namespace hg::engine
