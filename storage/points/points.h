#pragma once
// The points door: series handles, timestamps, typed values (design.md §1). Ingest and query enter
// here. Implementations: points/embedded_points (row-hours in memory and in columns on disk),
// points/points_over_cells (the codec over any Store: the oracle of the tests, and HBase).

#include <algorithm>
#include <atomic>
#include <cmath>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "storage/base/bytes.h"
#include "storage/base/status.h"
#include "storage/base/work_watch.h"
#include "storage/model/point.h"
#include "storage/model/timestamp.h"
#include "storage/series_matcher.h"
#include "storage/store.h"

namespace hg {

/// A series as this process knows it; given by Points::Register, stable while the process runs.
using SeriesNumber = uint32_t;

/// A point ready to be stored. `qualifier`: the 2-byte form in the low 16 bits, or the 4-byte form
/// (top nibble F); it carries offset, resolution and value flags (spec schema.md §6.1). `bits` as
/// in PointValue.
struct PointEntry {
  SeriesNumber series = 0;
  uint32_t base = 0;  // row base, seconds
  uint32_t qualifier = 0;
  uint64_t bits = 0;
};

/// Builds an entry; the timestamp is in range (Timestamp::in_range).
PointEntry MakePointEntry(SeriesNumber series, Timestamp time, const PointValue& value);

/// Position in the store's log: what a writer waits for.
using LogPosition = uint64_t;

/// What the merging of rows met, for statistics (spec schema.md §20, compaction.*). Thread-safe;
/// totals.
struct MergeCounters {
  std::atomic<uint64_t> merges{0};  // rows settled, by readers and by rewrites
  // Points left out since their instant was taken: by the same value, by another one.
  std::atomic<uint64_t> identical{0}, variant{0};
};

/// How duplicates and old encodings of a row are settled by a reader (spec schema.md §9.4, §7.4).
struct ReconcileOptions {
  bool fix_duplicates = false;        // tsd.storage.fix_duplicates
  bool use_otsdb_timestamp = false;   // tsd.storage.use_otsdb_timestamp
  bool use_max_value = true;          // tsd.storage.use_max_value
  bool repair_appends = false;        // tsd.storage.repair_appends
  MergeCounters* counters = nullptr;  // nobody counts; else it outlives all who have these options
};

/// What the points of a row-hour come to. The sum is that of adding them as doubles, one after the
/// other from 0; none of them is NaN, an infinity or -0.0.
struct RowStatistics {
  uint32_t count = 0;
  uint32_t first_offset_ms = 0, last_offset_ms = 0;  // from the base
  bool all_double = false;                           // else all are integers
  double least = 0, most = 0, sum = 0;

  /// No sum of any of them is larger. Integers of less than 2^53 may be added in any order.
  [[nodiscard]] double magnitude() const {
    return count * std::max(std::abs(least), std::abs(most));
  }
  bool operator==(const RowStatistics&) const = default;
};

struct PointScanSpec {
  Bytes metric;  // metric UID bytes
  SeriesMatcher matcher;
  RowRange rows;  // row bases [begin, end)
  /// Rows may be given by their statistics instead of their points (RowHour::statistics).
  bool statistics = false;
  bool objects = false;  // also give annotations and histograms (odd-length qualifiers 01… and 06…)
  size_t batch_rows = 128;  // rows per fetch of a remote store
  /// Told of the scan's work and of the memory that grows with its range; outlives the scan.
  /// nullptr: nobody watches.
  WorkWatch* watch = nullptr;
};

/// One series, one hour, reconciled: at most one point per instant, ascending. The spans live until
/// the next call of Next on the scan that gave them.
struct RowHour {
  ByteView key;    // whole row key, salt included: order and errors
  ByteView tsuid;  // metric ‖ pairs
  uint32_t base = 0;
  std::span<const uint32_t> offset_ms;  // from base
  std::span<const uint64_t> value;      // int64, or the bits of a double (singles are widened)
  /// Same length as value (1 = double) when the row mixes; empty when all are ints or all are
  /// doubles.
  std::span<const uint8_t> is_double;
  bool all_double = false;  // meaningful when is_double is empty
  uint32_t stored_cells =
      0;  // cells OpenTSDB would have read for this row: limits are counted in them
  std::span<const Cell> objects;  // annotations (01…) and histograms (06…), if asked for
  /// Set: offset_ms and value are empty until PointScan::Load.
  const RowStatistics* statistics = nullptr;

  [[nodiscard]] size_t points() const {
    return statistics != nullptr ? statistics->count : value.size();
  }

