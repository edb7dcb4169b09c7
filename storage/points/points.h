#pragma once
// The interface of the point store: series numbers, timestamps, typed values. Ingestion and queries
// use this interface. There are two implementations: engine/embedded_points (row-hours in memory
// and in files) and points/points_over_cells (OpenTSDB's cell format over any Store).
// PointsOverCells is used for HBase and for tests.

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
#include "storage/base/request_context.h"
#include "storage/base/status.h"
#include "storage/model/point.h"
#include "storage/model/timestamp.h"
#include "storage/series_matcher.h"
#include "storage/store.h"

namespace hg {

/// The number of a series in this process. Points::Register assigns the number. The number is valid
/// until the store forgets the series because the series has no rows left. No other series ever
/// gets this number.
using SeriesNumber = uint32_t;

/// A point that is ready to be stored. `qualifier` is the 2-byte form in the low 16 bits, or the
/// 4-byte form (top nibble F). It has the offset, the resolution and the flags of the value
/// (opentsdb-schema.md §6.1). `bits` has the same meaning as in PointValue.
struct PointEntry {
  SeriesNumber series = 0;
  uint32_t base = 0;  // base time of the row, in seconds
  uint32_t qualifier = 0;
  uint64_t bits = 0;
};

/// Makes a PointEntry. `time` must be in range (Timestamp::in_range).
PointEntry MakePointEntry(SeriesNumber series, Timestamp time, const PointValue& value);

/// A position in the log of the store. Writers wait until the log is durable up to a position
/// (Points::Commit).
using LogPosition = uint64_t;

/// The total numbers of merged rows and dropped points (opentsdb-schema.md §20, compaction.*).
/// Thread-safe.
struct MergeCounters {
  std::atomic<uint64_t> merges{0};  // number of rows merged by readers and by rewrites
  // Number of points that were dropped because another point has the same time. `identical` counts
  // dropped points with the same value, and `variant` dropped points with another value.
  std::atomic<uint64_t> identical{0}, variant{0};
};

/// The settings by which a reader resolves duplicate points and old encodings of a row
/// (opentsdb-schema.md §9.4, §7.4).
struct ReconcileOptions {
  bool fix_duplicates = false;       // tsd.storage.fix_duplicates
  bool use_otsdb_timestamp = false;  // tsd.storage.use_otsdb_timestamp
  bool use_max_value = true;         // tsd.storage.use_max_value
  bool repair_appends = false;       // tsd.storage.repair_appends
  // The counters must outlive all users of these options. nullptr means that nothing is counted.
  MergeCounters* counters = nullptr;
};

/// Statistics of the points of a row-hour. `sum` is the result of adding the values as doubles in
/// order of time, starting at 0. No value is NaN, an infinity or -0.0.
struct RowStatistics {
  uint32_t count = 0;
  uint32_t first_offset_ms = 0, last_offset_ms = 0;  // milliseconds from the base time
  bool all_double = false;  // true: all values are doubles; false: all are integers
  double least = 0, most = 0, sum = 0;

