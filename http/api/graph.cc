#include <algorithm>
#include <bit>
#include <chrono>
#include <cmath>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "http/api/arguments.h"
#include "http/api/asked_query.h"
#include "http/api/handlers.h"
#include "http/graph/draw.h"
#include "http/graph/from_answer.h"
#include "http/graph/style.h"
#include "http/request/errors.h"
#include "http/request/replies.h"
#include "http/request/services.h"
#include "http/wire/json_text.h"
#include "http/wire/json_writer.h"
#include "http/wire/query_uri.h"
#include "query/engine.h"
#include "query/plan/validate.h"
#include "storage/base/request_context.h"
#include "storage/model/java_hash.h"
#include "storage/model/number_text.h"

namespace hg::http {
namespace {

constexpr size_t kPieceBytes = 32 << 10;
constexpr int64_t kHourMs = 3600000;
constexpr int64_t kDaySeconds = 86400;

// Sends a page that redirects to the home page. The target of the redirect comes from the client,
// so it is escaped in the page. The target cannot contain line breaks, so it is safe in a header
// (wire/request_head.h).
void SendRedirect(const Request& request, ResponseWriter& out) {
  const size_t question = request.target.find('?');
  const std::string place =
      "/#" + (question == std::string::npos ? "" : request.target.substr(question + 1));
  out.AddHeader("Location", place);
  std::string page =
      "<!DOCTYPE html>\n<html><head><title>OpenTSDB</title><meta http-equiv=\"refresh\" "
      "content=\"0; url=";
  AppendHtmlEscaped(&page, place);
  page += "\"></head><body>The page has moved to <a href=\"";
  AppendHtmlEscaped(&page, place);
  page += "\">the home page</a>.</body></html>\n";
  SendBody(out, 200, "text/html; charset=UTF-8", page);
}

/// Returns the HTTP status of a query that failed while it ran. Limits have the same status as at
/// /api/query. Other failures, such as an unknown name, an infinity or duplicates, are 500, unlike
/// at /api/query.
int RunFailureStatus(const Status& status) {
  switch (status.code()) {
    case StatusCode::kLimitExceeded:
    case StatusCode::kDeadlineExceeded:
    case StatusCode::kBusy:
      return QueryFailureStatus(status);
    default:
      return 500;
  }
}
int FailureStatus(const Status& status) {
  return status.code() == StatusCode::kInvalidArgument ? 400 : RunFailureStatus(status);
}

void Fail(const Request& request, Services& services, const Status& status, ResponseWriter& out,
          int code) {
  auto& counter =
      code == 400 ? services.counters.query_invalid : services.counters.query_exceptions;
  counter.fetch_add(1, std::memory_order_relaxed);
  if (status.code() == StatusCode::kBusy) return SendStatus(out, request, status);
  SendError(out, request, code, status.message());
}
void Fail(const Request& request, Services& services, const Status& status, ResponseWriter& out) {
  Fail(request, services, status, out, FailureStatus(status));
}

bool IsRelative(const std::optional<std::string>& time) {
  return !time || *time == "now" || time->ends_with("-ago");
}

/// Returns true if a time is a date, so that the time zone matters.
bool HasDate(const query::Request& request) {
  const auto date = [](const std::optional<std::string>& time) {
    return time && time->find_first_of("/:") != std::string::npos;
  };
  return date(request.start) || date(request.end);
}

/// Returns the number of seconds for which caches may keep the reply.
int64_t MaxAge(const query::ValidQuery& query, int64_t now_ms) {
  if (query.end_ms > now_ms) return 0;
  if (query.end_ms < now_ms - kHourMs && !IsRelative(query.request.start) &&
      !IsRelative(query.request.end))
    return kDaySeconds;
  return (query.end_ms - query.start_ms) / 1000 >> 10;
}

void AddCacheHeaders(const query::ValidQuery& query, const Services& services,
                     ResponseWriter& out) {
  out.AddHeader("Age", "0");
  out.AddHeader("Cache-Control",
                "max-age=" + std::to_string(MaxAge(query, services.clock.NowMs())));
}

/// Sends a line "metric seconds value tag=value …" per point. Values that are not finite are
/// omitted.
void SendLines(const query::ValidQuery& query, const query::Answer& answer,
               const Services& services, ResponseWriter& out) {
  AddCacheHeaders(query, services, out);
  out.SetContentType("text/plain");
  std::string text;
  for (const query::Group& group : answer.groups) {
    std::string tags;
    for (const size_t i : ResultTagOrder(group.tags))
      tags += " " + group.tags[i].first + "=" + group.tags[i].second;
    const query::PointColumns& points = group.points;
    for (size_t i = 0; i < points.size(); ++i) {
      const auto number = std::bit_cast<double>(points.bits[i]);
      if (points.double_at(i) && std::isnan(number)) continue;
      text += group.metric + " " + std::to_string(points.time_ms[i] / 1000) + " ";
      if (points.double_at(i)) {
        AppendJavaDouble(&text, number);
      } else {
        text += std::to_string(static_cast<int64_t>(points.bits[i]));
      }
      text += tags + "\n";
      if (text.size() < kPieceBytes) continue;
      if (!out.Write(text)) return;
      text.clear();
    }
  }
  out.Write(text);
}

/// Writes facts about a plot for OpenTSDB's web page, without the plot.
void WriteNumbers(const query::ValidQuery& query, const query::Answer& answer,
                  std::chrono::nanoseconds took, JsonWriter* json) {
  size_t points = 0;
  std::vector<const query::Group*> first(query.queries.size(), nullptr);  // by sub-query
  for (const query::Group& group : answer.groups) {
    points += group.points.size();
    if (first[group.query_index] == nullptr) first[group.query_index] = &group;
  }
  json->BeginObject();
  json->Member("plotted", static_cast<int64_t>(points));
  json->Member("timing",
               int64_t{std::chrono::duration_cast<std::chrono::milliseconds>(took).count()});
  json->Key("etags");
  json->BeginArray();
  for (const query::Group* group : first) {
    json->BeginArray();
    if (group != nullptr)
      for (const std::string& tag : group->aggregate_tags) json->String(tag);
    json->EndArray();
  }
  json->EndArray();
  json->Member("points", static_cast<int64_t>(points));
  json->EndObject();
}

/// Returns which sub-queries use the right axis. The `o` parameters are in the order of the
/// sub-queries. Options that the settings do not list are refused, because OpenTSDB passes them to
/// gnuplot.
Result<std::vector<bool>> SecondAxes(const Request& request, size_t queries,
                                     const std::vector<std::string>& allowed) {
  std::vector<bool> second;
  for (const std::string& option : request.parameters.All("o")) {
    if (std::find(allowed.begin(), allowed.end(), option) == allowed.end())
      return Status::InvalidArgument("Invalid o parameter: \"" + option +
                                     "\" is not in tsd.gnuplot.options.allowlist");
    second.push_back(option == "axis x1y2");
  }
  second.resize(queries);
  return second;
}

/// Draws a PNG. The plot's copy of the points is charged to `running` until it is drawn.
Result<std::string> Draw(const query::ValidQuery& query, const query::Answer& answer,
                         const graph::Style& style, const query::TimeZone& zone,
                         const std::vector<bool>& axes, Services& services,
                         query::RunningRequest& running) {
  const int64_t began_ns = services.clock.MonotonicNs();
  size_t bytes = 0;
  for (const query::Group& group : answer.groups) {
    bytes += sizeof(graph::Line) + group.metric.size() + group.points.size() * sizeof(graph::Point);
    for (const auto& [key, value] : group.tags) bytes += key.size() + value.size();
  }
  MemoryTally plot_memory(&running);
  RETURN_IF_ERROR(plot_memory.Add(static_cast<int64_t>(bytes)));
  Result<std::string> picture =
      graph::DrawPng(graph::PlotOf(query, answer, style, zone, axes), running);
  services.counters.drawing.Record(
      std::chrono::nanoseconds(services.clock.MonotonicNs() - began_ns));
  return picture;
}

void EndFailed(const Request& request, Services& services, const Status& status, int code,
               ResponseWriter& out) {
  Fail(request, services, status, out, code);
  request.running->SetEnd({status, code, !out.Cancelled()});
}

}  // namespace

void HandleGraph(const Request& request, Services& services, ResponseWriter& out) {
  const bool lines = request.parameters.Has("ascii"), numbers = request.parameters.Has("json");
  if (!lines && !numbers && !request.parameters.Has("png")) return SendRedirect(request, out);
  if (!NonEmptyParameter(request, "start")) return SendMissingParameter(out, request, "start");
  if (!request.parameters.Has("m") && !request.parameters.Has("tsuid"))
    return SendError(out, request, 400, "Missing sub queries");

  const int64_t began_ns = services.clock.MonotonicNs();
  const auto took = [&] {
    return std::chrono::nanoseconds(services.clock.MonotonicNs() - began_ns);
  };
  services.counters.graph_requests.fetch_add(1, std::memory_order_relaxed);
  query::FilterSet filters(*request.running);
  Result<query::Request> asked = ReadQuery(request.parameters, &filters);
  if (!asked.ok()) return Fail(request, services, asked.status(), out, 400);
  Result<graph::Style> style = graph::ReadStyle(request.parameters);
  if (!style.ok()) return Fail(request, services, style.status(), out);
  // Responses in the form of lines do not use the `o` parameters.
  const Result<std::vector<bool>> axes =
      lines ? std::vector<bool>()
            : SecondAxes(request, asked->queries.size(), services.options.graph_options);
  if (!axes.ok()) return Fail(request, services, axes.status(), out);
  asked->timezone = NonEmptyParameter(request, "tz");
  const Result<query::TimeZone> zone = RequestZone(asked->timezone.value_or(""), services);
  if (!zone.ok()) {
    if (HasDate(*asked)) return Fail(request, services, zone.status(), out);
    asked->timezone.reset();
  }
  asked->no_annotations = true;
  query::ValidationTrace trace;
  const Result<query::ValidQuery> query =
      services.queries.Validate(*asked, &trace, *request.running, &filters);
  if (!query.ok()) return Fail(request, services, query.status(), out);
  query::RunningRequest& running = *request.running;
  if (const Status begun = BeginQuery(request, query->request); !begun.ok())
    return Fail(request, services, begun, out);
  const Result<query::Answer> answer =
      services.queries.Run(*query, {.trim = true, .request = &running});
  if (!answer.ok())
    return EndFailed(request, services, answer.status(), RunFailureStatus(answer.status()), out);
  RecordScans(services, *answer);
  std::string picture;
  if (!lines && !numbers) {
    Result<std::string> drawn = Draw(*query, *answer, *style, zone.ok() ? *zone : query::TimeZone(),
                                     *axes, services, running);
    if (!drawn.ok())
      return EndFailed(request, services, drawn.status(), FailureStatus(drawn.status()), out);
    picture = std::move(*drawn);
  }
  SendAnswer(request, services, running, out, [&](ResponseWriter& watched) {
    if (lines) return SendLines(*query, *answer, services, watched);
    AddCacheHeaders(*query, services, watched);
    if (numbers) {
      return StreamJson(watched, request, [&](JsonWriter* json) {
        WriteNumbers(*query, *answer, took(), json);
        return Status();
      });
    }
    SendBody(watched, 200, "image/png", picture);
  });
  services.counters.graphs.Record(took());
}

}  // namespace hg::http
