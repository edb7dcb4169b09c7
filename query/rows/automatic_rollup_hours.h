#pragma once
// Finds the hours for which the tables of automatic rollups are complete (docs/rollups.md). Divides
// a range of hours into parts that are read from raw points and parts that are read from these
// tables.

#include <cstdint>
#include <vector>

#include "storage/base/bytes.h"
#include "storage/codec/rollup_tables.h"
#include "storage/points/points.h"

namespace hg::query {

/// The times for which the table of one rollup level has complete data of one metric. For each
/// interval in [begin_s, end_s), the table has all cells that were computed from the raw points of
/// the interval. Retention may have deleted these raw points. Both begin_s and end_s are in seconds
/// and are multiples of the interval.
struct RolledLevel {
  const codec::RollupLevel* level = nullptr;
  uint32_t begin_s = 0, end_s = 0;
};

struct RolledHours {
  std::vector<RolledLevel> levels;
  // The hours whose raw points may have changed after their rollups were computed, as base times in
  // seconds, ascending.
  std::vector<uint32_t> changed;
  uint32_t kept_before_s = 0;  // in seconds; retention may have deleted raw points before this time
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
  /// write of a client was acknowledged before this call, queries that use the returned state
  /// return the written points.
  virtual RolledHours Of(ByteView metric, const RowRange& rows) = 0;
};

/// A time range that is read from one table. Both ends are in seconds; end_s is not included.
struct HoursPiece {
  const codec::RollupLevel* level = nullptr;  // the rollup level to read; nullptr = raw points
  uint32_t begin_s = 0, end_s = 0;

  bool operator==(const HoursPiece&) const = default;
};

/// Splits `rows` into pieces, in ascending order. A rollup level can be used for a piece if its
/// table is complete in the piece and its interval divides `interval_s`. Each piece uses the usable
/// level with the longest interval. If no level is usable, the piece uses raw points. Does no I/O.
std::vector<HoursPiece> CoverHours(const RolledHours& rolled, const RowRange& rows,
                                   int64_t interval_s);

/// Returns pieces for the part of `rows` before rolled.kept_before_s, because the raw points of
/// these hours may have been deleted. Each piece uses the rollup level with the shortest interval
/// that is complete in the piece. Hours for which no level is complete are left out. Does no I/O.
std::vector<HoursPiece> CoverKept(const RolledHours& rolled, const RowRange& rows);

}  // namespace hg::query