  /// Returns an upper bound for the magnitude of every partial sum, in any order of addition. If
  /// the bound is below 2^53, integers may be added in any order.
  [[nodiscard]] double magnitude() const {
    return count * std::max(std::abs(least), std::abs(most));
  }
  bool operator==(const RowStatistics&) const = default;
};

struct PointScanSpec {
  Bytes metric;  // metric UID bytes
  SeriesMatcher matcher;
  RowRange rows;  // base times of rows, [begin, end)
  /// Whether Next may return statistics of a row instead of its points (RowHour::statistics).
  bool statistics = false;
  // Whether to return annotations and histograms, too (odd-length qualifiers 01… and 06…).
  bool objects = false;
  // If this member is false, the scan may return annotations and histograms without their values,
  // so that it needs less memory.
  bool object_values = true;
  size_t batch_rows = 128;  // number of rows per fetch from a remote store
  /// The context of the request. The scan reports its work to this context. It also charges memory
  /// to the context if this memory grows with the range of the scan. The context must outlive the
  /// scan. nullptr means no limits.
  RequestContext* watch = nullptr;
};

/// One hour of one series after duplicates were resolved: at most one point per time, in ascending
/// order of time. The spans are valid until the next call of Next for the scan.
struct RowHour {
  ByteView key;    // whole row key including salt; for order and for error messages
  ByteView tsuid;  // metric ‖ tag pairs
  uint32_t base = 0;
  std::span<const uint32_t> offset_ms;  // milliseconds from the base time
  std::span<const uint64_t> value;      // int64, or the bits of a double (floats are widened)
  /// For each value, 1 if the value is a double and 0 if it is an integer. Empty if all values are
  /// integers or all values are doubles.
  std::span<const uint8_t> is_double;
  bool all_double = false;  // whether all values are doubles; meaningful if is_double is empty
  // The number of cells that OpenTSDB would have read for this row. Query limits count these cells.
  uint32_t stored_cells = 0;
  std::span<const Cell> objects;  // annotations (01…) and histograms (06…), if requested
  /// If not null, Next has returned only statistics. offset_ms and value are then empty until
  /// PointScan::Load is called.
  const RowStatistics* statistics = nullptr;

  [[nodiscard]] size_t points() const {
    return statistics != nullptr ? statistics->count : value.size();
  }

  [[nodiscard]] bool double_at(size_t i) const {
    return is_double.empty() ? all_double : is_double[i] != 0;
  }
};

/// Statistics of one hour of a series.
struct HourStatistics {
  uint32_t base = 0;
  RowStatistics statistics;
};

/// A scan of points for one reader. Not thread-safe.
class PointScan {
 public:
  virtual ~PointScan() = default;
  /// Sets `row` to the next row-hour and returns true, or returns false if there are no more rows.
  /// The hours of a series are in ascending order; hours of different series may alternate. Each
  /// row is returned once. The scan ends after Corruption or InvalidArgument (duplicate times),
  /// whose messages name the row. If row keys do not fit the layout, the scan first returns all
  /// other rows and then InvalidArgument. Next also returns the errors of PointScanSpec::watch.
  virtual Result<bool> Next(RowHour* row) = 0;
  /// Loads the points of the last row, if Next has returned only its statistics. Returns the same
  /// errors as Next.
  virtual Status Load(RowHour* row) {
    (void)row;
    return {};
  }
  /// Returns an estimate of the number of rows before reading. 0 means that the number is unknown.
  [[nodiscard]] virtual uint64_t RowsExpected() const { return 0; }
  /// Divides the scan into scans for parallel reading. Call this function before the first Next,
  /// and do not call Next of this scan afterwards. The returned scans together return the same rows
  /// in the same order. Each returned scan may be used on its own thread. Returns an empty list if
  /// the scan cannot be divided. This scan must outlive the returned scans.
  virtual std::vector<std::unique_ptr<PointScan>> Cut(size_t parts) {
    (void)parts;
    return {};
  }

  // The following functions are for callers that use statistics of several rows at once.

  /// Returns whether most rows are expected to have statistics, which are much cheaper to read than
  /// points. Call this function before the first call of Next.
  [[nodiscard]] virtual bool ExpectsStatistics() const { return false; }
  /// Returns the statistics of the next rows of the same series. Call this function after Next has
  /// returned a row with statistics. The result ends before the first row that has no statistics or
  /// would have to be read from disk. The span may be empty, and is valid until the next call of
  /// Next.
  virtual std::span<const HourStatistics> StatisticsAhead() { return {}; }
  /// Skips the first `rows` of the rows that StatisticsAhead returned. Next does not return the
  /// skipped rows.
  virtual void Pass(size_t rows) { (void)rows; }

  // The following functions are for callers that read a series twice.

