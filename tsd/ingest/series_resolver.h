#pragma once
// Resolves the names of points to series numbers, with all checks and limits on names and series.

#include <atomic>
#include <functional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "storage/model/name_text.h"
#include "storage/model/point_sink.h"
#include "storage/points/points.h"
#include "tsd/ingest/line_table.h"
#include "tsd/ingest/raw_key_table.h"
#include "tsd/ingest/series_turns.h"
#include "tsd/ingest/tag_formats.h"
#include "uid/names.h"

namespace hg::tsd {

class MetricLimits;

struct IngestOptions {
  bool auto_create_metrics = false;  // value of tsd.core.auto_create_metrics
  bool auto_create_tagks = true;
  bool auto_create_tagvs = true;
  int max_tags = 8;           // tsd.storage.max_tags: tag limit for OpenTSDB's protocols
  int foreign_max_tags = 40;  // tsd.ingest.max_tags: tag limit for all other protocols
  /// tsd.core.tag.allow_specialchars: more characters for names, in UTF-8.
  std::string extra_name_characters;
  /// Whether Points::Append blocks because the store is on another machine. If it does, only pool
  /// threads may call Points::Append.
  bool append_blocks = false;
  // The maximum memory for the known raw series keys, in bytes. A key needs 25 to 200 bytes.
  size_t raw_key_bytes_max = size_t{1} << 30;
};

/// Returns the text that Java prints for a map of tags, such as "{site=b1, host=s7}".
std::string TagsText(std::span<const TagText> tags);

/// Returns the error for a point whose time is out of range. `stored` has the bytes in which the
/// value of the point would be stored, and `flags` are the type flags of the value.
Status BadTimestamp(const NamedPoint& point, ByteView stored, uint8_t flags);

/// Returns whether the store has forgotten the series. The series then needs a new number.
bool IsForgotten(const Points& points, SeriesNumber number);

/// Finds or registers the series of points. The object is thread-safe. The functions with a
/// WriteContext may block.
class SeriesResolver {
 public:
  /// `points`, `names` and `limits` must outlive the object. If `limits` is nullptr, metrics have
  /// no limits.
  SeriesResolver(Points& points, uid::Names& names, IngestOptions options, MetricLimits* limits);

  RawKeyTable& raw_keys() { return raw_keys_; }
  [[nodiscard]] const RawKeyTable& raw_keys() const { return raw_keys_; }
  LineTable& lines() { return lines_; }
  [[nodiscard]] const LineTable& lines() const { return lines_; }
  TagFormats& formats() { return formats_; }
  /// Returns the maximum number of tags of a point in this protocol.
  [[nodiscard]] size_t TagsMax(Dialect dialect) const;

  /// Implements Ingest::RecallRawKeys, with the same parameter and result.
  Result<bool> Recall(const std::atomic<bool>& stop);
  /// Records the tag format of a client.
  void NoteTagFormat(const RawKey& raw_key);
  /// Finds or registers the series of a point, with all checks. Returns the errors of
  /// PointSink::AppendNamed.
  Result<SeriesNumber> Resolve(const NamedPoint& point, const WriteContext& context);
  /// Finds or registers the series of points whose names are known or can be parsed easily. Returns
  /// the number of leading points whose numbers are set. Stops at a point that needs the complete
  /// checks of Resolve. Also stops when the request was cancelled, and sets *ended to the error.
  /// The writes of Learn become durable with the next commit of points.
  size_t Learn(std::span<const KeyedPoint> points, const WriteContext& context,
               SeriesNumber* numbers, Status* ended);

  /// Makes all checks that need neither the point's time nor the store, in OpenTSDB's order
  /// (TSDB.addPointInternal, IncomingDataPoints.checkMetricAndTags).
  [[nodiscard]] Status Check(const NamedPoint& point) const;
  /// Checks tags independently of the metric.
  [[nodiscard]] Status CheckTags(std::span<const TagText> tags, Dialect dialect) const;

  /// Returns the TSUID of a point (Ingest::ResolveTsuid).
  Result<Bytes> CheckedTsuid(const NamedPoint& point, const WriteContext& context);
  /// Returns whether other data than points may be stored in rows of a series
  /// (PointSink::AdmitSeries).
  Status Admit(ByteView tsuid, const WriteContext& context);
  Result<Bytes> FindMetric(std::string_view name) { return names_.Find(UidKind::kMetric, name); }

