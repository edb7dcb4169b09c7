#include "tsd/ingest/series_resolver.h"

#include <algorithm>
#include <optional>
#include <utility>

#include "storage/base/random_bits.h"
#include "storage/codec/row_key.h"
#include "storage/points/tsuid_list.h"
#include "tsd/ingest/metric_limits.h"
#include "tsd/ingest/plain_raw_key.h"
#include "tsd/ingest/raw_key_recall.h"

namespace hg::tsd {
namespace {

// Number of points that are learned together. It is small, so that the data of these points stays
// in the processor's cache.
constexpr size_t kLearntTogether = 256;

/// Returns whether OpenTSDB's limit of tags applies.
bool IsOpenTsdbDialect(Dialect dialect) {
  return dialect == Dialect::kJson || dialect == Dialect::kWords;
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

bool IsForgotten(const Points& points, SeriesNumber number) {
  return number < points.series_count() && points.TsuidOf(number).empty();
}

SeriesResolver::SeriesResolver(Points& points, uid::Names& names, IngestOptions options,
                               MetricLimits* limits)
    : points_(points),
      names_(names),
      limits_(limits),
      options_(std::move(options)),
      rules_(options_.extra_name_characters),
      raw_keys_(RandomBits(), options_.raw_key_bytes_max / 2),
      lines_(RandomBits(), options_.raw_key_bytes_max / 2) {}

size_t SeriesResolver::TagsMax(Dialect dialect) const {
  return static_cast<size_t>(IsOpenTsdbDialect(dialect) ? options_.max_tags
                                                        : options_.foreign_max_tags);
}

Result<bool> SeriesResolver::Recall(const std::atomic<bool>& stop) {
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

void SeriesResolver::NoteTagFormat(const RawKey& raw_key) {
  if (!IsOpenTsdbDialect(raw_key.dialect)) return;
  std::vector<TagText> tags;
  if (ReadPlainTags(raw_key.dialect, raw_key.tags, TagsMax(raw_key.dialect), &tags))
    formats_.Note(raw_key.dialect, raw_key.tags, tags);
}

Result<SeriesNumber> SeriesResolver::Resolve(const NamedPoint& point, const WriteContext& context) {
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

size_t SeriesResolver::Learn(std::span<const KeyedPoint> points, const WriteContext& context,
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

Status SeriesResolver::Check(const NamedPoint& point) const {
  if (point.tags.empty()) {
    return Status::InvalidArgument("Need at least one tag (metric=" + std::string(point.metric) +
                                   ", tags={})");
  }
  RETURN_IF_ERROR(CheckTagCount(point.tags, point.raw_key.dialect));
  RETURN_IF_ERROR(rules_.Check("metric name", point.metric));
  return CheckTagNames(point.tags);
}

Status SeriesResolver::CheckTags(std::span<const TagText> tags, Dialect dialect) const {
  RETURN_IF_ERROR(CheckTagCount(tags, dialect));
  return CheckTagNames(tags);
}

Result<Bytes> SeriesResolver::CheckedTsuid(const NamedPoint& point, const WriteContext& context) {
  RETURN_IF_ERROR(Check(point));
  SeriesIds ids;
  RETURN_IF_ERROR(limited(context) ? RegisterLimited(point, &ids, context).status()
                                   : FillIds(point, &ids, context));
  return ids.metric + ids.pairs;
}

Status SeriesResolver::Admit(ByteView tsuid, const WriteContext& context) {
  const size_t tags = codec::PairsOf(points_.layout(), tsuid);
  const auto tags_max = static_cast<size_t>(std::max(options_.max_tags, options_.foreign_max_tags));
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

Status SeriesResolver::CheckTagCount(std::span<const TagText> tags, Dialect dialect) const {
  const size_t tags_max = TagsMax(dialect);
  if (tags.size() <= tags_max) return {};
  return Status::InvalidArgument(
      "Too many tags: " + std::to_string(tags.size()) +
      " maximum allowed: " + std::to_string(tags_max) +
      (IsOpenTsdbDialect(dialect) ? "" : " (setting tsd.ingest.max_tags)") +
      ", tags: " + TagsText(tags));
}

Status SeriesResolver::CheckTagNames(std::span<const TagText> tags) const {
  for (const TagText& tag : tags) {
    const std::string_view value = tag.null_value ? std::string_view("null") : tag.value;
    RETURN_IF_ERROR(rules_.Check("tag name with value [" + std::string(value) + "]", tag.key));
    const std::string what = "tag value with key [" + std::string(tag.key) + "]";
    if (tag.null_value) return Status::InvalidArgument("Invalid " + what + ": null");
    RETURN_IF_ERROR(rules_.Check(what, tag.value));
  }
  return {};
}

Status SeriesResolver::FindOrAllow(UidKind kind, bool create, std::string_view name, Bytes* id,
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

size_t SeriesResolver::LearnSome(std::span<const KeyedPoint> points, std::span<KeyedSeries> series,
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

size_t SeriesResolver::FillPlainIds(std::span<const KeyedPoint> points,
                                    std::span<KeyedSeries> series, size_t unknown,
                                    const WriteContext& context) {
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
    if (new_tags && !ReadPlainTags(raw_key.dialect, raw_key.tags, TagsMax(raw_key.dialect), &tags))
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

bool SeriesResolver::RegisterUnknown(std::span<KeyedSeries> series) {
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

bool SeriesResolver::IdsAreLeft(size_t points) {
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

Result<SeriesNumber> SeriesResolver::ResolveSeries(const NamedPoint& point, SeriesIds ids,
                                                   uint32_t generation,
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

Status SeriesResolver::FillIds(const NamedPoint& point, SeriesIds* ids,
                               const WriteContext& context) {
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

Status SeriesResolver::AssignMissing(const NamedPoint& point, SeriesIds* ids,
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

Status SeriesResolver::AskForRates(const Bytes& metric, const WriteContext& context) const {
  if (context.writer() != nullptr && !context.writer_passed())
    RETURN_IF_ERROR(context.writer()->AskForPoints(1));
  if (limits_ == nullptr || metric.empty() || context.metrics_passed()) return {};
  return limits_->AskForValues({&metric, 1}, 1);
}

Bytes SeriesResolver::SortedPairs(std::vector<std::pair<Bytes, Bytes>> pairs) {
  std::sort(pairs.begin(), pairs.end());  // all keys have the same width
  Bytes ids;
  for (const auto& [key, value] : pairs) ids.append(key).append(value);
  return ids;
}

Result<Bytes> SeriesResolver::FindPairs(const NamedPoint& point) {
  std::vector<std::pair<Bytes, Bytes>> pairs(point.tags.size());
  for (size_t i = 0; i < pairs.size(); ++i) {
    ASSIGN_OR_RETURN(pairs[i].first, names_.Find(UidKind::kTagk, point.tags[i].key));
    ASSIGN_OR_RETURN(pairs[i].second, names_.Find(UidKind::kTagv, point.tags[i].value));
  }
  return SortedPairs(std::move(pairs));
}

bool SeriesResolver::limited(const WriteContext& context) const {
  return (context.writer() != nullptr && context.writer()->limits_series()) ||
         (limits_ != nullptr && limits_->counts_series());
}

Result<SeriesNumber> SeriesResolver::Register(const NamedPoint& point, SeriesIds* ids,
                                              const WriteContext& context) {
  RETURN_IF_ERROR(FillIds(point, ids, context));
  return points_.Register(ids->metric + ids->pairs);
}

Result<SeriesNumber> SeriesResolver::RegisterLimited(const NamedPoint& point, SeriesIds* ids,
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

Result<SeriesNumber> SeriesResolver::Create(const std::string& metric, const Bytes& metric_id,
                                            const WriteContext& context,
                                            const std::function<Result<SeriesNumber>()>& create) {
  Writer* const writer = context.writer();
  if (writer != nullptr) RETURN_IF_ERROR(writer->TakeSeries());
  Result<SeriesNumber> number = CreateInMetric(metric, metric_id, context, create);
  if (writer != nullptr && !number.ok()) writer->GiveBackSeries();
  return number;
}

Result<SeriesNumber> SeriesResolver::CreateInMetric(
    const std::string& metric, const Bytes& metric_id, const WriteContext& context,
    const std::function<Result<SeriesNumber>()>& create) {
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

Result<bool> SeriesResolver::FindSeries(const NamedPoint& point, SeriesIds* ids) {
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

Result<bool> SeriesResolver::IsStored(ByteView tsuid) {
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

}  // namespace hg::tsd