  [[nodiscard]] bool double_at(size_t i) const {
    return is_double.empty() ? all_double : is_double[i] != 0;
  }
};

/// One reader's position. One thread at a time.
class PointScan {
 public:
  virtual ~PointScan() = default;
  /// The next row-hour: true and filled, or false at the end. For each series hours ascend; series
  /// may interleave. A row is given once. Corruption / InvalidArgument (duplicate instants) name
  /// the row; the query then fails. Rows whose key does not fit the layout end the scan with
  /// InvalidArgument after all regular rows were given. Fails as the watch says, too.
  virtual Result<bool> Next(RowHour* row) = 0;
  /// Fills in the points of the row that Next gave last, if it gave its statistics instead. Fails
  /// as Next does.
  virtual Status Load(RowHour* row) {
    (void)row;
    return {};
  }
  /// About how many rows will come, as far as that is known before any is read. 0: it is not.
  [[nodiscard]] virtual uint64_t RowsExpected() const { return 0; }
  /// Before the first Next, instead of it: scans that give the same rows one after the other, each
  /// good for a thread of its own; none if this one cannot be cut. It must outlive them.
  virtual std::vector<std::unique_ptr<PointScan>> Cut(size_t parts) {
    (void)parts;
    return {};
  }
};

/// Told by scans of each row whose stored form is not what reconciling it gives: worth a rewrite
/// once it is old (compaction/row_fold). Called on the scan's thread; thread-safe, does not block.
using UnsettledRowListener = std::function<void(ByteView key, uint32_t base)>;

/// Before which hour, seconds, all rows of a metric may go; 0: none may.
using EndOfRows = std::function<uint32_t(ByteView metric)>;

/// Thread-safe.
class Points {
 public:
  virtual ~Points() = default;

  [[nodiscard]] virtual const KeyLayout& layout() const = 0;

  /// The number of a series, new or known. tsuid = metric ‖ pairs sorted by UID bytes, at least one
  /// pair. Blocks (slow path, once per new spelling). Durable no later than the first point that
  /// uses it.
  virtual Result<SeriesNumber> Register(ByteView tsuid) = 0;

  /// Applies the entries; they are visible when it returns. After a failure some may be there: the
  /// same batch once more is harmless, as a point takes its own place. Busy over the memory budget,
  /// Unavailable after a failed log write. The result is what Commit must reach before the points
  /// may be acknowledged. Never waits for a disk: may be called on a network loop.
  virtual Result<LogPosition> Append(std::span<const PointEntry> batch) = 0;

  /// Makes the log durable up to `position` at the configured level, then calls done exactly once,
  /// on this thread before returning (none, buffered, mostly logged) or later on another (synced).
  /// `logged` costs one write(2) for everything pending, so call it once per turn of a loop. done
  /// must not block.
  virtual void Commit(LogPosition position, std::function<void(Status)> done) = 0;

  /// Blocks.
  virtual Result<std::unique_ptr<PointScan>> Scan(const PointScanSpec& spec,
                                                  const ReconcileOptions& options) = 0;

  /// Deletes the matching rows whole: points, annotations, histograms (spec schema.md §17). Blocks.
  virtual Status DeleteRows(const PointScanSpec& spec) = 0;

  /// Removes files unread of whose rows each may go: of the metrics that they may have, those of
  /// hours before `end_of`, which is asked once for each metric. What is not in such a file stays,
  /// also of the same rows: it is DeleteRows' that comes behind. An engine may leave any file, or
  /// have none. What was written before `end_of` answered is durable before a file goes. Blocks.
  virtual Status DropFiles(const EndOfRows& end_of) { return (void)end_of, Status(); }

  /// Calls visit with the TSUID of each known series of the metric ("" = every metric) that
  /// matches, until it returns false. Order: TSUID bytes.
  virtual Status ListSeries(ByteView metric, const SeriesMatcher& matcher,
                            const std::function<bool(ByteView tsuid)>& visit) = 0;

  /// True if ListSeries costs far less than a scan: who picks series by their names then does so
  /// before he scans.
  [[nodiscard]] virtual bool ListsFromIndex() const { return false; }

  /// True if reading heeds NoWait (storage/base/no_wait.h): what would wait for a disk, or look
  /// through many series, is refused under it.
  [[nodiscard]] virtual bool HeedsNoWait() const { return false; }

  /// At most once, before the first scan. An engine that never needs it may ignore it.
  virtual void ListenForUnsettledRows(UnsettledRowListener listener) { (void)listener; }
};

}  // namespace hg