 private:
  [[nodiscard]] Status CheckTagCount(std::span<const TagText> tags, Dialect dialect) const;
  [[nodiscard]] Status CheckTagNames(std::span<const TagText> tags) const;
  /// Finds the id of a name. If the name is new and may get an id, sets *id to "" and adds the
  /// memory of the new name to *new_bytes.
  Status FindOrAllow(UidKind kind, bool create, std::string_view name, Bytes* id,
                     uint64_t* new_bytes);
  /// Sets series[i] to the series of points[i]. Returns the number of leading points whose series
  /// are set.
  size_t LearnSome(std::span<const KeyedPoint> points, std::span<KeyedSeries> series,
                   const WriteContext& context);
  /// Sets the ids of the points whose series are unknown. New ids are assigned point by point, in
  /// the order of FillIds. Returns the number of points before the first one that needs the
  /// complete checks.
  size_t FillPlainIds(std::span<const KeyedPoint> points, std::span<KeyedSeries> series,
                      size_t unknown, const WriteContext& context);
  /// Registers unknown series whose ids are set.
  bool RegisterUnknown(std::span<KeyedSeries> series);
  /// Returns whether enough ids are left for all names of these points. As in OpenTSDB, failed
  /// attempts to assign an id are counted. So if ids may run out, the points are left to
  /// AppendNamed, which makes only one attempt.
  bool IdsAreLeft(size_t points);
  /// Returns the number of the series. `ids` contains the ids that are already known. `generation`
  /// must be the generation of the table of raw series keys before these ids were looked up.
  Result<SeriesNumber> ResolveSeries(const NamedPoint& point, SeriesIds ids, uint32_t generation,
                                     const WriteContext& context);
  /// Sets missing ids. New names get ids in the order metric, then key and value of each pair
  /// (opentsdb-schema.md §3.3). If a check of any name or of the point fails, no name gets an id.
  Status FillIds(const NamedPoint& point, SeriesIds* ids, const WriteContext& context);
  /// Assigns ids to the names that FindOrAllow has allowed.
  Status AssignMissing(const NamedPoint& point, SeriesIds* ids,
                       std::span<std::pair<Bytes, Bytes>> pairs);
  /// Checks the rate limits before new names get ids, because Store checks them only afterwards.
  /// `metric` is "" if the metric is new.
  [[nodiscard]] Status AskForRates(const Bytes& metric, const WriteContext& context) const;
  static Bytes SortedPairs(std::vector<std::pair<Bytes, Bytes>> pairs);
  Result<Bytes> FindPairs(const NamedPoint& point);
  [[nodiscard]] bool limited(const WriteContext& context) const;
  Result<SeriesNumber> Register(const NamedPoint& point, SeriesIds* ids,
                                const WriteContext& context);
  /// Like Register, but checks the limits on series. No name gets an id before the limits allow the
  /// series. If the series is not created, it does not count.
  Result<SeriesNumber> RegisterLimited(const NamedPoint& point, SeriesIds* ids,
                                       const WriteContext& context);
  /// Calls `create`, which registers a new series, and counts the series for its writer and its
  /// metric. `metric_id` is "" if the metric is new.
  Result<SeriesNumber> Create(const std::string& metric, const Bytes& metric_id,
                              const WriteContext& context,
                              const std::function<Result<SeriesNumber>()>& create);
  Result<SeriesNumber> CreateInMetric(const std::string& metric, const Bytes& metric_id,
                                      const WriteContext& context,
                                      const std::function<Result<SeriesNumber>()>& create);
  /// Returns whether the series exists, and sets its known ids.
  Result<bool> FindSeries(const NamedPoint& point, SeriesIds* ids);
  Result<bool> IsStored(ByteView tsuid);

  Points& points_;
  uid::Names& names_;
  MetricLimits* const limits_;
  const IngestOptions options_;
  const NameRules rules_;
  RawKeyTable raw_keys_;
  LineTable lines_;
  TagFormats formats_;
  SeriesTurns turns_;
};

}  // namespace hg::tsd
