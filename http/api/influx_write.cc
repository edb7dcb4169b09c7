// The slow path of the endpoints /write and /api/v2/write (influx_line.h).

#include <map>
#include <vector>

#include "http/api/handlers.h"
#include "http/intake/foreign_points.h"
#include "http/intake/intake.h"
#include "http/request/errors.h"
#include "http/request/replies.h"
#include "http/request/services.h"
#include "http/wire/influx_line.h"
#include "http/wire/influx_lines.h"
#include "http/wire/request_memory.h"
#include "query/request/running_request.h"
#include "storage/model/instant.h"
#include "storage/model/point_sink.h"
#include "storage/model/utf8.h"
#include "storage/model/write_context.h"

namespace hg::http {
namespace {

/// Maximum points per batch. Their names are in memory until the batch is stored.
constexpr size_t kInfluxBatchPoints = 8192;
/// Number of lines after which the code checks whether the request was cancelled. Even the longest
/// possible lines together take only a few milliseconds.
constexpr size_t kLinesPerCheck = 64;
/// Size in bytes of the slices in which long bodies are parsed.
constexpr size_t kSliceBytes = 1 << 20;
/// Maximum bytes of names per batch. This limit is needed because each field of a line repeats the
/// name of its measurement.
constexpr size_t kInfluxBatchBytes = size_t{2} << 20;
/// Maximum number of invalid lines that an error message describes. Further invalid lines are only
/// counted.
constexpr size_t kNamedLinesMax = 20;
constexpr size_t kReasonBytesMax = 160;
static_assert(kNamedLinesMax * (kReasonBytesMax + 40) <= kStatusMessageBytesMax);
/// The metric of a field with this name is the name of the measurement, without the name of the
/// field. InfluxDB's listeners for protocols without fields use this field name.
constexpr std::string_view kBareField = "value";

class InfluxWrite {
 public:
  InfluxWrite(const Request& request, Services& services, ResponseWriter& out)
      : request_(request),
        services_(services),
        counters_(services.counters),
        out_(out),
        points_(services.options) {}

  void Run() {
    counters_.rpc_influx.fetch_add(1, std::memory_order_relaxed);
    const std::string* precision = request_.parameters.Find("precision");
    const auto unit = ParseInfluxUnit(precision == nullptr ? "" : *precision);
    if (!unit) {
      return SendError(out_, request_, 400,
                       "invalid precision \"" + *precision + "\": n, ns, u, us, ms, s, m or h");
    }
    unit_ = *unit;
    const auto now = TimestampOfMillis(services_.clock.NowMs());
    now_ = now.value_or(Timestamp{1});
    TakeBody();
    Append();
    known_ = {};  // the request may wait long until its points are durable
    // If a point is refused, the points stored before it stay stored, although the client sends the
    // whole request again.
    if (const Status again = intake_.Finish(); !again.ok())
      return SendWriteRefusal(out_, request_, again);
    // The text fields are counted only here, because a client repeats a request that got 503.
    counters_.text_fields.fetch_add(text_fields_, std::memory_order_relaxed);
    if (bad_lines_ == 0) return SendBody(out_, 204, "", {});
    std::string text = "partial write: " + std::to_string(bad_lines_) + " of " +
                       std::to_string(lines_) + " lines not stored whole";
    for (const auto& [number, why] : named_)
      text += (number == named_.begin()->first ? ": line " : "; line ") + std::to_string(number) +
              ": " + why;
    if (bad_lines_ > kNamedLinesMax)
      text += "; and " + std::to_string(bad_lines_ - kNamedLinesMax) + " more";
    SendError(out_, request_, 400, text);
  }

 private:
  /// Stores the body. The fast path stores those slices of a long body in which all series are
  /// known. Short bodies do not use it, because the loop has already tried it for them.
  void TakeBody() {
    std::string_view rest = request_.body;
    bool regular = rest.size() > kSliceBytes;
    for (size_t number = 1; !rest.empty();) {
      if (Ended()) return;
      std::string_view slice = rest;
      if (regular && rest.size() > kSliceBytes)
        slice = rest.substr(0, rest.rfind('\n', kSliceBytes) + 1);
      regular = regular && !slice.empty() && ParseInfluxLines(slice, unit_, now_, &known_);
      // If the fast path cannot parse the slice, the slow path gets the whole rest, because the
      // slice may end at a line break inside a quoted text.
      if (!regular) slice = rest;
      rest.remove_prefix(slice.size());
      InfluxLineReader reader(slice, number);
      if (regular && StoreKnown()) {
        for (std::string_view line; reader.Next(&line);) lines_ += line.empty() ? 0 : 1;
      } else {
        TakeLines(&reader);
      }
      number = reader.next_number();
      if (!intake_.refusal().ok()) return;
    }
  }

