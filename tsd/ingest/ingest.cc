#include "tsd/ingest/ingest.h"

#include <algorithm>
#include <optional>
#include <utility>

#include "storage/base/random_bits.h"
#include "storage/base/scratch.h"
#include "storage/codec/qualifier.h"
#include "storage/codec/row_key.h"
#include "storage/model/name_text.h"
#include "storage/points/points.h"
#include "storage/points/tsuid_list.h"
#include "tsd/ingest/line_table.h"
#include "tsd/ingest/metric_limits.h"
#include "tsd/ingest/plain_raw_key.h"
#include "tsd/ingest/raw_key_recall.h"
#include "tsd/ingest/raw_key_table.h"
#include "tsd/ingest/series_turns.h"
#include "tsd/ingest/tag_formats.h"

namespace hg::tsd {
namespace {

// Number of points that are learned together. It is small, so that the data of these points stays
// in the processor's cache.
constexpr size_t kLearntTogether = 256;
// Number of named points after which the code checks whether the request was cancelled. Creating a
// series takes a fraction of a millisecond, or some milliseconds in HBase.
constexpr size_t kPointsPerCheck = 16;
// The tag format of one of this many points is recorded as used. The number is prime, so that the
// formats of all clients are recorded even if several clients send in a regular order.
constexpr uint64_t kPointsPerNote = 4093;

/// Returns whether OpenTSDB's limit of tags applies.
bool IsOpenTsdbDialect(Dialect dialect) {
  return dialect == Dialect::kJson || dialect == Dialect::kWords;
}

// Returns whether the store has forgotten the series. The series then needs a new number.
bool IsForgotten(const Points& points, SeriesNumber number) {
  return number < points.series_count() && points.TsuidOf(number).empty();
}

// A forgotten series counts as unknown, so that the caller passes the points to AppendNamed.
Result<PointSink::Appended> AppendedAt(const Result<LogPosition>& position) {
  if (position.ok()) return PointSink::Appended{.known = true, .position = *position};
  if (position.status().code() != StatusCode::kNotFound) return position.status();
  return PointSink::Appended{.known = false, .position = 0};
}

// Scratch buffers of the thread. If each batch had new buffers, batches of 500 and 5,000 points
// would take about 3 % more CPU time (bench/run writes).
std::vector<SeriesNumber>& KeptNumbers() {
  static thread_local std::vector<SeriesNumber> numbers;
  return numbers;
}
std::vector<PointEntry>& KeptEntries() {
  static thread_local std::vector<PointEntry> entries;
  return entries;
}

}  // namespace

std::string TagsText(std::span<const TagText> tags) {
  std::string text = "{";
  for (const TagText& tag : tags) {
    if (text.size() > 1) text += ", ";
    text.append(tag.key).append("=").append(tag.null_value ? std::string_view("null") : tag.value);
  }
  return text + "}";
}

Status BadTimestamp(const NamedPoint& point, ByteView stored, uint8_t flags) {
  std::string value = "[";
  for (const char byte : stored) {
    if (value.size() > 1) value += ", ";
    value += std::to_string(static_cast<int>(static_cast<int8_t>(byte)));
  }
  return Status::InvalidArgument("bad timestamp=" + std::to_string(point.time.raw) +
                                 " when trying to add value=" + value + "]/" +
                                 std::to_string(flags) + " to metric=" + std::string(point.metric) +
                                 ", tags=" + TagsText(point.tags));
}

/// Resolves names to series numbers with all checks.
class Ingest::Resolver {
 public:
  Resolver(Points& points, uid::Names& names, IngestOptions options, MetricLimits* limits)
      : points_(points),
        names_(names),
        limits_(limits),
        options_(std::move(options)),
        rules_(options_.extra_name_characters),
        raw_keys_(RandomBits(), options_.raw_key_bytes_max / 2),
        lines_(RandomBits(), options_.raw_key_bytes_max / 2) {}

  RawKeyTable& raw_keys() { return raw_keys_; }
  LineTable& lines() { return lines_; }
  TagFormats& formats() { return formats_; }
  [[nodiscard]] size_t TagsMax(Dialect dialect) const {
    return static_cast<size_t>(IsOpenTsdbDialect(dialect) ? options_.max_tags
                                                          : options_.foreign_max_tags);
  }

