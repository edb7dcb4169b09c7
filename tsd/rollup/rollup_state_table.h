#pragma once
// The table that stores a RollupState. All cells are in family "t". Times and intervals are in
// seconds, as 4-byte numbers (u32). The list has one entry for each kind of row. An entry consists
// of the row key, the columns of the row, and the meaning of the value of each column (after →).
//   "complete"                       c → 1: all metrics have their rollups from before the start
//   "filled" ‖ metric                f → 1: this metric has its rollups from before the start; used
//                                    until "complete" is set
//   "level" ‖ name of the level      w → u32: the level's rollups are complete up to this time
//                                    i → how the level's cells are computed (MadeOf)
//   "table" ‖ name of the table      i → u32: the table holds automatic rollups of this interval
//   "mark" ‖ metric ‖ day u32        hour u32 → 1: this hour has a dirty marker
//   "odd" ‖ metric                   f → u32: from this day on, each hour counts as odd
//                                    u → u32: from this day on, some hours cannot be read
//   "start"                          s → u32: from this time on, rollups are computed hour by hour
//   "kept" ‖ metric                  k → u32: raw points before this time may be deleted
//                                    "l" ‖ place → u32: the level with its cells at this place
//                                    (PlaceOf) has kept rollups from this time on
//   "missed"                         m → 1: writes to the store were not recorded

#include <cstdint>
#include <limits>
#include <map>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "storage/base/status.h"
#include "storage/codec/rollup_tables.h"
#include "storage/store.h"

namespace hg::tsd {

/// States that the raw points of one metric before the time `before`, which is the start of a day,
/// may be deleted. `begins` has, for each level, the time from which the rollups of these points
/// are kept.
struct KeptRollups {
  uint32_t before = 0;
  /// For each level, the time in seconds from which its rollups are kept. The key is the result of
  /// PlaceOf for the level: its table, its interval, and the ids of its aggregates.
  std::map<Bytes, uint32_t> begins;

  /// Returns the time from which the level with the PlaceOf result `place` has kept rollups.
  /// Returns `before` if the level has no kept rollups.
  [[nodiscard]] uint32_t BeginOf(const Bytes& place) const;
  /// Returns a copy in which `before` is `later`. In the copy, levels that are not in `places` have
  /// no rollups for the days between the two times.
  [[nodiscard]] KeptRollups UpTo(uint32_t later, const std::vector<Bytes>& places) const;
};

/// The state of a metric that has too many odd hours (enum Odd in rollup_state.h) to give each of
/// them a marker. All hours of the metric from a certain day on count as odd.
struct OddFrom {
  uint32_t day = 0;  // start of the first day from which all hours count as odd
  /// The start of the first day that has an unreadable hour.
  uint32_t unreadable_day = std::numeric_limits<uint32_t>::max();
};

/// The id of a metric, and the base time in seconds of an hour.
using MetricHour = std::pair<Bytes, uint32_t>;

/// The state that earlier processes have stored in the table.
struct StoredRollupState {
  std::optional<uint32_t> start;
  bool complete = false, missed = false;
  /// Time up to which a level is complete, by name of the level.
  std::map<std::string, uint32_t> whole;
  std::map<std::string, Bytes> made;       // result of MadeOf, by name of the level
  std::map<std::string, uint32_t> tables;  // interval in seconds, by name of the table
  std::set<Bytes, std::less<>> filled;
  std::map<Bytes, KeptRollups, std::less<>> kept;
  std::map<Bytes, OddFrom, std::less<>> odd_from;
  std::set<MetricHour> markers;  // dirty markers, except those of hours whose points may be deleted
};

/// Reads and writes the rows of the table. Every function returns the errors of the store. The
/// object is thread-safe.
class RollupStateRows {
 public:
  /// `store` must outlive the object.
  RollupStateRows(Store& store, std::string name) : store_(store), name_(std::move(name)) {}

  /// Reads the whole table. Corruption: a row is invalid; the message contains the key of this row.
  Result<StoredRollupState> Load() const;

  /// Records that a process writes to the store without setting dirty markers.
  Status TellMissed();
  Status ForgetMissed();
  Status PutTable(const codec::RollupLevel& level);
  Status PutLevel(const codec::RollupLevel& level, const Bytes& made, uint32_t whole);
  Status PutWhole(const codec::RollupLevel& level, uint32_t to);
  Status PutStart(uint32_t start);
  Status PutFilled(const Bytes& metric);
  Status PutComplete();
  Status PutMarker(const MetricHour& hour);
  Status DropMarker(const MetricHour& hour);
  Status PutOddFrom(const Bytes& metric, const OddFrom& odd);
  /// Replaces the stored KeptRollups of a metric. `old` is the stored value, and `kept` is the new
  /// value.
  Status PutKept(const Bytes& metric, const KeptRollups& old, const KeptRollups& kept);
  /// Deletes all rows except three kinds: the records of kept rollups ("kept"), of the tables that
  /// hold rollups ("table"), and of missed changes ("missed").
  Status Clean();

 private:
  Status Put(const Bytes& key, const Bytes& qualifier, Bytes value);

  Store& store_;
  const std::string name_;
};

}  // namespace hg::tsd
