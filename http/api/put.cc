#include <algorithm>
#include <charconv>
#include <set>
#include <utility>
#include <vector>

#include "http/api/handlers.h"
#include "http/api/put_answer.h"
#include "http/api/put_point.h"
#include "http/intake/intake.h"
#include "http/request/errors.h"
#include "http/request/services.h"
#include "http/wire/histogram_text.h"
#include "http/wire/put_document.h"
#include "http/wire/put_json.h"
#include "http/wire/request_memory.h"
#include "query/request/running_request.h"
#include "storage/model/aggregate_sink.h"
#include "storage/model/point_sink.h"

namespace hg::http {
namespace {

// Number of rollups or histograms after which the handler checks whether the request was cancelled.
// They are stored one by one, not as a batch, so many of them take long.
constexpr size_t kPointsPerCheck = 16;

class PutRequest {
 public:
  PutRequest(const Request& request, Services& services, ResponseWriter& out, PutKind kind)
      : request_(request),
        services_(services),
        counters_(services.counters),
        out_(out),
        kind_(kind) {
    result_.kind = kind;
  }

  void Run() {
    if (kind_ == PutKind::kPoints) counters_.rpc_put.fetch_add(1, std::memory_order_relaxed);
    if (!TakeMemory()) return;
    if (kind_ == PutKind::kPoints && StoreLearning()) return;
    if (!ReadBody() || !ReadFlags()) return;
    result_.outcomes.resize(result_.points.size());
    if (kind_ == PutKind::kPoints) ReadRawKeys();
    if (kind_ != PutKind::kPoints) AskForRates();
    for (size_t i = learned_; i < result_.points.size() && intake_.refusal().ok(); ++i) {
      if (i % kPointsPerCheck == 0) intake_.Stop(request_.running->Check());
      if (!intake_.refusal().ok()) break;
      result_.outcomes[i] =
          kind_ == PutKind::kHistograms ? TakeHistogram(result_.points[i]) : TakePoint(i);
    }
    if (intake_.refusal().ok()) Store();
    Answer();
  }

 private:
  void Refuse(int status, std::string_view message, std::string_view details = {}) {
    SendError(out_, request_, status, message, details);
  }

  /// Charges memory for a copy of the body and for the points that StoreLearning finds. Returns
  /// false if the budget refuses it. The owner of `request_.memory` then sends the error.
  bool TakeMemory() {
    return request_.memory == nullptr || request_.memory->Take(2 * request_.body.size());
  }

  bool ReadBody() {
    const std::string_view body = request_.body;
    if (body.empty()) return Refuse(400, "Missing request content"), false;
    const size_t first = body.find_first_not_of(" \t\r\n\f\v");
    if (first == std::string_view::npos) return Refuse(500, "String index out of range: 0"), false;
    if (body[first] != '{' && body[first] != '[') {
      return Refuse(400, "The JSON must start as an object or an array"), false;
    }
    auto points = ParsePutDocument(body, request_.memory, kind_, *request_.running);
    if (!points.ok()) {
      if (const Status ended = request_.running->Check(); !ended.ok())
        return SendWriteRefusal(out_, request_, ended), false;
      return Refuse(400, "Unable to parse the given JSON", points.status().message()), false;
    }
    result_.points = std::move(*points);
    if (result_.points.empty()) return Refuse(400, "No datapoints found in content"), false;
    return true;
  }

  bool ReadFlags() {
    const Parameters& parameters = request_.parameters;
    result_.flags = {parameters.Has("summary"), parameters.Has("details"), parameters.Has("sync"),
                     0};
    const std::string* timeout = parameters.Find("sync_timeout");
    if (timeout == nullptr) return true;
    std::string_view text = *timeout;
    if (text.starts_with('+')) text.remove_prefix(1);
    const char* end = text.data() + text.size();
    const auto [stop, error] = std::from_chars(text.data(), end, result_.flags.sync_timeout_ms);
    if (error == std::errc() && stop == end) return true;
    return Refuse(500, "For input string: \"" + *timeout + "\""), false;
  }

