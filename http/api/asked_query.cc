#include "http/api/asked_query.h"

#include <chrono>
#include <string>
#include <utility>

#include "http/errors.h"
#include "http/replies.h"
#include "http/wire/json_writer.h"
#include "storage/model/letter_case.h"

namespace hg::http {
namespace {

/// Looks at the query before each piece of its answer.
class WatchedWriter : public ResponseWriter {
 public:
  WatchedWriter(ResponseWriter& out, query::RunningQuery& query) : out_(out), query_(query) {}

  void SetStatus(int status) override { out_.SetStatus(status); }
  void SetContentType(std::string_view type) override { out_.SetContentType(type); }
  void AddHeader(std::string_view name, std::string_view value) override {
    out_.AddHeader(name, value);
  }
  bool Write(std::string_view bytes) override {
    if (status_.ok()) status_ = query_.Look();
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
  query::RunningQuery& query_;
  Status status_;
  bool sent_ = true;
};

/// The name as it is mostly written: "user-agent" is "User-Agent".
std::string Capitalized(std::string name) {
  bool first = true;
  for (char& c : name) {
    if (first) c = UpperCase(c);
    first = c == '-';
  }
  return name;
}

bool IsSecret(std::string_view name) {
  return name == "authorization" || name == "cookie" || name == "proxy-authorization";
}

}  // namespace

query::QueryClient ClientOf(const Request& request, ResponseWriter& out) {
  query::QueryClient client;
  client.remote = request.remote;
  for (const auto& [name, value] : request.headers)
    client.headers.emplace_back(Capitalized(name), IsSecret(name) ? "********" : value);
  client.gone = [&out] { return out.Cancelled(); };
  client.takes_long = [&out] { out.TakesLong(); };
  client.cut = [&out] { out.Cut(); };
  return client;
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
               query::RunningQuery& running, ResponseWriter& out) {
  if (QueryFailureStatus(status) == 400) {
    // Of what fails at work only an unknown name is the request's fault (QueryRpc, its ErrorCB).
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

void SendAnswer(const Request& request, Services& services, query::RunningQuery& running,
                ResponseWriter& out, const std::function<void(ResponseWriter&)>& write) {
  running.BeginAnswer();
  WatchedWriter watched(out, running);
  write(watched);
  Status ended = watched.status();
  if (ended.ok() && !watched.sent()) ended = running.Look();
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

void SendJsonAnswer(const Request& request, Services& services, query::RunningQuery& running,
                    ResponseWriter& out, const std::function<void(JsonWriter*)>& write) {
  SendAnswer(request, services, running, out, [&](ResponseWriter& watched) {
    watched.SetContentType(JsonContentType(request));
    const std::string callback(JsonpCallback(request));
    JsonWriter json(&watched);
    if (!callback.empty()) json.Text(callback + "(");
    write(&json);
    if (!callback.empty()) json.Text(")");
    json.Finish();
  });
}

}  // namespace hg::http