  Result<bool> Recall(const std::atomic<bool>& stop) {
    // At the start, at most a quarter of the memory for raw series keys is filled. The rest is for
    // keys that clients send later.
    const size_t bytes_max = options_.raw_key_bytes_max / 4;
    return RawKeyRecall{.points = points_,
                        .names = names_,
                        .raw_keys = raw_keys_,
                        .limits = limits_,
                        .tags_max = static_cast<size_t>(options_.max_tags),
                        .bytes_max = bytes_max,
                        .names_bytes_max = bytes_max}
        .Run(formats_.All(), stop);
  }

  /// Records the tag format of a client.
  void NoteTagFormat(const RawKey& raw_key) {
    if (!IsOpenTsdbDialect(raw_key.dialect)) return;
    std::vector<TagText> tags;
    if (ReadPlainTags(raw_key.dialect, raw_key.tags, TagsMax(raw_key.dialect), &tags))
      formats_.Note(raw_key.dialect, raw_key.tags, tags);
  }

  Result<SeriesNumber> Resolve(const NamedPoint& point, const WriteContext& context) {
    if (!point.time.in_range()) {
      Bytes stored;
      AppendBig(&stored, point.value.bits, ValueWidth(point.value.flags));
      return BadTimestamp(point, stored, point.value.flags);
    }
    const bool of_line = point.raw_key.dialect == Dialect::kInflux;
    const uint32_t generation = of_line ? lines_.generation() : raw_keys_.generation();
    SeriesIds ids;
    if (of_line && !point.raw_key.metric.empty()) {
      const auto known = lines_.Find(point.raw_key.tags, point.raw_key.metric);
      if (known && !IsForgotten(points_, *known)) return *known;
      ids.pairs = lines_.FindPairs(point.raw_key.tags);
    } else if (!point.raw_key.metric.empty()) {
      ids = raw_keys_.FindHalves(point.raw_key);
    }
    return ResolveSeries(point, std::move(ids), generation, context);
  }

  /// Finds or registers the series of points whose names are known or can be parsed easily. Returns
  /// the number of leading points whose numbers are set. Stops at a point that needs the complete
  /// checks of AppendNamed. Also stops when the request was cancelled, and sets *ended to the
  /// error. May block. Its writes become durable with the next commit of points.
  size_t Learn(std::span<const KeyedPoint> points, const WriteContext& context,
               SeriesNumber* numbers, Status* ended) {
    std::vector<KeyedSeries> found(std::min(kLearntTogether, points.size()));
    size_t learned = 0;
    while (learned < points.size()) {
      *ended = context.request().Check();
      if (!ended->ok()) break;
      const auto some = points.subspan(learned, std::min(kLearntTogether, points.size() - learned));
      const std::span<KeyedSeries> series = std::span(found).first(some.size());
      const size_t count = LearnSome(some, series, context);
      for (const KeyedSeries& one : series.first(count)) numbers[learned++] = one.number;
      if (count < some.size()) break;
    }
    return learned;
  }

  /// Makes all checks that need neither the point's time nor the store, in OpenTSDB's order
  /// (TSDB.addPointInternal, IncomingDataPoints.checkMetricAndTags).
  [[nodiscard]] Status Check(const NamedPoint& point) const {
    if (point.tags.empty()) {
      return Status::InvalidArgument("Need at least one tag (metric=" + std::string(point.metric) +
                                     ", tags={})");
    }
    RETURN_IF_ERROR(CheckTagCount(point.tags, point.raw_key.dialect));
    RETURN_IF_ERROR(rules_.Check("metric name", point.metric));
    return CheckTagNames(point.tags);
  }

  /// Checks tags independently of the metric.
  [[nodiscard]] Status CheckTags(std::span<const TagText> tags, Dialect dialect) const {
    RETURN_IF_ERROR(CheckTagCount(tags, dialect));
    return CheckTagNames(tags);
  }

  Result<Bytes> CheckedTsuid(const NamedPoint& point, const WriteContext& context) {
    RETURN_IF_ERROR(Check(point));
    SeriesIds ids;
    RETURN_IF_ERROR(limited(context) ? RegisterLimited(point, &ids, context).status()
                                     : FillIds(point, &ids, context));
    return ids.metric + ids.pairs;
  }