  /// Returns whether rows of a series are neighbours, and RepeatSeries can return to the first.
  [[nodiscard]] virtual bool RepeatsSeries() const { return false; }
  /// Goes back to the beginning of the current series. Next returns the rows of the series again,
  /// from the first row on. Only allowed if RepeatsSeries returns true.
  virtual void RepeatSeries() {}
  /// Returns the distance in ms between neighbouring points of the last row if this distance is
  /// constant, and 0 otherwise. Call this function after Next has returned a row with statistics.
  /// Only allowed if RepeatsSeries returns true.
  [[nodiscard]] virtual uint32_t StepMs() const { return 0; }
};

/// A function that a scan calls for each row that row compaction would change, for example because
/// the row has two points for one time. The row should be rewritten once it is old
/// (compaction/row_compactor). The scan calls the function on its own thread. The function must be
/// thread-safe and must not block.
using UnsettledRowListener = std::function<void(ByteView key, uint32_t base)>;

/// A function that returns the hour (in seconds) before which all rows of a metric may be deleted.
/// 0 means that no rows of the metric may be deleted.
using EndOfRows = std::function<uint32_t(ByteView metric)>;

class WatchedPoints;  // defined in storage/points/watched_points.h

/// The point store. Thread-safe.
class Points {
 public:
  virtual ~Points() = default;

  [[nodiscard]] virtual const KeyLayout& layout() const = 0;

  /// Returns the number of a new or known series. `tsuid` is metric ‖ tag pairs, sorted by UID
  /// bytes, with at least one pair. The call may block. Ingestion calls this function only once per
  /// new raw series key. The registration becomes durable no later than the first point of the
  /// series.
  virtual Result<SeriesNumber> Register(ByteView tsuid) = 0;
  /// Registers the series in order and sets `numbers` to their numbers. After a failure, any of the
  /// series may be registered. The call may block.
  virtual Status RegisterAll(std::span<const ByteView> tsuids, SeriesNumber* numbers);
  /// Returns the lowest series number that is not assigned. 0 means that this store does not list
  /// series by number. Takes no lock.
  [[nodiscard]] virtual SeriesNumber series_count() const { return 0; }
  /// Returns the TSUID of a series, or "" if the store has forgotten the series because the series
  /// had no rows left. `number` must be below series_count().
  [[nodiscard]] virtual Bytes TsuidOf(SeriesNumber number) const { return (void)number, Bytes(); }

  /// Stores the entries of a batch. Readers see the entries when the function returns. After a
  /// failure, some entries may be stored. Repeating a batch is harmless, because each point
  /// overwrites itself. Returns Busy if the memory limit is reached, and Unavailable if a log write
  /// failed. Returns NotFound if the store has forgotten a series of the batch (TsuidOf). In this
  /// case, the caller must register the series again and repeat the batch with its new number. The
  /// result is a position. Commit must reach this position before the points may be acknowledged.
  /// Append never waits for a disk if AppendMayWait returns false, so network loops may call it
  /// then. An empty batch fails when other batches would fail. The position for an empty batch
  /// covers all writes to the store that have returned.
  virtual Result<LogPosition> Append(std::span<const PointEntry> batch) = 0;
  /// Returns whether Append may wait for a disk: it reports changes of rows that are below the
  /// horizon (WatchedPoints), and the metrics of their series may be in files.
  [[nodiscard]] virtual bool AppendMayWait(std::span<const PointEntry> /*batch*/) const {
    return false;
  }

  /// Makes the log durable up to `position` at the configured durability, and then calls `done`
  /// exactly once. With the durabilities none and buffered, and usually also with logged, `done`
  /// runs on this thread before Commit returns. With the durability synced, `done` runs later on
  /// another thread. With the durability logged, each call makes one system call for all pending
  /// records, so an event loop should call Commit once per turn of the loop. `done` must not block.
  virtual void Commit(LogPosition position, std::function<void(Status)> done) = 0;

  /// Opens a scan of points. The call may block.
  virtual Result<std::unique_ptr<PointScan>> Scan(const PointScanSpec& spec,
                                                  const ReconcileOptions& options) = 0;

  /// Deletes the matching rows completely, with points, annotations and histograms
  /// (opentsdb-schema.md §17). The call may block.
  virtual Status DeleteRows(const PointScanSpec& spec) = 0;

