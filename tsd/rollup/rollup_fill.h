#pragma once
// Recomputes the rollups of some hours of a metric from the raw points. It writes only the cells
// that differ from the cells in the tables. Repeating the work is harmless.

#include <atomic>
#include <cstdint>
#include <functional>
#include <map>
#include <span>
#include <string>
#include <vector>

#include "storage/base/request_context.h"
#include "storage/base/status.h"
#include "storage/codec/rollup_tables.h"
#include "storage/points/points.h"
#include "storage/store.h"
#include "tsd/rollup/rollup_state.h"
#include "tsd/rollup/rollup_sum.h"

namespace hg::tsd {

/// A range of hours. Its start and its end are multiples of the interval of each level that is
/// filled.
struct RollupSpan {
  uint32_t begin_s = 0, end_s = 0;
};

/// An hour whose data cannot be represented completely by rollups.
struct OddHour {
  Odd odd = Odd::kExtras;
  std::string why;
};
using OddHours = std::map<uint32_t, OddHour>;

/// Returns whether the data itself causes the failure, so that retrying does not help until the
/// points change.
inline bool IsOfData(const Status& status) {
  return status.code() == StatusCode::kInvalidArgument || status.code() == StatusCode::kCorruption;
}

/// Recomputes rollups. Only one thread at a time may use the object, but any thread may call
/// rows_written().
class RollupFill {
 public:
  using Levels = std::vector<const codec::RollupLevel*>;

  static constexpr size_t kSeriesMax = 4096;
  static constexpr size_t kIntervalsAtOnce = size_t{256} * 1024;
  /// Returns the number of series whose rollups are in memory at the same time. These series have
  /// at most kIntervalsAtOnce intervals in total. The number is at least 1 and at most kSeriesMax.
  [[nodiscard]] static size_t SeriesAtOnce(const RollupSpan& span, const Levels& levels);

  /// The references must outlive the object. The object calls `pause` between two batches of work.
  /// `pause` may wait. If `pause` returns an error, the work ends with that error. The object lists
  /// and scans with `context`, whose errors end the work in the middle of a batch.
  RollupFill(Points& points, Store& store, const RollupIds& ids, ReconcileOptions reconcile,
             std::function<Status()> pause, RequestContext& context)
      : points_(points),
        store_(store),
        ids_(ids),
        reconcile_(reconcile),
        pause_(std::move(pause)),
        context_(context) {}

  /// Recomputes the rollups of a metric. Adds to `odd` the hours whose data cannot be represented
  /// completely by rollups. An interval that contains an hour with unreadable points gets no
  /// rollups; all other intervals get rollups. Fails if the store, `pause` or `context` reports
  /// an error. After an error, a part of the rollups may be written.
  Status Fill(ByteView metric, const RollupSpan& span, const Levels& levels, OddHours* odd);
  /// Deletes the cells in the table of the level. The cells of a metric for intervals before
  /// kept_before(metric) stay. Fails if the store, `pause` or `context` reports an error.
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
  RequestContext& context_;
  std::atomic<uint64_t> rows_written_{0};
};

}  // namespace hg::tsd