  Status Admit(ByteView tsuid, const WriteContext& context) {
    const size_t tags = codec::PairsOf(points_.layout(), tsuid);
    const auto tags_max =
        static_cast<size_t>(std::max(options_.max_tags, options_.foreign_max_tags));
    if (tags > tags_max) {
      return Status::InvalidArgument(
          "Too many tags in the TSUID: " + std::to_string(tags) +
          " maximum allowed: " + std::to_string(tags_max) +
          " (the larger one of the settings tsd.storage.max_tags and tsd.ingest.max_tags)");
    }
    if (!limited(context)) return {};
    ASSIGN_OR_RETURN(bool known, IsStored(tsuid));
    if (known) return {};
    const Bytes metric(tsuid.substr(0, static_cast<size_t>(points_.layout().metric_width)));
    const Result<std::string> name = names_.NameOf(UidKind::kMetric, metric);
    if (name.status().code() == StatusCode::kNotFound) {
      return Status::InvalidArgument("the metric of the new series " + ToHexUpper(tsuid) +
                                     " has no name");
    }
    RETURN_IF_ERROR(name.status());
    // Points of the series take another turn. If such a point creates the series at the same time,
    // the series counts twice until the series of the metric are counted again.
    const SeriesTurns::Turn turn(turns_, ToHexUpper(tsuid));
    ASSIGN_OR_RETURN(known, IsStored(tsuid));
    if (known) return {};
    return Create(*name, metric, context, [&] { return points_.Register(Bytes(tsuid)); }).status();
  }

  Result<Bytes> FindMetric(std::string_view name) { return names_.Find(UidKind::kMetric, name); }

 private:
  [[nodiscard]] Status CheckTagCount(std::span<const TagText> tags, Dialect dialect) const {
    const size_t tags_max = TagsMax(dialect);
    if (tags.size() <= tags_max) return {};
    return Status::InvalidArgument(
        "Too many tags: " + std::to_string(tags.size()) +
        " maximum allowed: " + std::to_string(tags_max) +
        (IsOpenTsdbDialect(dialect) ? "" : " (setting tsd.ingest.max_tags)") +
        ", tags: " + TagsText(tags));
  }
  [[nodiscard]] Status CheckTagNames(std::span<const TagText> tags) const {
    for (const TagText& tag : tags) {
      const std::string_view value = tag.null_value ? std::string_view("null") : tag.value;
      RETURN_IF_ERROR(rules_.Check("tag name with value [" + std::string(value) + "]", tag.key));
      const std::string what = "tag value with key [" + std::string(tag.key) + "]";
      if (tag.null_value) return Status::InvalidArgument("Invalid " + what + ": null");
      RETURN_IF_ERROR(rules_.Check(what, tag.value));
    }
    return {};
  }

  /// Finds the id of a name. If the name is new and may get an id, sets *id to "" and adds the
  /// memory of the new name to *new_bytes.
  Status FindOrAllow(UidKind kind, bool create, std::string_view name, Bytes* id,
                     uint64_t* new_bytes) {
    if (create) {
      ASSIGN_OR_RETURN(std::optional<Bytes> found, names_.FindOrAllow(kind, name));
      if (!found) *new_bytes += uid::Names::MemoryOf(name.size());
      *id = std::move(found).value_or(Bytes());
      return {};
    }
    Result<Bytes> found = names_.Find(kind, name);
    if (found.status().code() == StatusCode::kNotFound) {
      return Status::NotFound("No such name for '" + std::string(UidKindName(kind)) + "': '" +
                              std::string(name) + "'");
    }
    ASSIGN_OR_RETURN(*id, std::move(found));
    return {};
  }

  /// Sets series[i] to the series of points[i]. Returns the number of leading points whose series
  /// are set.
  size_t LearnSome(std::span<const KeyedPoint> points, std::span<KeyedSeries> series,
                   const WriteContext& context) {
    const uint32_t generation = raw_keys_.generation();
    const size_t unknown = raw_keys_.FindEach(points, series.data());
    if (unknown == 0) return points.size();
    if (limited(context)) return 0;  // with limits, each series is checked separately
    const size_t filled = FillPlainIds(points, series, unknown, context);
    points = points.first(filled);
    series = series.first(filled);
    raw_keys_.RememberHalves(points, series.data(), generation);
    if (!RegisterUnknown(series)) return 0;
    if (limits_ != nullptr) {
      for (size_t i = 0; i < points.size(); ++i)
        if (!series[i].known)
          limits_->Learn(series[i].number, series[i].ids.metric, points[i].series.metric);
    }
    raw_keys_.RememberAll(points, series.data(), generation);
    return filled;
  }

