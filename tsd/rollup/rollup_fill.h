#pragma once
// Makes the rollups of some hours of a metric anew from its raw points, and writes what differs
// from what the tables hold. Done twice it changes nothing.

#include <atomic>
#include <cstdint>
#include <functional>
#include <map>
#include <span>
#include <string>
#include <vector>

#include "storage/base/status.h"
#include "storage/base/work_watch.h"
#include "storage/codec/rollup_tables.h"
#include "storage/points/points.h"
#include "storage/store.h"
#include "tsd/rollup/rollup_state.h"
#include "tsd/rollup/rollup_sum.h"

namespace hg::tsd {

/// Some hours: of each level that is filled both ends are multiples of its interval.
struct RollupSpan {
  uint32_t begin_s = 0, end_s = 0;
};

/// Of an hour that rollups do not tell all of.
struct OddHour {
  Odd odd = Odd::kExtras;
  std::string why;
};
using OddHours = std::map<uint32_t, OddHour>;

/// One thread at a time, but for rows_written.
class RollupFill {
 public:
  using Levels = std::vector<const codec::RollupLevel*>;

  static constexpr size_t kSeriesMax = 4096;
  static constexpr size_t kIntervalsAtOnce = size_t{256} * 1024;
  /// Series whose rollups are held in memory at once: so many that they have no more intervals than
  /// that, one at least.
  [[nodiscard]] static size_t SeriesAtOnce(const RollupSpan& span, const Levels& levels);

  /// The references outlive it. `pause` is called between two batches: it may wait, or end the
  /// work.
  RollupFill(Points& points, Store& store, const RollupIds& ids, ReconcileOptions reconcile,
             std::function<Status()> pause)
      : points_(points),
        store_(store),
        ids_(ids),
        reconcile_(reconcile),
        pause_(std::move(pause)) {}

  /// Fails as storage does, or as `pause` says, some of it done. `odd`: hours are put in that
  /// rollups do not tell all of. One whose points cannot be read has none, which keeps no other
  /// hour from being filled.
  Status Fill(ByteView metric, const RollupSpan& span, const Levels& levels, OddHours* odd);
  /// Deletes all cells of the level's table, but for those of a metric before what `kept_before`
  /// says of it. Fails as Fill does.
  Status Clear(const codec::RollupLevel& level,
               const std::function<uint32_t(const Bytes& metric)>& kept_before);

  [[nodiscard]] uint64_t rows_written() const { return rows_written_; }

 private:
  Status FillBatch(std::span<const Bytes> tsuids, ByteView metric, const RollupSpan& span,
                   const Levels& levels, OddHours* odd);
  Status FillAround(std::span<const Bytes> tsuids, ByteView metric, const RollupSpan& day,
                    const Levels& levels, OddHours* odd);
  Status FillSeries(std::span<const Bytes> tsuids, ByteView metric, const RollupSpan& span,
                    const Levels& levels, OddHours* odd);
  Status WriteLevel(std::span<const Bytes> tsuids, const RollupSpan& span,
                    const codec::RollupLevel& level,
                    const std::vector<std::vector<RollupSum>>& sums);

  Points& points_;
  Store& store_;
  const RollupIds ids_;
  const ReconcileOptions reconcile_;
  const std::function<Status()> pause_;
  std::atomic<uint64_t> rows_written_{0};
};

}  // namespace hg::tsd
