#pragma once
// Finds the hours whose raw points are completely included in the tables of automatic rollups
// (docs/rollups.md). Divides a range of hours into parts that are read from raw points and parts
// that are read from these tables.

#include <cstdint>
#include <vector>

#include "storage/base/bytes.h"
#include "storage/codec/rollup_tables.h"
#include "storage/points/points.h"

namespace hg::query {

/// The times for which one rollup level of one metric is complete. For each interval in [begin_s,
/// end_s), the rollup table has all cells that were computed from the raw points of the interval.
/// Retention may have deleted these raw points. Both begin_s and end_s are multiples of the
/// interval.
struct RolledLevel {
  const codec::RollupLevel* level = nullptr;
  uint32_t begin_s = 0, end_s = 0;
};

struct RolledHours {
  std::vector<RolledLevel> levels;
  // Row bases, ascending, of rows that may have changed after their rollups were computed.
  std::vector<uint32_t> changed;
  uint32_t kept_before_s = 0;  // retention may have deleted raw points before this time
  // A counter that increases when all rollups are discarded and computed again. Cells that were
  // read before an increase must not be combined with cells that were read after it.
  uint64_t times_forgotten = 0;
};

/// The state of the rollups that this process computes. Queries return the same results with these
/// rollups as without them. The object is thread-safe.
class RolledHoursSource {
 public:
  virtual ~RolledHoursSource() = default;
  /// Returns the current state of the rollups of a metric (UID bytes) for the hours of `rows`. If a
  /// client's write was acknowledged before this call, rollup tables that are read after this call
  /// contain the write.
  virtual RolledHours Of(ByteView metric, const RowRange& rows) = 0;
};

/// A range of hours that is read from one table.
struct HoursPiece {
  const codec::RollupLevel* level = nullptr;  // the rollup level to read; nullptr = raw points
  uint32_t begin_s = 0, end_s = 0;

  bool operator==(const HoursPiece&) const = default;
};

/// Splits `rows` into pieces, in ascending order. Each piece uses a rollup level that is complete
/// in the piece and whose interval divides `interval_s`. If there are several such levels, the
/// piece uses the one with the longest interval; if there is none, the piece uses raw points. Does
/// no I/O.
std::vector<HoursPiece> CoverHours(const RolledHours& rolled, const RowRange& rows,
                                   int64_t interval_s);

/// Returns pieces for the hours of `rows` whose raw points may have been deleted. Each piece uses
/// the rollup level with the shortest interval that has the hours of the piece. Hours that are in
/// no level are left out. Does no I/O.
std::vector<HoursPiece> CoverKept(const RolledHours& rolled, const RowRange& rows);

}  // namespace hg::query