  /// Sets the ids of the points whose series are unknown. New ids are assigned point by point, in
  /// the order of FillIds. Returns the number of points before the first one that needs the
  /// complete checks.
  size_t FillPlainIds(std::span<const KeyedPoint> points, std::span<KeyedSeries> series,
                      size_t unknown, const WriteContext& context) {
    bool may_assign = false;
    std::vector<TagText> tags;
    for (size_t i = 0; i < points.size(); ++i) {
      if (series[i].known) continue;
      const RawKey& raw_key = points[i].series;
      if (!IsOpenTsdbDialect(raw_key.dialect)) return i;
      SeriesIds& ids = series[i].ids;
      if (ids.pairs.empty() && i > 0 && !series[i - 1].known &&
          SameTags(raw_key, points[i - 1].series)) {
        ids.pairs = series[i - 1].ids.pairs;
      }
      if (!ids.metric.empty() && !ids.pairs.empty()) continue;
      if (ids.metric.empty() && !IsPlainName(raw_key.metric)) return i;
      const bool new_tags = ids.pairs.empty();
      if (new_tags &&
          !ReadPlainTags(raw_key.dialect, raw_key.tags, TagsMax(raw_key.dialect), &tags))
        return i;
      if (new_tags &&
          tags.size() * static_cast<size_t>(points_.layout().pair_width()) > codec::kRowKeyBytesMax)
        return i;
      // Each rejected name is counted when its id is requested. So points with new names that may
      // be rejected are left to AppendNamed, which requests each name only once.
      if (!may_assign && (names_.filters() || !IdsAreLeft(unknown))) return i;
      may_assign = true;
      NamedPoint point;
      point.metric = raw_key.metric;
      point.tags = tags;
      if (!FillIds(point, &ids, context).ok()) return i;
      if (new_tags) formats_.Note(raw_key.dialect, raw_key.tags, tags);
    }
    return points.size();
  }

  /// Registers unknown series whose ids are set.
  bool RegisterUnknown(std::span<KeyedSeries> series) {
    TsuidList tsuids;
    for (const KeyedSeries& one : series) {
      if (!one.known) tsuids.Add(one.ids.metric, one.ids.pairs);
    }
    std::vector<SeriesNumber> numbers(tsuids.size());
    if (!points_.RegisterAll(tsuids.views(), numbers.data()).ok()) return false;
    const SeriesNumber* next = numbers.data();
    for (KeyedSeries& one : series) {
      if (!one.known) one.number = *next++;
    }
    return true;
  }

  /// Returns whether enough ids are left for all names of these points. As in OpenTSDB, failed
  /// attempts to assign an id are counted. So if ids may run out, the points are left to
  /// AppendNamed, which makes only one attempt.
  bool IdsAreLeft(size_t points) {
    const KeyLayout& layout = points_.layout();
    const int64_t most = static_cast<int64_t>(points) * std::max(options_.max_tags, 1);
    for (const auto& [kind, width] : {std::pair(UidKind::kMetric, layout.metric_width),
                                      std::pair(UidKind::kTagk, layout.tagk_width),
                                      std::pair(UidKind::kTagv, layout.tagv_width)}) {
      constexpr int kAlwaysLeft = 7;
      if (width >= kAlwaysLeft) continue;
      const Result<int64_t> highest = names_.HighestId(kind);
      if (!highest.ok() || *highest + most >= int64_t{1} << 8 * width) return false;
    }
    return true;
  }

  /// Returns the number of the series. `ids` contains the ids that are already known. `generation`
  /// must be the generation of the table of raw series keys before these ids were looked up.
  Result<SeriesNumber> ResolveSeries(const NamedPoint& point, SeriesIds ids, uint32_t generation,
                                     const WriteContext& context) {
    if (ids.metric.empty() || ids.pairs.empty()) RETURN_IF_ERROR(Check(point));
    ASSIGN_OR_RETURN(const SeriesNumber number, limited(context)
                                                    ? RegisterLimited(point, &ids, context)
                                                    : Register(point, &ids, context));
    if (limits_ != nullptr) limits_->Learn(number, ids.metric, point.metric);
    if (point.raw_key.metric.empty()) return number;
    if (point.raw_key.dialect == Dialect::kInflux) {
      lines_.Remember(point.raw_key.tags, point.raw_key.metric, ids.pairs, number, generation);
    } else {
      raw_keys_.Remember(point.raw_key, ids, number, generation);
      NoteTagFormat(point.raw_key);
    }
    return number;
  }

