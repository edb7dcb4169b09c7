#pragma once
// Rollups that this process makes itself (docs/rollups.md): which hours of raw points stand whole
// in their tables, and how a range of hours is read then.

#include <cstdint>
#include <vector>

#include "storage/base/bytes.h"
#include "storage/codec/rollup_tables.h"
#include "storage/points/points.h"

namespace hg::query {

/// Of one level and one metric: each interval within [begin_s, end_s), both multiples of it, has
/// the cells that its raw points come to, or came to before retention deleted them.
struct RolledLevel {
  const codec::RollupLevel* level = nullptr;
  uint32_t begin_s = 0, end_s = 0;
};

struct RolledHours {
  std::vector<RolledLevel> levels;
  std::vector<uint32_t> changed;  // row bases whose points may differ from that; ascending
  uint32_t kept_before_s = 0;     // before it raw points may have been deleted for their age
  uint64_t times_forgotten = 0;   // another one: what was read meanwhile may be half made anew
};

/// Beside the points door of a query engine (RolledHoursOf): rollups are made by this process, and
/// change no answer. Thread-safe.
class RolledHoursSource {
 public:
  virtual ~RolledHoursSource() = default;
  /// Of the metric (UID bytes) and the rows' hours, as of now: who reads the tables afterwards
  /// finds what every write says that was acknowledged before.
  virtual RolledHours Of(ByteView metric, const RowRange& rows) = 0;
};

/// nullptr: rollups are others', and read as OpenTSDB does.
inline RolledHoursSource* RolledHoursOf(Points& points) {
  return dynamic_cast<RolledHoursSource*>(&points);
}

/// Some hours, and where they are read.
struct HoursPiece {
  const codec::RollupLevel* level = nullptr;  // nullptr: raw points
  uint32_t begin_s = 0, end_s = 0;

  bool operator==(const HoursPiece&) const = default;
};

/// The rows' hours in their order, from levels whose interval divides `interval_s`, the longest
/// first; raw points where none is whole. Pure.
std::vector<HoursPiece> CoverHours(const RolledHours& rolled, const RowRange& rows,
                                   int64_t interval_s);

/// The rows' hours of which rollups may be all that is left, from the shortest level that has them:
/// pieces without a level are left out. Pure.
std::vector<HoursPiece> CoverKept(const RolledHours& rolled, const RowRange& rows);

}  // namespace hg::query
