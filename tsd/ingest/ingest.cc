#include "tsd/ingest/ingest.h"

#include <algorithm>
#include <random>
#include <utility>

#include "storage/base/commit_later.h"
#include "storage/base/scratch.h"
#include "storage/codec/qualifier.h"
#include "storage/model/name_text.h"
#include "storage/model/one_request.h"
#include "storage/model/writer.h"
#include "storage/points/register_all.h"
#include "storage/points/tsuid_list.h"
#include "tsd/ingest/line_table.h"
#include "tsd/ingest/metric_limits.h"
#include "tsd/ingest/plain_spelling.h"
#include "tsd/ingest/series_turns.h"
#include "tsd/ingest/spelling_recall.h"
#include "tsd/ingest/spelling_table.h"
#include "tsd/ingest/tag_shapes.h"

namespace hg::tsd {
namespace {

// Points learnt together: few enough that what they share stays near.
constexpr size_t kLearntTogether = 256;
// Of so many points one tells that its shape is in use. A prime: senders take turns.
constexpr uint64_t kPointsPerNote = 4093;

uint64_t RandomKey() {
  std::random_device device;
  return static_cast<uint64_t>(device()) << 32 | device();
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

/// Names to series numbers, with everything that is checked on the way.
class Ingest::Resolver {
 public:
  Resolver(Points& points, uid::Names& names, IngestOptions options, MetricLimits* limits)
      : points_(points),
        names_(names),
        limits_(limits),
        options_(std::move(options)),
        rules_(options_.extra_name_characters),
        spellings_(RandomKey(), options_.spelling_bytes_max / 2),
        lines_(RandomKey(), options_.spelling_bytes_max / 2) {}

  SpellingTable& spellings() { return spellings_; }
  LineTable& lines() { return lines_; }
  TagShapes& shapes() { return shapes_; }

  Result<bool> Recall(const std::atomic<bool>& stop) {
    // As much again is left for what is learnt, and taken by names until it is.
    const size_t bytes_max = options_.spelling_bytes_max / 4;
    return SpellingRecall{.points = points_,
                          .names = names_,
                          .spellings = spellings_,
                          .limits = limits_,
                          .tags_max = static_cast<size_t>(options_.max_tags),
                          .bytes_max = bytes_max,
                          .names_bytes_max = bytes_max}
        .Run(shapes_.All(), stop);
  }

  /// Senders spell tags so.
  void NoteShape(const Spelling& spelling) {
    if (spelling.dialect != Dialect::kJson && spelling.dialect != Dialect::kWords) return;
    std::vector<TagText> tags;
    if (ReadPlainTags(spelling.dialect, spelling.tags, TagsMax(), &tags))
      shapes_.Note(spelling.dialect, spelling.tags, tags);
  }

  Result<SeriesNumber> Resolve(const NamedPoint& point) {
    if (!point.time.in_range()) {
      Bytes stored;
      AppendBig(&stored, point.value.bits, ValueWidth(point.value.flags));
      return BadTimestamp(point, stored, point.value.flags);
    }
    const bool of_line = point.spelling.dialect == Dialect::kInflux;
    const uint32_t generation = of_line ? lines_.generation() : spellings_.generation();
    SeriesIds ids;
    if (of_line && !point.spelling.metric.empty()) {
      const auto known = lines_.Find(point.spelling.tags, point.spelling.metric);
      if (known) return *known;
      ids.pairs = lines_.FindPairs(point.spelling.tags);
    } else if (!point.spelling.metric.empty()) {
      ids = spellings_.FindHalves(point.spelling);
    }
    return ResolveSeries(point, std::move(ids), generation);
  }

  /// The series of spellings whose names are known or stand there plainly, if nothing speaks
  /// against one of them. False: the exact way must look at them. Blocks. What it writes is durable
  /// with the points that come behind it.
  bool Learn(std::span<const SpelledPoint> points, SeriesNumber* numbers) {
    while (!points.empty()) {
      const auto some = points.first(std::min(kLearntTogether, points.size()));
      if (!LearnSome(some)) return false;
      for (size_t i = 0; i < some.size(); ++i) *numbers++ = learnt()[i].number;
      points = points.subspan(some.size());
    }
    return true;
  }

  /// Everything but the time that can be said without the store, in OpenTSDB's order
  /// (TSDB.addPointInternal, IncomingDataPoints.checkMetricAndTags).
  [[nodiscard]] Status Check(const NamedPoint& point) const {
    if (point.tags.empty()) {
      return Status::InvalidArgument("Need at least one tag (metric=" + std::string(point.metric) +
                                     ", tags={})");
    }
    RETURN_IF_ERROR(CheckTagCount(point.tags));
    RETURN_IF_ERROR(rules_.Check("metric name", point.metric));
    return CheckTagNames(point.tags);
  }

  /// What speaks against tags whatever they are of.
  [[nodiscard]] Status CheckTags(std::span<const TagText> tags) const {
    RETURN_IF_ERROR(CheckTagCount(tags));
    return CheckTagNames(tags);
  }

  Result<Bytes> CheckedTsuid(const NamedPoint& point) {
    RETURN_IF_ERROR(Check(point));
    SeriesIds ids;
    RETURN_IF_ERROR(limited() ? RegisterLimited(point, &ids).status() : FillIds(point, &ids));
    return ids.metric + ids.pairs;
  }

  Result<Bytes> FindMetric(std::string_view name) { return names_.Find(UidKind::kMetric, name); }

 private:
  [[nodiscard]] size_t TagsMax() const { return static_cast<size_t>(options_.max_tags); }
  [[nodiscard]] Status CheckTagCount(std::span<const TagText> tags) const {
    if (tags.size() <= TagsMax()) return {};
    return Status::InvalidArgument("Too many tags: " + std::to_string(tags.size()) +
                                   " maximum allowed: " + std::to_string(options_.max_tags) +
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

  Result<Bytes> Id(UidKind kind, bool create, std::string_view name) {
    if (create) return names_.FindOrAssign(kind, name);
    Result<Bytes> id = names_.Find(kind, name);
    if (id.ok() || id.status().code() != StatusCode::kNotFound) return id;
    return Status::NotFound("No such name for '" + std::string(UidKindName(kind)) + "': '" +
                            std::string(name) + "'");
  }

  /// Of the thread: the strings in it keep their room.
  static std::vector<SpelledSeries>& learnt() {
    static thread_local std::vector<SpelledSeries> series(kLearntTogether);
    return series;
  }

  bool LearnSome(std::span<const SpelledPoint> points) {
    const uint32_t generation = spellings_.generation();
    const std::span<SpelledSeries> series = std::span(learnt()).first(points.size());
    const size_t unknown = spellings_.FindEach(points, series.data());
    if (unknown == 0) return true;
    if (limited()) return false;  // whether a series may be there is looked at one by one
    const CommitLater with_the_points;
    if (!FillPlainIds(points, series, unknown)) return false;
    spellings_.RememberHalves(points, series.data(), generation);
    if (!RegisterUnknown(series)) return false;
    if (limits_ != nullptr) {
      for (size_t i = 0; i < points.size(); ++i)
        if (!series[i].known)
          limits_->Learn(series[i].number, series[i].ids.metric, points[i].series.metric);
    }
    spellings_.RememberAll(points, series.data(), generation);
    return true;
  }

  /// The ids of `unknown` points. The same are assigned in the same order as by FillIds, point by
  /// point.
  bool FillPlainIds(std::span<const SpelledPoint> points, std::span<SpelledSeries> series,
                    size_t unknown) {
    bool may_assign = false;
    std::vector<TagText> tags;
    for (size_t i = 0; i < points.size(); ++i) {
      if (series[i].known) continue;
      const Spelling& spelling = points[i].series;
      if (spelling.dialect != Dialect::kJson && spelling.dialect != Dialect::kWords) return false;
      SeriesIds& ids = series[i].ids;
      if (ids.pairs.empty() && i > 0 && !series[i - 1].known &&
          SameTags(spelling, points[i - 1].series)) {
        ids.pairs = series[i - 1].ids.pairs;
      }
      if (!ids.metric.empty() && !ids.pairs.empty()) continue;
      if (ids.metric.empty() && !IsPlainName(spelling.metric)) return false;
      const bool new_tags = ids.pairs.empty();
      if (new_tags && !ReadPlainTags(spelling.dialect, spelling.tags, TagsMax(), &tags))
        return false;
      // A name that is refused is counted: so it is asked for once, by the exact way.
      if (!may_assign && (names_.filters() || !IdsAreLeft(unknown))) return false;
      may_assign = true;
      NamedPoint point;
      point.metric = spelling.metric;
      point.tags = tags;
      if (!FillIds(point, &ids).ok()) return false;
      if (new_tags) shapes_.Note(spelling.dialect, spelling.tags, tags);
    }
    return true;
  }

  /// The numbers of those that are not known; their ids are.
  bool RegisterUnknown(std::span<SpelledSeries> series) {
    TsuidList tsuids;
    for (const SpelledSeries& one : series) {
      if (!one.known) tsuids.Add(one.ids.metric, one.ids.pairs);
    }
    std::vector<SeriesNumber> numbers(tsuids.size());
    if (!RegisterAll(points_, tsuids.views(), numbers.data()).ok()) return false;
    const SeriesNumber* next = numbers.data();
    for (SpelledSeries& one : series) {
      if (!one.known) one.number = *next++;
    }
    return true;
  }

  /// For all names of so many points. An attempt that finds none is counted, as OpenTSDB counts it:
  /// so it is left to the exact way, which makes it once.
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

  /// `ids`: what is known of them. `generation`: of the spellings, before that was looked up.
  Result<SeriesNumber> ResolveSeries(const NamedPoint& point, SeriesIds ids, uint32_t generation) {
    if (ids.metric.empty() || ids.pairs.empty()) RETURN_IF_ERROR(Check(point));
    ASSIGN_OR_RETURN(const SeriesNumber number,
                     limited() ? RegisterLimited(point, &ids) : Register(point, &ids));
    if (limits_ != nullptr) limits_->Learn(number, ids.metric, point.metric);
    if (point.spelling.metric.empty()) return number;
    if (point.spelling.dialect == Dialect::kInflux) {
      lines_.Remember(point.spelling.tags, point.spelling.metric, ids.pairs, number, generation);
    } else {
      spellings_.Remember(point.spelling, ids, number, generation);
      NoteShape(point.spelling);
    }
    return number;
  }

  /// Those that are missing: metric first, then key and value of each pair in the order given: so
  /// ids are assigned (spec schema.md §3.3).
  Status FillIds(const NamedPoint& point, SeriesIds* ids) {
    if (ids->metric.empty()) {
      ASSIGN_OR_RETURN(ids->metric,
                       Id(UidKind::kMetric, options_.auto_create_metrics, point.metric));
    }
    if (!ids->pairs.empty()) return {};
    ASSIGN_OR_RETURN(ids->pairs,
                     Pairs(point, options_.auto_create_tagks, options_.auto_create_tagvs));
    return {};
  }

  Result<Bytes> Pairs(const NamedPoint& point, bool create_keys, bool create_values) {
    std::vector<Bytes> pairs;
    pairs.reserve(point.tags.size());
    for (const TagText& tag : point.tags) {
      ASSIGN_OR_RETURN(Bytes pair, Id(UidKind::kTagk, create_keys, tag.key));
      ASSIGN_OR_RETURN(const Bytes value, Id(UidKind::kTagv, create_values, tag.value));
      pairs.push_back(pair + value);
    }
    std::sort(pairs.begin(), pairs.end());
    Bytes ids;
    for (const Bytes& pair : pairs) ids += pair;
    return ids;
  }

  [[nodiscard]] bool limited() const {
    const Writer* const writer = Writer::Current();
    return (writer != nullptr && writer->limits_series()) ||
           (limits_ != nullptr && limits_->counts_series());
  }

  Result<SeriesNumber> Register(const NamedPoint& point, SeriesIds* ids) {
    RETURN_IF_ERROR(FillIds(point, ids));
    return points_.Register(ids->metric + ids->pairs);
  }

  /// The same where not everybody may make every series: none of its names gets an id before it is
  /// known that it may be there, and one that does not come about counts for nobody.
  Result<SeriesNumber> RegisterLimited(const NamedPoint& point, SeriesIds* ids) {
    ASSIGN_OR_RETURN(bool known, FindSeries(point, ids));
    if (known) return Register(point, ids);
    const SeriesTurns::Turn turn(turns_, point);
    ASSIGN_OR_RETURN(known, FindSeries(point, ids));  // somebody may have made it meanwhile
    if (known) return Register(point, ids);
    Writer* const writer = Writer::Current();
    if (writer != nullptr) RETURN_IF_ERROR(writer->TakeSeries());
    Result<SeriesNumber> number = RegisterCounted(point, ids);
    if (writer != nullptr && !number.ok()) writer->GiveBackSeries();
    return number;
  }

  /// A new one, counted for its metric.
  Result<SeriesNumber> RegisterCounted(const NamedPoint& point, SeriesIds* ids) {
    if (limits_ == nullptr || !limits_->counts_series()) return Register(point, ids);
    const std::string metric(point.metric);
    RETURN_IF_ERROR(limits_->TakeNewSeries(metric, ids->metric));
    Result<SeriesNumber> number = Register(point, ids);
    if (!number.ok()) limits_->GiveBack(metric);
    return number;
  }

  /// Whether the series is there; what is known of its ids.
  Result<bool> FindSeries(const NamedPoint& point, SeriesIds* ids) {
    Status status;
    if (ids->metric.empty()) {
      Result<Bytes> metric = names_.Find(UidKind::kMetric, point.metric);
      if (metric.ok()) ids->metric = std::move(*metric);
      status = metric.status();
    }
    if (status.ok() && ids->pairs.empty()) {
      Result<Bytes> pairs = Pairs(point, false, false);
      if (pairs.ok()) ids->pairs = std::move(*pairs);
      status = pairs.status();
    }
    if (status.code() == StatusCode::kNotFound) return false;
    RETURN_IF_ERROR(status);
    SeriesMatcher one;
    one.tsuids = {ids->metric + ids->pairs};
    bool there = false;
    RETURN_IF_ERROR(points_.ListSeries(ids->metric, one, [&there](ByteView) {
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
  SpellingTable spellings_;
  LineTable lines_;
  TagShapes shapes_;
  SeriesTurns turns_;
};

Ingest::Ingest(Points& points, uid::Names& names, IngestOptions options, MetricLimits* limits)
    : points_(points),
      append_blocks_(options.append_blocks),
      limits_(limits),
      resolver_(std::make_unique<Resolver>(points, names, std::move(options), limits)) {}

Ingest::~Ingest() = default;

Result<PointSink::Appended> Ingest::AppendSpelled(std::span<const SpelledPoint> points) {
  if (append_blocks_) return Appended{.known = false, .position = 0};
  return Append(points, [this](std::span<const SpelledPoint> all, SeriesNumber* numbers) {
    return resolver_->spellings().FindAll(all, numbers);
  });
}

Result<PointSink::Appended> Ingest::AppendLearning(std::span<const SpelledPoint> points) {
  return Append(points, [this](std::span<const SpelledPoint> all, SeriesNumber* numbers) {
    return std::all_of(all.begin(), all.end(),
                       [](const SpelledPoint& point) { return point.time.in_range(); }) &&
           resolver_->Learn(all, numbers);
  });
}

Result<PointSink::Appended> Ingest::AppendLines(std::span<const SpelledLine> lines,
                                                std::span<const SpelledField> fields) {
  if (fields.empty()) return Appended{};
  static thread_local std::vector<SeriesNumber> kept_numbers;
  static thread_local std::vector<PointEntry> kept_entries;
  Scratch numbers(&kept_numbers, fields.size());
  Scratch entries(&kept_entries, fields.size());
  if (append_blocks_ || !resolver_->lines().TryFindAll(lines, fields, numbers.data()))
    return Appended{.known = false, .position = 0};
  size_t at = 0;
  for (const SpelledLine& line : lines) {
    const PointEntry common = MakePointEntry(0, line.time, PointValue::Int(0));
    const codec::Qualifier instant{common.qualifier};
    for (const size_t end = at + line.fields; at < end; ++at) {
      const PointValue& value = fields[at].value;
      entries[at] = {numbers[at], common.base, instant.with_flags(value.flags).bits, value.bits};
    }
  }
  ASSIGN_OR_RETURN(const LogPosition position, Store({entries.data(), fields.size()}));
  return Appended{.known = true, .position = position};
}

template <typename Find>
Result<PointSink::Appended> Ingest::Append(std::span<const SpelledPoint> points, const Find& find) {
  if (points.empty()) return Appended{};
  static thread_local std::vector<SeriesNumber> kept_numbers;
  static thread_local std::vector<PointEntry> kept_entries;
  Scratch numbers(&kept_numbers, points.size());
  if (!find(points, numbers.data())) return Appended{.known = false, .position = 0};
  Scratch entries(&kept_entries, points.size());
  for (size_t i = 0; i < points.size(); ++i) {
    entries[i] = MakePointEntry(numbers[i], points[i].time, points[i].value);
  }
  NoteUse(points);
  ASSIGN_OR_RETURN(const LogPosition position, Store({entries.data(), points.size()}));
  return Appended{.known = true, .position = position};
}

// Nothing is learnt of spellings that are known, such as those recalled after a start.
void Ingest::NoteUse(std::span<const SpelledPoint> points) {
  const uint64_t next =
      kPointsPerNote - 1 - stored_.load(std::memory_order_relaxed) % kPointsPerNote;
  if (next < points.size()) resolver_->NoteShape(points[next].series);
}

Result<LogPosition> Ingest::Store(std::span<const PointEntry> entries) {
  Writer* const writer = Writer::Current();
  const bool limited = writer != nullptr || limits_ != nullptr;
  if (limited) RETURN_IF_ERROR(AskForPoints(entries));
  Result<LogPosition> position = points_.Append(entries);
  if (!position.ok()) return position;
  stored_.fetch_add(entries.size(), std::memory_order_relaxed);
  if (writer != nullptr) writer->ChargePoints(entries.size());
  if (limits_ != nullptr) limits_->ChargePoints(entries);
  return position;
}

Status Ingest::AskForPoints(std::span<const PointEntry> entries) const {
  Writer* const writer = Writer::Current();
  OneRequest* const request = OneRequest::Current();
  if (writer != nullptr && (request == nullptr || !request->writer_may()))
    RETURN_IF_ERROR(writer->AskForPoints(entries.size()));
  if (request != nullptr) request->LetWriter();
  if (limits_ != nullptr && (request == nullptr || !request->metrics_may()))
    RETURN_IF_ERROR(limits_->AskForPoints(entries));
  if (request != nullptr) request->LetMetrics();
  return {};
}

PointSink::Position Ingest::AppendNamed(std::span<const NamedPoint> points,
                                        std::vector<Status>* results) {
  results->clear();
  std::vector<PointEntry> entries;
  std::vector<size_t> places;  // of the entries among the points
  Status away;                 // Unavailable: waited for once, not once a point
  // Fields of a line have its tags together: what speaks against these is put in words once.
  std::span<const TagText> tags;
  Status against_tags;
  bool refused = false;  // a point with these tags was
  for (const NamedPoint& point : points) {
    if (point.tags.data() != tags.data() || point.tags.size() != tags.size()) {
      tags = point.tags;
      against_tags = {};
    } else if (refused && against_tags.ok()) {
      against_tags = resolver_->CheckTags(tags);
    }
    const Status known = away.ok() ? against_tags : away;
    const Result<SeriesNumber> number = known.ok() ? resolver_->Resolve(point) : known;
    if (number.status().code() == StatusCode::kUnavailable) away = number.status();
    refused = number.status().code() == StatusCode::kInvalidArgument;
    if (number.ok()) {
      places.push_back(results->size());
      entries.push_back(MakePointEntry(*number, point.time, point.value));
    }
    results->push_back(number.status());
  }
  if (entries.empty()) return 0;
  const Result<LogPosition> position = Store(entries);
  if (position.ok()) return *position;
  for (size_t place : places) (*results)[place] = position.status();
  return 0;
}

void Ingest::Commit(Position position, std::function<void(Status)> done) {
  points_.Commit(position, std::move(done));
}

void Ingest::ForgetSpellings() {
  resolver_->spellings().Forget();
  resolver_->lines().Forget();
  if (limits_ != nullptr) limits_->Forget();
}

Result<SeriesNumber> Ingest::Resolve(const NamedPoint& point) { return resolver_->Resolve(point); }

Status Ingest::CheckNames(const NamedPoint& point) const { return resolver_->Check(point); }

Result<Bytes> Ingest::ResolveTsuid(const NamedPoint& point) {
  return resolver_->CheckedTsuid(point);
}

Status Ingest::AskForValues(std::span<const std::string_view> metrics, uint64_t values) {
  if (Writer* const writer = Writer::Current(); writer != nullptr)
    RETURN_IF_ERROR(writer->AskForPoints(values));
  if (limits_ == nullptr || !limits_->counts_points()) return {};
  std::vector<Bytes> ids;
  for (const std::string_view metric : metrics) {
    Result<Bytes> id = resolver_->FindMetric(metric);
    const StatusCode code = id.status().code();
    // Waited for once, not once a metric: the first value would refuse all as well.
    if (code == StatusCode::kBusy || code == StatusCode::kUnavailable) return id.status();
    // One without an id has taken nothing yet; what else is wrong with a name is its values'.
    if (id.ok()) ids.push_back(std::move(*id));
  }
  return limits_->AskForValues(ids, values);
}

void Ingest::ChargeValue(std::string_view metric, ByteView tsuid) {
  if (Writer* const writer = Writer::Current(); writer != nullptr) writer->ChargePoints(1);
  if (limits_ != nullptr && limits_->counts_points()) {
    const auto width = static_cast<size_t>(points_.layout().metric_width);
    limits_->ChargeValue(tsuid.substr(0, width), metric);
  }
}

TagShapes& Ingest::shapes() { return resolver_->shapes(); }

Result<bool> Ingest::RecallSpellings(const std::atomic<bool>& stop) {
  return resolver_->Recall(stop);
}

Ingest::Stats Ingest::stats() const {
  const SpellingTable::Stats stats = resolver_->spellings().stats();
  const LineTable::Stats lines = resolver_->lines().stats();
  return {stats.spellings + lines.spellings, stats.bytes + lines.bytes,
          stored_.load(std::memory_order_relaxed)};
}

}  // namespace hg::tsd