  /// Sets missing ids. New names get ids in the order metric, then key and value of each pair
  /// (opentsdb-schema.md §3.3). If a check of any name or of the point fails, no name gets an id.
  Status FillIds(const NamedPoint& point, SeriesIds* ids, const WriteContext& context) {
    uint64_t new_bytes = 0;
    if (ids->metric.empty()) {
      RETURN_IF_ERROR(FindOrAllow(UidKind::kMetric, options_.auto_create_metrics, point.metric,
                                  &ids->metric, &new_bytes));
    }
    const bool new_pairs = ids->pairs.empty();
    std::vector<std::pair<Bytes, Bytes>> pairs(new_pairs ? point.tags.size() : 0);
    for (size_t i = 0; i < pairs.size(); ++i) {
      const TagText& tag = point.tags[i];
      RETURN_IF_ERROR(FindOrAllow(UidKind::kTagk, options_.auto_create_tagks, tag.key,
                                  &pairs[i].first, &new_bytes));
      RETURN_IF_ERROR(FindOrAllow(UidKind::kTagv, options_.auto_create_tagvs, tag.value,
                                  &pairs[i].second, &new_bytes));
    }
    if (new_bytes > 0) {
      RETURN_IF_ERROR(AskForRates(ids->metric, context));
      RETURN_IF_ERROR(names_.AskForMemory(new_bytes));
      RETURN_IF_ERROR(AssignMissing(point, ids, pairs));
    }
    if (new_pairs) ids->pairs = SortedPairs(std::move(pairs));
    return {};
  }

  /// Assigns ids to the names that FindOrAllow has allowed.
  Status AssignMissing(const NamedPoint& point, SeriesIds* ids,
                       std::span<std::pair<Bytes, Bytes>> pairs) {
    if (ids->metric.empty()) {
      ASSIGN_OR_RETURN(ids->metric, names_.AssignAllowed(UidKind::kMetric, point.metric));
    }
    for (size_t i = 0; i < pairs.size(); ++i) {
      auto& [key, value] = pairs[i];
      if (key.empty()) {
        ASSIGN_OR_RETURN(key, names_.AssignAllowed(UidKind::kTagk, point.tags[i].key));
      }
      if (value.empty()) {
        ASSIGN_OR_RETURN(value, names_.AssignAllowed(UidKind::kTagv, point.tags[i].value));
      }
    }
    return {};
  }

  /// Checks the rate limits before new names get ids, because Store checks them only afterwards.
  /// `metric` is "" if the metric is new.
  [[nodiscard]] Status AskForRates(const Bytes& metric, const WriteContext& context) const {
    if (context.writer() != nullptr && !context.writer_passed())
      RETURN_IF_ERROR(context.writer()->AskForPoints(1));
    if (limits_ == nullptr || metric.empty() || context.metrics_passed()) return {};
    return limits_->AskForValues({&metric, 1}, 1);
  }

  static Bytes SortedPairs(std::vector<std::pair<Bytes, Bytes>> pairs) {
    std::sort(pairs.begin(), pairs.end());  // all keys have the same width
    Bytes ids;
    for (const auto& [key, value] : pairs) ids.append(key).append(value);
    return ids;
  }

  Result<Bytes> FindPairs(const NamedPoint& point) {
    std::vector<std::pair<Bytes, Bytes>> pairs(point.tags.size());
    for (size_t i = 0; i < pairs.size(); ++i) {
      ASSIGN_OR_RETURN(pairs[i].first, names_.Find(UidKind::kTagk, point.tags[i].key));
      ASSIGN_OR_RETURN(pairs[i].second, names_.Find(UidKind::kTagv, point.tags[i].value));
    }
    return SortedPairs(std::move(pairs));
  }

  [[nodiscard]] bool limited(const WriteContext& context) const {
    return (context.writer() != nullptr && context.writer()->limits_series()) ||
           (limits_ != nullptr && limits_->counts_series());
  }

  Result<SeriesNumber> Register(const NamedPoint& point, SeriesIds* ids,
                                const WriteContext& context) {
    RETURN_IF_ERROR(FillIds(point, ids, context));
    return points_.Register(ids->metric + ids->pairs);
  }

