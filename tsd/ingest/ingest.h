#pragma once
// The write path between the parsers and the point store. A point whose raw series key is known
// needs only one look-up. For any other point, the write path resolves names and ids, and registers
// the series.

#include <atomic>
#include <string>

#include "storage/model/point_sink.h"
#include "storage/points/points.h"
#include "tsd/ingest/series_resolver.h"
#include "uid/names.h"

namespace hg::tsd {

/// The write path of points. The object is thread-safe.
class Ingest : public PointSink {
 public:
  /// `points`, `names` and `limits` must outlive the object. If `limits` is nullptr, metrics have
  /// no limits.
  Ingest(Points& points, uid::Names& names, IngestOptions options, MetricLimits* limits = nullptr);

  Result<Appended> AppendKeyed(std::span<const KeyedPoint> points, WriteContext& context) override;
  Learned AppendLearning(std::span<const KeyedPoint> points, WriteContext& context) override;
  Result<Appended> AppendLines(std::span<const KeyedLine> lines, std::span<const KeyedField> fields,
                               WriteContext& context) override;
  Position AppendNamed(std::span<const NamedPoint> points, WriteContext& context,
                       std::vector<Status>* results) override;
  Status AdmitSeries(ByteView tsuid, WriteContext& context) override;
  void Commit(Position position, std::function<void(Status)> done) override;
  void ForgetRawKeys() override;
  [[nodiscard]] size_t tags_max() const override;

  /// Returns the series of a point, without storing the point. Checks the names of the point, and
  /// registers the series if necessary. The importer calls this function, because it resolves the
  /// series before it checks the value (opentsdb-tools.md §5). Returns the same errors as
  /// AppendNamed. The call may block.
  Result<SeriesNumber> Resolve(const NamedPoint& point, WriteContext& context);

  /// Checks the names and the number of tags of a point. This is also the first step of
  /// AppendNamed.
  [[nodiscard]] Status CheckNames(const NamedPoint& point) const;

  // The following functions are for histograms and rollups (histogram_ingest.h, rollup_ingest.h).
  // In limits and counters, each histogram and each rollup counts as one point.

  /// Checks whether the rate limits of the writer and of the metrics allow `values` more values.
  /// Returns the errors of LimitedSink::AskFor.
  Status AskForValues(std::span<const std::string_view> metrics, uint64_t values,
                      WriteContext& context);
  /// Returns the TSUID of a point. Checks and resolves the names of the point, and counts the
  /// series if it is new. The time of the point is ignored. Returns the same errors as AppendNamed.
  /// The call may block.
  Result<Bytes> ResolveTsuid(const NamedPoint& point, WriteContext& context);
  /// Returns a position in the log. Once the log is durable up to this position, all writes to the
  /// store that returned before this call are durable.
  Result<LogPosition> Written() { return points_.Append({}); }
  /// Counts one stored value of this series towards the limits and counters.
  void ChargeValue(std::string_view metric, ByteView tsuid, WriteContext& context);

  /// Returns the tag formats that clients have used, including those of earlier processes
  /// (StoredTagFormats).
  TagFormats& formats();
  /// Computes the raw series keys of all series from the tag formats and the names, because clients
  /// will probably send these keys. Stores the keys in the table of raw series keys
  /// (raw_key_recall.h). Does nothing if the store does not list its series. Ends early when `stop`
  /// becomes true. Returns false if there was not enough memory for all keys. May run at the same
  /// time as all other functions. The call may block.
  Result<bool> RecallRawKeys(const std::atomic<bool>& stop);

  struct Stats {
    uint64_t raw_keys = 0;
    uint64_t raw_key_bytes = 0;
    uint64_t points = 0;  // number of stored points
  };
  [[nodiscard]] Stats stats() const;

 private:
  /// Stores points of known series. numbers[i] is the series of points[i]. If `may_wait` is false
  /// and the store would have to wait for a disk, stores nothing and sets `known` to false.
  Result<Appended> StoreKeyed(std::span<const KeyedPoint> points,
                              std::span<const SeriesNumber> numbers, bool may_wait,
                              WriteContext& context);
  Result<LogPosition> Store(std::span<const PointEntry> entries, WriteContext& context);
  /// The store forgets a series that has no rows left, and such a series needs a new number. The
  /// function resolves the forgotten series of the entries again. entries[i] belongs to
  /// points[places[i]]. If a series is refused, the function removes its entry and sets the result
  /// of the point. Returns whether the store had forgotten a series.
  bool ResolveForgotten(std::span<const NamedPoint> points, const WriteContext& context,
                        std::vector<size_t>* places, std::vector<PointEntry>* entries,
                        std::vector<Status>* results);
  void NoteUse(std::span<const KeyedPoint> points);
  /// Checks whether the rate limits of the writer and of the metrics allow these points. Does not
  /// count the points towards these limits.
  [[nodiscard]] Status AskForPoints(std::span<const PointEntry> entries,
                                    WriteContext& context) const;

  Points& points_;
  const bool append_blocks_;
  MetricLimits* const limits_;
  std::atomic<uint64_t> stored_{0};
  SeriesResolver resolver_;
};

}  // namespace hg::tsd