  /// Stores the parsed slice if all its series are known. Otherwise stores nothing and returns
  /// false.
  bool StoreKnown() {
    if (known_.fields.empty()) return false;
    Append();  // stores earlier lines first
    if (!intake_.refusal().ok()) return true;
    if (!intake_.StoreLines(known_.lines, known_.fields)) return false;
    text_fields_ += known_.text_fields;
    return true;
  }

  /// Checks whether the request was cancelled or refused.
  bool Ended() {
    intake_.Stop(request_.running->Check());
    return !intake_.refusal().ok();
  }

  void TakeLines(InfluxLineReader* reader) {
    size_t taken_lines = 0;  // including empty lines and comments
    for (std::string_view line; reader->Next(&line);) {
      if (taken_lines++ % kLinesPerCheck == 0 && Ended()) break;
      if (line.empty()) continue;
      ++lines_;
      line_number_ = reader->number();
      if (const Status taken = TakeLine(line); !taken.ok()) {
        intake_.Judge(taken);  // counts the line
        Blame(line_number_, taken.message());
      }
      if (points_.points().size() >= kInfluxBatchPoints || points_.bytes() >= kInfluxBatchBytes)
        Append();
      if (!intake_.refusal().ok()) break;
    }
  }

  Status TakeLine(std::string_view line) {
    InfluxLine parts;
    RETURN_IF_ERROR(ParseInfluxLine(line, &parts));
    Timestamp time = now_;
    if (parts.time) {
      const auto stored = InfluxTime(*parts.time, unit_);
      if (!stored) return BadInstant(std::to_string(*parts.time));
      time = *stored;
    }
    text_fields_ += parts.text_fields;
    if (parts.fields.empty()) return {};
    // The names are checked before the first field is added, because an invalid line must be
    // refused as a whole.
    for (const InfluxField& field : parts.fields)
      if (!IsUtf8(field.name))
        return Status::InvalidArgument("the field \"" + field.name + "\" is no UTF-8");
    RETURN_IF_ERROR(points_.SetTags(parts.tags));
    for (const InfluxField& field : parts.fields) {
      const std::string metric =
          field.name == kBareField
              ? parts.measurement
              : parts.measurement + services_.options.influx_separator + field.name;
      RETURN_IF_ERROR(
          points_.Add(metric, time, field.value, {Dialect::kInflux, field.raw_name, parts.series}));
      numbers_.push_back(line_number_);
      intake_.Stop(names_room_.Cover(points_.bytes()));
      if (points_.bytes() >= kInfluxBatchBytes) Append();
      if (!intake_.refusal().ok()) break;
      if (!points_.points().empty()) continue;
      RETURN_IF_ERROR(points_.SetTags(parts.tags));
    }
    return {};
  }

  void Append() {
    if (points_.points().empty()) return points_.Clear();  // it has only names of invalid lines
    std::vector<Status> results;
    intake_.StoreNamed(points_.points(), &results);
    for (size_t i = 0; i < results.size(); ++i) {
      const Failure failure = intake_.Judge(results[i]);
      if (failure != Failure::kNone && !MayPass(failure)) Blame(numbers_[i], results[i].message());
    }
    points_.Clear();
    numbers_.clear();
  }

  /// Records the first error of each line.
  void Blame(size_t line_number, std::string_view why) {
    if (line_number == blamed_) return;
    blamed_ = line_number;
    if (++bad_lines_ > kNamedLinesMax) return;
    std::string shown = Shortened(why, kReasonBytesMax);
    ReplaceInvalidUtf8(&shown);
    named_.emplace(line_number, std::move(shown));
  }

  const Request& request_;
  Services& services_;
  Counters& counters_;
  ResponseWriter& out_;
  WriteContext write_{*request_.running, request_.writer.get(), WriteContext::Checks::kOnce};
  Intake intake_{services_.sink, counters_, write_};
  InfluxUnit unit_ = InfluxUnit::kNanosecond;
  Timestamp now_;

  InfluxPoints known_;  // points of a slice

  // The points of the current batch.
  ForeignPoints points_;
  RequestMemory::Room names_room_{request_.memory};  // charges the names of points_
  std::vector<size_t> numbers_;                      // line numbers of the points

  size_t lines_ = 0, line_number_ = 0, text_fields_ = 0;
  size_t bad_lines_ = 0, blamed_ = 0;
  std::map<size_t, std::string> named_;  // invalid lines and their errors
};

}  // namespace

void HandleInfluxWrite(const Request& request, Services& services, ResponseWriter& out) {
  InfluxWrite(request, services, out).Run();
}

}  // namespace hg::http