  /// Like Register, but checks the limits on series. No name gets an id before the limits allow the
  /// series. If the series is not created, it does not count.
  Result<SeriesNumber> RegisterLimited(const NamedPoint& point, SeriesIds* ids,
                                       const WriteContext& context) {
    ASSIGN_OR_RETURN(bool known, FindSeries(point, ids));
    if (known) return Register(point, ids, context);
    const SeriesTurns::Turn turn(turns_, point);
    ASSIGN_OR_RETURN(known,
                     // Another thread may have created the series since the last search.
                     FindSeries(point, ids));
    if (known) return Register(point, ids, context);
    return Create(std::string(point.metric), ids->metric, context,
                  [&] { return Register(point, ids, context); });
  }

  /// Calls `create`, which registers a new series, and counts the series for its writer and its
  /// metric. `metric_id` is "" if the metric is new.
  template <typename Register>
  Result<SeriesNumber> Create(const std::string& metric, const Bytes& metric_id,
                              const WriteContext& context, const Register& create) {
    Writer* const writer = context.writer();
    if (writer != nullptr) RETURN_IF_ERROR(writer->TakeSeries());
    Result<SeriesNumber> number = CreateInMetric(metric, metric_id, context, create);
    if (writer != nullptr && !number.ok()) writer->GiveBackSeries();
    return number;
  }
  template <typename Register>
  Result<SeriesNumber> CreateInMetric(const std::string& metric, const Bytes& metric_id,
                                      const WriteContext& context, const Register& create) {
    if (limits_ == nullptr || !limits_->counts_series()) return create();
    RETURN_IF_ERROR(limits_->TakeNewSeries(metric, metric_id, context.request()));
    struct Creation {
      ~Creation() { limits.EndNewSeries(metric, created); }
      MetricLimits& limits;
      const std::string& metric;
      bool created = true;  // after an exception, the series may exist
    } creation{*limits_, metric};
    Result<SeriesNumber> number = create();
    creation.created = number.ok();
    return number;
  }