  /// Stores a body with series that the fast path does not know yet, without building a document.
  /// Returns false if the body is not regular, or if the points from learned_ on must be handled
  /// one by one.
  bool StoreLearning() {
    std::vector<KeyedPoint> points;
    if (!Parser().Parse(Padded(), &points) || points.empty()) return false;
    // Parsing a body of a million points takes a large part of a second, and storing it takes as
    // long, so this code checks in between whether the request was cancelled.
    if (const Status ended = request_.running->Check(); !ended.ok()) {
      SendWriteRefusal(out_, request_, ended);
      return true;
    }
    if (!ReadFlags()) return true;
    if (result_.flags.sync) return false;  // the response may list points that timed out
    learned_ = intake_.StoreLearning(points);
    if (learned_ < points.size() && intake_.refusal().ok()) return false;
    result_.outcomes.resize(points.size());
    Answer();
    return true;
  }

  /// Finds the raw series key of each point. With this key, the fast path finds the point's series
  /// the next time.
  void ReadRawKeys() {
    Parser().ParseRawKeys(Padded(), &raw_keys_);
    // The fast parser may have stopped early; the remaining points have no raw series key.
    raw_keys_.resize(result_.points.size());
  }

  /// Returns the parser of the thread. It keeps its memory for the next body. With a new parser for
  /// each request, page faults made large bodies a tenth slower (bench/run writes: gzip, 10 tags).
  static PutJsonParser& Parser() {
    static thread_local PutJsonParser parser;
    return parser;
  }

  /// Returns a copy of the body with the padding that the parser needs.
  std::string& Padded() {
    padded_.reserve(request_.body.size() + kPutPadding);
    padded_ = request_.body;
    return padded_;
  }

  /// Checks a point (opentsdb-http-api.md §8.2, rows 1–7). A valid point is added to named_; a
  /// rollup is stored.
  PutOutcome TakePoint(size_t i) {
    NamedPoint named;
    std::string fault = CheckPutPoint(result_.points[i], kind_, &counters_, &named.value);
    if (!fault.empty()) return {std::move(fault), false};
    if (kind_ == PutKind::kRollups) return TakeRollup(&result_.points[i], named.value);
    named.metric = *result_.points[i].metric;
    named.time.raw = result_.points[i].timestamp;
    named.raw_key = raw_keys_[i];
    named_.push_back(named);
    tags_.push_back(TagsOf(result_.points[i]));
    places_.push_back(i);
    return {};
  }

  PutOutcome TakeRollup(PutPoint* point, const PointValue& value) {
    NamedRollup rollup;
    rollup.metric = *point->metric;
    rollup.time.raw = point->timestamp;
    rollup.value = value;
    if (point->interval) rollup.interval = *point->interval;
    if (point->aggregator) rollup.aggregator = *point->aggregator;
    if (point->group_by) rollup.group_by = *point->group_by;
    rollup.group_by_given = point->group_by.has_value();
    const std::string key(services_.rollups->aggregate_key());
    if (!key.empty() || Missing(point->interval)) {
      std::string aggregate = AggregateTagValue(*services_.rollups, rollup.group_by, rollup.time);
      result_.unprintable |= key.empty() && !aggregate.empty();
      AddTag(key, std::move(aggregate), point);
    }
    const std::vector<TagText> tags = TagsOf(*point);
    rollup.tags = tags;
    const Status stored = services_.rollups->Put(rollup, write_);
    intake_.Cover(*services_.rollups);
    if (stored.code() == StatusCode::kUnsupported) return {"Unexpected exception", false};
    return OutcomeOf(stored);
  }

  /// Stores a histogram (opentsdb-http-api.md §9.2).
  PutOutcome TakeHistogram(const PutPoint& point) {
    PointValue no_number;
    std::string fault = CheckPutPoint(point, kind_, &counters_, &no_number);
    if (!fault.empty()) return {std::move(fault), false};
    const Result<Bytes> value = EncodeHistogram(point, *services_.options.histogram_codec_id);
    if (!value.ok()) return OutcomeOf(value.status());
    const std::vector<TagText> tags = TagsOf(point);
    const Status stored = services_.histograms->Put(
        {*point.metric, tags, Timestamp{point.timestamp}, *value}, write_);
    intake_.Cover(*services_.histograms);
    return OutcomeOf(stored);
  }

