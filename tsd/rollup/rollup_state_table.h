#pragma once
// The table in which a RollupState outlives its process. Family "t":
//   "complete"                       c → 1: metrics of before the start are filled
//   "filled" ‖ metric                f → 1: until then, those which are
//   "level" ‖ name                   w → u32: whole up to there;  i → how its cells are made
//   "table" ‖ name                   i → u32: rollups of this interval, of our own making
//   "mark" ‖ metric ‖ day u32        hour u32 → 1
//   "odd" ‖ metric                   f → u32: from this day on each hour counts as odd;  u → u32:
//                                    and from this one on some cannot be read
//   "start"                          s → u32: filled hour by hour from there on
//   "kept" ‖ metric                  k → u32: before it raw points may be gone;  "l" ‖ where its
//                                    cells stand → u32: a level that has them, from there on
//   "missed"                         m → 1: the store was written to without this watching

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

/// Up to where raw points of a metric may be gone: whole days; and from where on levels have
/// rollups of what was there.
struct KeptRollups {
  uint32_t before = 0;
  std::map<Bytes, uint32_t> begins;  // by PlaceOf

  /// Of a level whose cells stand there; `before` where it has none of what is kept.
  [[nodiscard]] uint32_t BeginOf(const Bytes& place) const;
  /// The same up to a later day. What stands in none of `places` lacks what is kept from now on.
  [[nodiscard]] KeptRollups UpTo(uint32_t later, const std::vector<Bytes>& places) const;
};

/// Of a metric with too many odd hours to have a mark for each: all from a day on count as such.
struct OddFrom {
  uint32_t day = 0;  // its begin
  /// The first one with an hour that cannot be read.
  uint32_t unreadable_day = std::numeric_limits<uint32_t>::max();
};

/// A metric (UID bytes) and a row's base.
using MetricHour = std::pair<Bytes, uint32_t>;

/// What a process finds of the ones before it.
struct StoredRollupState {
  std::optional<uint32_t> start;
  bool complete = false, missed = false;
  std::map<std::string, uint32_t> whole;   // by level's name
  std::map<std::string, Bytes> made;       // the same: MadeOf
  std::map<std::string, uint32_t> tables;  // intervals, in seconds
  std::set<Bytes, std::less<>> filled;
  std::map<Bytes, KeptRollups, std::less<>> kept;
  std::map<Bytes, OddFrom, std::less<>> odd_from;
  std::set<MetricHour> marks;  // but for those of points that may be gone
};

/// Fails as the store does. Thread-safe.
class RollupStateRows {
 public:
  /// The store outlives it.
  RollupStateRows(Store& store, std::string name) : store_(store), name_(std::move(name)) {}

  /// Corruption names a row that cannot be.
  Result<StoredRollupState> Load() const;

  /// The store is, or will be, written to by somebody who leaves no marks.
  Status TellMissed();
  Status ForgetMissed();
  Status PutTable(const codec::RollupLevel& level);
  Status PutLevel(const codec::RollupLevel& level, const Bytes& made, uint32_t whole);
  Status PutWhole(const codec::RollupLevel& level, uint32_t to);
  Status PutStart(uint32_t start);
  Status PutFilled(const Bytes& metric);
  Status PutComplete();
  Status PutMark(const MetricHour& hour);
  Status DropMark(const MetricHour& hour);
  Status PutOddFrom(const Bytes& metric, const OddFrom& odd);
  /// In place of `old`.
  Status PutKept(const Bytes& metric, const KeptRollups& old, const KeptRollups& kept);
  /// Deletes all but what is kept, whose the tables are, and what was missed.
  Status Clean();

 private:
  Status Put(const Bytes& key, const Bytes& qualifier, Bytes value);

  Store& store_;
  const std::string name_;
};

}  // namespace hg::tsd
