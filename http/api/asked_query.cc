#include "http/api/asked_query.h"

#include <chrono>
#include <string>
#include <utility>

#include "http/access/header_names.h"
#include "http/request/errors.h"
#include "http/request/replies.h"
#include "http/wire/json_writer.h"
#include "storage/model/letter_case.h"

namespace hg::http {
namespace {

/// Forwards each write unless the query was cancelled.
class WatchedWriter : public ResponseWriter {
 public:
  WatchedWriter(ResponseWriter& out, query::RunningRequest& query) : out_(out), query_(query) {}

  void SetStatus(int status) override { out_.SetStatus(status); }
  void SetContentType(std::string_view type) override { out_.SetContentType(type); }
  void AddHeader(std::string_view name, std::string_view value) override {
    out_.AddHeader(name, value);
  }
  bool Write(std::string_view bytes) override {
    if (status_.ok()) status_ = query_.Check();
    if (!status_.ok()) return false;
    sent_ = out_.Write(bytes);
    return sent_;
  }
  [[nodiscard]] bool Started() const override { return out_.Started(); }
  void Reset() override { out_.Reset(); }
  [[nodiscard]] bool Cancelled() const override { return out_.Cancelled(); }
  void TakesLong() override { out_.TakesLong(); }
  void Cut() override { out_.Cut(); }

  [[nodiscard]] const Status& status() const { return status_; }
  [[nodiscard]] bool sent() const { return sent_; }

 private:
  ResponseWriter& out_;
  query::RunningRequest& query_;
  Status status_;
  bool sent_ = true;
};

/// Returns a header name in its usual form: "user-agent" becomes "User-Agent".
std::string Capitalized(std::string name) {
  bool first = true;
  for (char& c : name) {
    if (first) c = UpperCase(c);
    first = c == '-';
  }
  return name;
}

}  // namespace

Status BeginQuery(const Request& request, const query::Request& query, bool refuse_repeats) {
  query::QueryDetails details;
  details.refuse_repeats = refuse_repeats;
  for (const auto& [name, value] : request.headers)
    details.headers.emplace_back(Capitalized(name), MayBeShown(name) ? value : "********");
  return request.running->BecomeQuery(query, std::move(details));
}

int QueryFailureStatus(const Status& status) {
  switch (status.code()) {
    case StatusCode::kNotFound:
    case StatusCode::kInvalidArgument:
    case StatusCode::kCorruption:
      return 400;
    case StatusCode::kLimitExceeded:
    case StatusCode::kDeadlineExceeded:
      return 413;
    case StatusCode::kBusy:
      return HttpStatusOf(status.code());
    case StatusCode::kUnavailable:
    case StatusCode::kIoError:
      return 424;
    default:
      return 500;
  }
}

Printers PrintersOf(Services& services) {
  return {services.queries.threads(), services.queries.side_by_side()};
}

void RecordScans(Services& services, const query::Answer& answer) {
  for (const query::SubQueryInfo& info : answer.queries)
    services.counters.scans.Record(std::chrono::nanoseconds(info.stats.scan_ns));
}

void SendQueryFailure(const Request& request, Services& services, const Status& status,
                      ResponseWriter& out) {
  const int code = QueryFailureStatus(status);
  Counters& counters = services.counters;
  auto& counter = code == 400 ? counters.query_invalid : counters.query_exceptions;
  counter.fetch_add(1, std::memory_order_relaxed);
  if (status.code() == StatusCode::kBusy) return SendStatus(out, request, status);
  SendError(out, request, code, status.message());
}

void FailQuery(const Request& request, Services& services, const Status& status,
               query::RunningRequest& running, ResponseWriter& out) {
  if (QueryFailureStatus(status) == 400) {
    // Of all failures while a query runs, OpenTSDB counts only an unknown name as an invalid query
    // (the ErrorCB of its QueryRpc). Hourglass counts in the same way.
    Counters& counters = services.counters;
    auto& counter =
        status.code() == StatusCode::kNotFound ? counters.query_invalid : counters.query_exceptions;
    counter.fetch_add(1, std::memory_order_relaxed);
    SendError(out, request, 400, status.message(), status.message());
  } else {
    SendQueryFailure(request, services, status, out);
  }
  running.SetEnd({status, QueryFailureStatus(status), !out.Cancelled()});
}

void SendAnswer(const Request& request, Services& services, query::RunningRequest& running,
                ResponseWriter& out, const std::function<void(ResponseWriter&)>& write) {
  running.BeginAnswer();
  WatchedWriter watched(out, running);
  write(watched);
  Status ended = watched.status();
  if (ended.ok() && !watched.sent()) ended = running.Check();
  if (!ended.ok() && !out.Started()) {
    out.Reset();
    return FailQuery(request, services, ended, running, out);
  }
  constexpr int kAnswered = 200;
  services.counters.query_success.fetch_add(1, std::memory_order_relaxed);
  if (!ended.ok()) out.Cut();
  const bool sent = ended.ok() && watched.sent();
  running.SetEnd({std::move(ended), kAnswered, sent});
}

void SendJsonAnswer(const Request& request, Services& services, query::RunningRequest& running,
                    ResponseWriter& out, const std::function<void(JsonWriter*)>& write) {
  SendAnswer(request, services, running, out, [&](ResponseWriter& watched) {
    watched.SetContentType(JsonpContentType(request));
    const std::string callback(JsonpCallback(request));
    JsonWriter json(&watched);
    if (!callback.empty()) json.Text(callback + "(");
    write(&json);
    if (!callback.empty()) json.Text(")");
    json.Finish();
  });
}

}  // namespace hg::http