  /// Checks the rate limits for all values of the request together. The values are stored one by
  /// one later, but a request that the limits refuse must store none of them.
  void AskForRates() {
    std::set<std::string_view> metrics;
    uint64_t values = 0;
    for (const PutPoint& point : result_.points) {
      if (point.null || Missing(point.metric)) continue;
      metrics.insert(*point.metric);
      ++values;
    }
    LimitedSink* const sink = kind_ == PutKind::kHistograms
                                  ? static_cast<LimitedSink*>(services_.histograms)
                                  : services_.rollups;
    const Status asked =
        sink->AskFor(std::vector<std::string_view>(metrics.begin(), metrics.end()), values, write_);
    CountFailure(FailureOf(asked), values, &counters_);
    intake_.Stop(asked);
  }

  /// Stores the valid points.
  void Store() {
    for (size_t k = 0; k < named_.size(); ++k) named_[k].tags = tags_[k];
    std::vector<Status> results;
    intake_.StoreNamed(named_, &results);
    for (size_t k = 0; k < results.size(); ++k)
      result_.outcomes[places_[k]] = OutcomeOf(results[k]);
  }

  /// Waits for the log and sends the reply.
  void Answer() {
    const bool limited = result_.flags.sync && kind_ == PutKind::kPoints;
    const Status committed =
        intake_.Commit(limited ? std::max(result_.flags.sync_timeout_ms, 0) : 0);
    // The whole request is refused. If the reply listed single points as failed, clients would drop
    // these points instead of sending them again.
    if (!intake_.refusal().ok()) return SendWriteRefusal(out_, request_, intake_.refusal());
    if (!no_memory_.ok()) return SendWriteRefusal(out_, request_, no_memory_);
    if (committed.code() == StatusCode::kDeadlineExceeded) {
      result_.timed_out = true;
      for (const size_t place : places_) {
        if (result_.outcomes[place].error.empty()) result_.outcomes[place] = {kPutTimedOut, true};
      }
    } else if (!committed.ok()) {
      return SendWriteRefusal(out_, request_, committed);
    }
    AnswerPut(request_, result_, out_);
  }

  PutOutcome OutcomeOf(const Status& stored) {
    std::string message(stored.message());
    switch (intake_.Judge(stored)) {
      case Failure::kNone:
        return {};
      case Failure::kInvalid:
        return {std::move(message), false};
      case Failure::kUnknown:
        return {"Unknown metric", false};
      case Failure::kNewSeries:
        no_memory_ = stored;
        [[fallthrough]];
      case Failure::kRate:
      case Failure::kBusy:
        return {std::move(message), true};
      case Failure::kDamaged:
      case Failure::kStorage:
        break;
    }
    return {"Storage exception: " + message, true};
  }

  const Request& request_;
  Services& services_;
  Counters& counters_;
  ResponseWriter& out_;
  const PutKind kind_;
  WriteContext write_{*request_.running, request_.writer.get(), WriteContext::Checks::kOnce};
  Intake intake_{services_.sink, counters_, write_};

  PutResult result_;
  size_t learned_ = 0;  // number of leading points that StoreLearning has stored
  std::string padded_;
  std::vector<RawKey> raw_keys_;            // raw series keys of the points; borrow padded_
  std::vector<NamedPoint> named_;           // valid points
  std::vector<std::vector<TagText>> tags_;  // tags of named_
  std::vector<size_t> places_;              // index of each element of named_ among the points
  Status no_memory_;                        // the failure of points of new series, if any
};

}  // namespace

void HandlePut(const Request& request, Services& services, ResponseWriter& out) {
  PutRequest(request, services, out, PutKind::kPoints).Run();
}

void HandleRollup(const Request& request, Services& services, ResponseWriter& out) {
  PutRequest(request, services, out, PutKind::kRollups).Run();
}

void HandleHistogram(const Request& request, Services& services, ResponseWriter& out) {
  if (services.histograms == nullptr) return SendError(out, request, 503, kHistogramsOff);
  if (request.method != Method::kPost) return SendMethodNotAllowed(out, request);
  PutRequest(request, services, out, PutKind::kHistograms).Run();
}

}  // namespace hg::http