  /// Returns whether the series exists, and sets its known ids.
  Result<bool> FindSeries(const NamedPoint& point, SeriesIds* ids) {
    Status status;
    if (ids->metric.empty()) {
      Result<Bytes> metric = names_.Find(UidKind::kMetric, point.metric);
      if (metric.ok()) ids->metric = std::move(*metric);
      status = metric.status();
    }
    if (status.ok() && ids->pairs.empty()) {
      Result<Bytes> pairs = FindPairs(point);
      if (pairs.ok()) ids->pairs = std::move(*pairs);
      status = pairs.status();
    }
    if (status.code() == StatusCode::kNotFound) return false;
    RETURN_IF_ERROR(status);
    return IsStored(ids->metric + ids->pairs);
  }
  Result<bool> IsStored(ByteView tsuid) {
    SeriesMatcher one;
    one.tsuids = {Bytes(tsuid)};
    const ByteView metric = tsuid.substr(0, static_cast<size_t>(points_.layout().metric_width));
    bool there = false;
    RETURN_IF_ERROR(points_.ListSeries(metric, one, nullptr, [&there](ByteView) {
      there = true;
      return false;
    }));
    return there;
  }

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

Ingest::Ingest(Points& points, uid::Names& names, IngestOptions options, MetricLimits* limits)
    : points_(points),
      append_blocks_(options.append_blocks),
      limits_(limits),
      resolver_(std::make_unique<Resolver>(points, names, std::move(options), limits)) {}

Ingest::~Ingest() = default;

Result<PointSink::Appended> Ingest::AppendKeyed(std::span<const KeyedPoint> points,
                                                WriteContext& context) {
  if (points.empty()) return Appended{};
  Scratch numbers(&KeptNumbers(), points.size());
  if (append_blocks_ || !resolver_->raw_keys().FindAll(points, numbers.data()))
    return Appended{.known = false, .position = 0};
  // This is the last check whether the request was cancelled, because all its points are stored
  // together.
  RETURN_IF_ERROR(context.request().Check());
  return StoreKeyed(points, {numbers.data(), points.size()}, false, context);
}

PointSink::Learned Ingest::AppendLearning(std::span<const KeyedPoint> points,
                                          WriteContext& context) {
  Learned result;
  if (!std::all_of(points.begin(), points.end(),
                   [](const KeyedPoint& point) { return point.time.in_range(); }))
    return result;
  std::vector<SeriesNumber> numbers(points.size());
  const size_t learned = resolver_->Learn(points, context, numbers.data(), &result.refused);
  if (learned == 0) return result;
  // Even if the request was cancelled, the points whose names got ids are stored.
  const Result<Appended> appended =
      StoreKeyed(points.first(learned), std::span(numbers).first(learned), true, context);
  if (!appended.ok()) return {.stored = 0, .position = 0, .refused = appended.status()};
  if (!appended->known) return {};  // forgotten series
  result.stored = learned;
  result.position = appended->position;
  return result;
}

Result<PointSink::Appended> Ingest::AppendLines(std::span<const KeyedLine> lines,
                                                std::span<const KeyedField> fields,
                                                WriteContext& context) {
  if (fields.empty()) return Appended{};
  Scratch numbers(&KeptNumbers(), fields.size());
  Scratch entries(&KeptEntries(), fields.size());
  if (append_blocks_ || !resolver_->lines().TryFindAll(lines, fields, numbers.data()))
    return Appended{.known = false, .position = 0};
  size_t at = 0;
  for (const KeyedLine& line : lines) {
    const PointEntry common = MakePointEntry(0, line.time, PointValue::Int(0));
    const codec::Qualifier instant{common.qualifier};
    for (const size_t end = at + line.fields; at < end; ++at) {
      const PointValue& value = fields[at].value;
      entries[at] = {numbers[at], common.base, instant.with_flags(value.flags).bits, value.bits};
    }
  }
  const std::span<const PointEntry> batch(entries.data(), fields.size());
  if (points_.AppendMayWait(batch)) return Appended{.known = false, .position = 0};
  return AppendedAt(Store(batch, context));
}

Result<PointSink::Appended> Ingest::StoreKeyed(std::span<const KeyedPoint> points,
                                               std::span<const SeriesNumber> numbers, bool may_wait,
                                               WriteContext& context) {
  Scratch entries(&KeptEntries(), points.size());
  for (size_t i = 0; i < points.size(); ++i) {
    entries[i] = MakePointEntry(numbers[i], points[i].time, points[i].value);
  }
  const std::span<const PointEntry> batch(entries.data(), points.size());
  if (!may_wait && points_.AppendMayWait(batch)) return Appended{.known = false, .position = 0};
  NoteUse(points);
  return AppendedAt(Store(batch, context));
}

// Known raw series keys, such as those from RecallRawKeys, are not learned again. So this function
// records that their formats are used.
void Ingest::NoteUse(std::span<const KeyedPoint> points) {
  const uint64_t next =
      kPointsPerNote - 1 - stored_.load(std::memory_order_relaxed) % kPointsPerNote;
  if (next < points.size()) resolver_->NoteTagFormat(points[next].series);
}

Result<LogPosition> Ingest::Store(std::span<const PointEntry> entries, WriteContext& context) {
  Writer* const writer = context.writer();
  const bool limited = writer != nullptr || limits_ != nullptr;
  if (limited) RETURN_IF_ERROR(AskForPoints(entries, context));
  Result<LogPosition> position = points_.Append(entries);
  if (!position.ok()) return position;
  stored_.fetch_add(entries.size(), std::memory_order_relaxed);
  if (writer != nullptr) writer->ChargePoints(entries.size());
  if (limits_ != nullptr) limits_->ChargePoints(entries);
  return position;
}

Status Ingest::AskForPoints(std::span<const PointEntry> entries, WriteContext& context) const {
  if (context.writer() != nullptr && !context.writer_passed())
    RETURN_IF_ERROR(context.writer()->AskForPoints(entries.size()));
  context.PassWriter();
  if (limits_ != nullptr && !context.metrics_passed())
    RETURN_IF_ERROR(limits_->AskForPoints(entries));
  context.PassMetrics();
  return {};
}

PointSink::Position Ingest::AppendNamed(std::span<const NamedPoint> points, WriteContext& context,
                                        std::vector<Status>* results) {
  results->clear();
  std::vector<PointEntry> entries;
  std::vector<size_t> places;  // for each entry, the index of its point
  // If this is not ok, it is the result of all later points, because the request was cancelled or
  // the store is unavailable. So the code waits for the store only once.
  Status over;
  // The fields of a line share their tags, so the message about invalid tags is built once.
  std::span<const TagText> tags;
  Status against_tags;
  bool refused = false;  // whether a point with these tags was rejected
  for (const NamedPoint& point : points) {
    if (over.ok() && results->size() % kPointsPerCheck == 0) over = context.request().Check();
    if (point.tags.data() != tags.data() || point.tags.size() != tags.size()) {
      tags = point.tags;
      against_tags = {};
    } else if (refused && against_tags.ok()) {
      against_tags = resolver_->CheckTags(tags, point.raw_key.dialect);
    }
    const Status known = over.ok() ? against_tags : over;
    const Result<SeriesNumber> number = known.ok() ? resolver_->Resolve(point, context) : known;
    if (number.status().code() == StatusCode::kUnavailable) over = number.status();
    refused = number.status().code() == StatusCode::kInvalidArgument;
    if (number.ok()) {
      places.push_back(results->size());
      entries.push_back(MakePointEntry(*number, point.time, point.value));
    }
    results->push_back(number.status());
  }
  while (!entries.empty()) {
    const Result<LogPosition> position = Store(entries, context);
    if (position.ok()) return *position;
    if (position.status().code() == StatusCode::kNotFound &&
        ResolveForgotten(points, context, &places, &entries, results)) {
      continue;
    }
    for (size_t place : places) (*results)[place] = position.status();
    return 0;
  }
  return 0;
}

bool Ingest::ResolveForgotten(std::span<const NamedPoint> points, const WriteContext& context,
                              std::vector<size_t>* places, std::vector<PointEntry>* entries,
                              std::vector<Status>* results) {
  bool found = false;
  size_t kept = 0;
  for (size_t i = 0; i < entries->size(); ++i) {
    const size_t place = (*places)[i];
    PointEntry entry = (*entries)[i];
    if (IsForgotten(points_, entry.series)) {
      found = true;
      const Result<SeriesNumber> number = resolver_->Resolve(points[place], context);
      (*results)[place] = number.status();
      if (!number.ok()) continue;
      entry.series = *number;
    }
    (*places)[kept] = place;
    (*entries)[kept++] = entry;
  }
  places->resize(kept);
  entries->resize(kept);
  return found;
}

void Ingest::Commit(Position position, std::function<void(Status)> done) {
  points_.Commit(position, std::move(done));
}

void Ingest::ForgetRawKeys() {
  resolver_->raw_keys().Forget();
  resolver_->lines().Forget();
  if (limits_ != nullptr) limits_->Forget();
}

size_t Ingest::tags_max() const { return resolver_->TagsMax(Dialect::kLabels); }

Result<SeriesNumber> Ingest::Resolve(const NamedPoint& point, WriteContext& context) {
  return resolver_->Resolve(point, context);
}

Status Ingest::CheckNames(const NamedPoint& point) const { return resolver_->Check(point); }

Status Ingest::AdmitSeries(ByteView tsuid, WriteContext& context) {
  return resolver_->Admit(tsuid, context);
}

Result<Bytes> Ingest::ResolveTsuid(const NamedPoint& point, WriteContext& context) {
  return resolver_->CheckedTsuid(point, context);
}

Status Ingest::AskForValues(std::span<const std::string_view> metrics, uint64_t values,
                            WriteContext& context) {
  if (context.writer() != nullptr) RETURN_IF_ERROR(context.writer()->AskForPoints(values));
  if (limits_ == nullptr || !limits_->counts_points()) return {};
  std::vector<Bytes> ids;
  for (const std::string_view metric : metrics) {
    Result<Bytes> id = resolver_->FindMetric(metric);
    const StatusCode code = id.status().code();
    // The error is returned at once, because looking up each further metric would wait as long.
    if (code == StatusCode::kBusy || code == StatusCode::kUnavailable) return id.status();
    // A metric without an id has no stored values, so no limit applies. Other errors of a name are
    // reported when its values are stored.
    if (id.ok()) ids.push_back(std::move(*id));
  }
  return limits_->AskForValues(ids, values);
}

void Ingest::ChargeValue(std::string_view metric, ByteView tsuid, WriteContext& context) {
  if (context.writer() != nullptr) context.writer()->ChargePoints(1);
  if (limits_ != nullptr && limits_->counts_points()) {
    const auto width = static_cast<size_t>(points_.layout().metric_width);
    limits_->ChargeValue(tsuid.substr(0, width), metric);
  }
}

TagFormats& Ingest::formats() { return resolver_->formats(); }

Result<bool> Ingest::RecallRawKeys(const std::atomic<bool>& stop) {
  return resolver_->Recall(stop);
}

Ingest::Stats Ingest::stats() const {
  const RawKeyTable::Stats stats = resolver_->raw_keys().stats();
  const LineTable::Stats lines = resolver_->lines().stats();
  return {stats.raw_keys + lines.raw_keys, stats.bytes + lines.bytes,
          stored_.load(std::memory_order_relaxed)};
}

}  // namespace hg::tsd
