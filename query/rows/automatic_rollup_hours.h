#pragma once
// Finds the hours of raw points that are completely in the tables of automatic rollups
// (docs/rollups.md), and divides a range of hours between raw points and these tables.

#include <cstdint>
#include <vector>

#include "storage/base/bytes.h"
#include "storage/codec/rollup_tables.h"
#include "storage/points/points.h"

namespace hg::query {

/// The times for which one rollup level of one metric is complete. For each interval within
/// [begin_s, end_s), the rollup table has the cells that were computed from its raw points.
/// Retention may have deleted these raw points. Both ends are multiples of the interval.
struct RolledLevel {
  const codec::RollupLevel* level = nullptr;
  uint32_t begin_s = 0, end_s = 0;
};

struct RolledHours {
  std::vector<RolledLevel> levels;
  // Bases of rows that may have changed since their rollups were computed; ascending.
  std::vector<uint32_t> changed;
  uint32_t kept_before_s = 0;  // retention may have deleted raw points before this time
  // A counter that changes when rollups are discarded and computed again. Do not combine cells that
  // were read before such a change with cells that were read after it.
  uint64_t times_forgotten = 0;
};

/// The state of the rollups that this process computes. Queries that use these rollups return the
/// same results as without them. Thread-safe.
class RolledHoursSource {
 public:
  virtual ~RolledHoursSource() = default;
  /// Returns the current state for a metric (UID bytes) and the hours of `rows`. Rollup tables that
  /// are read after this call contain every write that was acknowledged before the call.
  virtual RolledHours Of(ByteView metric, const RowRange& rows) = 0;
};

/// A range of hours, and the table from which this range is read.
struct HoursPiece {
  const codec::RollupLevel* level = nullptr;  // nullptr = raw points
  uint32_t begin_s = 0, end_s = 0;

  bool operator==(const HoursPiece&) const = default;
};

/// Splits `rows` into pieces, in ascending order. Each piece uses the level with the longest
/// interval among those that are complete there and whose interval divides `interval_s`. Pieces
/// without such a level use raw points. Free of I/O.
std::vector<HoursPiece> CoverHours(const RolledHours& rolled, const RowRange& rows,
                                   int64_t interval_s);

/// Returns pieces for those hours of `rows` whose raw points may have been deleted. Each piece uses
/// the shortest level that has its hours. Hours that no level has are left out. Free of I/O.
std::vector<HoursPiece> CoverKept(const RolledHours& rolled, const RowRange& rows);

}  // namespace hg::query