  /// Deletes whole files without reading them. A file is deleted only if all its rows are older
  /// than the hour that `end_of` returns for their metric. `end_of` is called once per metric. Data
  /// of the same rows in other files or in memory stays; the caller must delete this data with
  /// DeleteRows. An engine may keep any file, and may have no files. Before a file is deleted, all
  /// data that was written before `end_of` returned is durable. The call may block.
  virtual Status DropFiles(const EndOfRows& end_of) { return (void)end_of, Status(); }

  /// Calls `visit` with the TSUID of each known series of the metric ("" = every metric) that
  /// matches, until `visit` returns false. The order of series is that of their TSUID bytes.
  /// `watch` is the context of the request; nullptr means no limits. The search reports its work
  /// and its memory to `watch`, and `visit` must report its own work. No lock is held while `visit`
  /// runs, so `visit` may use the store.
  virtual Status ListSeries(ByteView metric, const SeriesMatcher& matcher, RequestContext* watch,
                            const std::function<bool(ByteView tsuid)>& visit) = 0;

  /// Calls `visit` as ListSeries does, but leaves out series that have no rows in `rows`. The store
  /// knows the rows of a series by day (UTC) or more exactly. Therefore the store may also visit a
  /// series that has rows only in other hours of the first or the last day, or whose rows were
  /// deleted or have expired. A store that does not know the days visits all series. The function
  /// reports its work to `watch`.
  virtual Status ListSeriesWithin(ByteView metric, const SeriesMatcher& matcher,
                                  const RowRange& rows, RequestContext* watch,
                                  const std::function<bool(ByteView tsuid)>& visit) {
    return (void)rows, ListSeries(metric, matcher, watch, visit);
  }

  /// Returns the number of known series of one metric. `watch` is the context of the request;
  /// nullptr means no limits. If the request must end, returns the error of `watch`. The call may
  /// block.
  virtual Result<uint64_t> CountSeries(ByteView metric, RequestContext* watch) {
    uint64_t count = 0;
    RETURN_IF_ERROR(ListSeries(metric, {}, watch, [&count](ByteView) { return ++count > 0; }));
    return count;
  }
  /// Returns the ids of all metrics that have known series, in ascending order. The list may also
  /// have metrics whose series the store has forgotten. `watch` has the same meaning as for
  /// CountSeries. The call may block.
  virtual Result<std::vector<Bytes>> ListMetrics(RequestContext* watch);

  /// Returns whether ListSeries costs much less than a scan. If true, callers that select series by
  /// name should list the series before they scan.
  [[nodiscard]] virtual bool ListsFromIndex() const { return false; }

  /// Returns whether reads call RequestContext::MayWait before they wait. If true, an event loop
  /// may try reads. If false, reads may block without a call of MayWait.
  [[nodiscard]] virtual bool ReadsAskToWait() const { return false; }

  /// Sets the listener for rows that should be rewritten. Call this function at most once, before
  /// the first scan. An engine that needs no rewrites may ignore the listener.
  virtual void ListenForUnsettledRows(UnsettledRowListener listener) { (void)listener; }

  /// Returns the interface that reports changes of old rows. Returns nullptr if this store cannot
  /// report changes of old rows.
  [[nodiscard]] virtual WatchedPoints* watched() { return nullptr; }
};

inline Status Points::RegisterAll(std::span<const ByteView> tsuids, SeriesNumber* numbers) {
  for (const ByteView tsuid : tsuids) {
    ASSIGN_OR_RETURN(*numbers, Register(tsuid));
    ++numbers;
  }
  return {};
}

inline Result<std::vector<Bytes>> Points::ListMetrics(RequestContext* watch) {
  std::vector<Bytes> metrics;
  RETURN_IF_ERROR(ListSeries("", {}, watch, [&](ByteView tsuid) {
    const ByteView metric = tsuid.substr(0, static_cast<size_t>(layout().metric_width));
    if (metrics.empty() || metrics.back() != metric) metrics.emplace_back(metric);
    return true;
  }));
  return metrics;
}

}  // namespace hg
