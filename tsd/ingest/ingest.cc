#include "tsd/ingest/ingest.h"

#include <algorithm>
#include <optional>
#include <utility>

#include "storage/base/scratch.h"
#include "storage/codec/qualifier.h"
#include "storage/points/points.h"
#include "tsd/ingest/metric_limits.h"

namespace hg::tsd {
namespace {

// Number of named points after which the code checks whether the request was cancelled. Creating a
// series takes a fraction of a millisecond, or some milliseconds in HBase.
constexpr size_t kPointsPerCheck = 16;
// The tag format of one of this many points is recorded as used. The number is prime, so that the
// formats of all clients are recorded even if several clients send in a regular order.
constexpr uint64_t kPointsPerNote = 4093;

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

Ingest::Ingest(Points& points, uid::Names& names, IngestOptions options, MetricLimits* limits)
    : points_(points),
      append_blocks_(options.append_blocks),
      limits_(limits),
      resolver_(points, names, std::move(options), limits) {}

Result<PointSink::Appended> Ingest::AppendKeyed(std::span<const KeyedPoint> points,
                                                WriteContext& context) {
  if (points.empty()) return Appended{};
  Scratch numbers(&KeptNumbers(), points.size());
  if (append_blocks_ || !resolver_.raw_keys().FindAll(points, numbers.data()))
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
  const size_t learned = resolver_.Learn(points, context, numbers.data(), &result.refused);
  // A batch is stored or refused as a whole, as in Store, so that its client can send it again.
  if (learned == 0 || result.refused.code() == StatusCode::kLimitExceeded) return result;
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
  if (append_blocks_ || !resolver_.lines().TryFindAll(lines, fields, numbers.data()))
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
  if (next < points.size()) resolver_.NoteTagFormat(points[next].series);
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
  Status limited;        // the error of a point that exceeds a rate
  for (const NamedPoint& point : points) {
    if (over.ok() && results->size() % kPointsPerCheck == 0) over = context.request().Check();
    if (point.tags.data() != tags.data() || point.tags.size() != tags.size()) {
      tags = point.tags;
      against_tags = {};
    } else if (refused && against_tags.ok()) {
      against_tags = resolver_.CheckTags(tags, point.raw_key.dialect);
    }
    const Status known = over.ok() ? against_tags : over;
    const Result<SeriesNumber> number = known.ok() ? resolver_.Resolve(point, context) : known;
    if (number.status().code() == StatusCode::kUnavailable) over = number.status();
    refused = number.status().code() == StatusCode::kInvalidArgument;
    if (number.status().code() == StatusCode::kLimitExceeded) limited = number.status();
    if (number.ok()) {
      places.push_back(results->size());
      entries.push_back(MakePointEntry(*number, point.time, point.value));
    }
    results->push_back(number.status());
  }
  // A batch is stored or refused as a whole, as in Store, so that its client can send it again.
  if (!limited.ok()) {
    for (size_t place : places) (*results)[place] = limited;
    return 0;
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
      const Result<SeriesNumber> number = resolver_.Resolve(points[place], context);
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
  resolver_.raw_keys().Forget();
  resolver_.lines().Forget();
  if (limits_ != nullptr) limits_->Forget();
}

size_t Ingest::tags_max() const { return resolver_.TagsMax(Dialect::kLabels); }

Result<SeriesNumber> Ingest::Resolve(const NamedPoint& point, WriteContext& context) {
  return resolver_.Resolve(point, context);
}

Status Ingest::CheckNames(const NamedPoint& point) const { return resolver_.Check(point); }

Status Ingest::AdmitSeries(ByteView tsuid, WriteContext& context) {
  return resolver_.Admit(tsuid, context);
}

Result<Bytes> Ingest::ResolveTsuid(const NamedPoint& point, WriteContext& context) {
  return resolver_.CheckedTsuid(point, context);
}

Status Ingest::AskForValues(std::span<const std::string_view> metrics, uint64_t values,
                            WriteContext& context) {
  if (context.writer() != nullptr) RETURN_IF_ERROR(context.writer()->AskForPoints(values));
  if (limits_ == nullptr || !limits_->counts_points()) return {};
  std::vector<Bytes> ids;
  for (const std::string_view metric : metrics) {
    Result<Bytes> id = resolver_.FindMetric(metric);
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

TagFormats& Ingest::formats() { return resolver_.formats(); }

Result<bool> Ingest::RecallRawKeys(const std::atomic<bool>& stop) { return resolver_.Recall(stop); }

Ingest::Stats Ingest::stats() const {
  const RawKeyTable::Stats stats = resolver_.raw_keys().stats();
  const LineTable::Stats lines = resolver_.lines().stats();
  return {stats.raw_keys + lines.raw_keys, stats.bytes + lines.bytes,
          stored_.load(std::memory_order_relaxed)};
}

}  // namespace hg::tsd
