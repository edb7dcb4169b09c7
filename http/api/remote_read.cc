#include "http/wire/remote_read.h"

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "http/api/asked_query.h"
#include "http/api/handlers.h"
#include "http/api/prom_request.h"
#include "http/api/snappy_body.h"
#include "http/request/errors.h"
#include "http/request/services.h"
#include "http/wire/chunked_read.h"
#include "query/engine.h"
#include "query/promql/range_functions.h"
#include "query/promql/stored_series.h"

namespace hg::http {
namespace {

using query::promql::MatchKind;
using query::promql::RolledValue;

std::string_view FilterType(MatchKind kind) {
  switch (kind) {
    case MatchKind::kEqual:
      return "literal_or";
    case MatchKind::kNotEqual:
      return "not_literal_or";
    case MatchKind::kMatches:
      return "regexp";
    case MatchKind::kMatchesNot:
      break;
  }
  return "not_regexp";
}

/// Returns the request in the form of an OpenTSDB query, because /api/stats/query lists all queries
/// in this form.
query::Request Shown(const std::vector<RemoteQuery>& queries) {
  query::Request out;
  for (const RemoteQuery& asked : queries) {
    out.start = std::to_string(asked.start_ms);
    out.end = std::to_string(asked.end_ms);
    query::SubQuery& shown = out.queries.emplace_back();
    shown.aggregator = "none";
    for (const query::promql::Matcher& matcher : asked.matchers) {
      if (matcher.label == query::promql::kNameLabel && matcher.kind == MatchKind::kEqual) {
        shown.metric = matcher.value;
      } else {
        shown.filters.push_back(
            {std::string(FilterType(matcher.kind)), matcher.label, matcher.value, false, false});
      }
    }
  }
  return out;
}

/// Returns the value of the sample for an hour without raw points. Prometheus gives all samples the
/// same weight, so an average needs means. PromQL in Hourglass divides sums by numbers of points.
RolledValue RolledValueOf(const RemoteQuery& asked) {
  if (asked.function == "avg_over_time") return RolledValue::kMean;
  return query::promql::RolledValueFor(asked.function);
}

Result<std::string> Answer(const std::vector<RemoteQuery>& queries, Services& services,
                           query::RunningRequest& running) {
  query::promql::StoredSeries stored(
      services.queries.points(), services.names, services.queries.options(), running, {},
      LabelNamingOf(services.options), &services.queries.cells(), services.queries.rolled());
  for (;;) {
    ReadResponseBody body(&running);
    for (const RemoteQuery& asked : queries) {
      body.BeginResult(RolledValueOf(asked));
      RETURN_IF_ERROR(stored.Read(asked.matchers, asked.start_ms, asked.end_ms, &body));
      RETURN_IF_ERROR(body.EndResult());
    }
    ASSIGN_OR_RETURN(const bool again, stored.KeptMeanwhile());
    if (!again) return body.Pack();
  }
}

/// Reads the samples of all queries as chunks.
Result<std::vector<std::unique_ptr<ChunkedReadResult>>> Chunks(
    const std::vector<RemoteQuery>& queries, Services& services, query::RunningRequest& running) {
  query::promql::StoredSeries stored(
      services.queries.points(), services.names, services.queries.options(), running, {},
      LabelNamingOf(services.options), &services.queries.cells(), services.queries.rolled());
  for (;;) {
    std::vector<std::unique_ptr<ChunkedReadResult>> results;
    for (size_t i = 0; i < queries.size(); ++i) {
      const RemoteQuery& asked = queries[i];
      auto& result = results.emplace_back(
          std::make_unique<ChunkedReadResult>(&running, i, RolledValueOf(asked)));
      RETURN_IF_ERROR(stored.Read(asked.matchers, asked.start_ms, asked.end_ms, result.get()));
      RETURN_IF_ERROR(result->Finish());
    }
    ASSIGN_OR_RETURN(const bool again, stored.KeptMeanwhile());
    if (!again) return results;
  }
}

void AnswerChunks(const Request& request, const std::vector<RemoteQuery>& queries,
                  Services& services, ResponseWriter& out) {
  query::RunningRequest& running = *request.running;
  const auto results = Chunks(queries, services, running);
  if (!results.ok()) return FailQuery(request, services, results.status(), running, out);
  if (const Status ended = running.Check(); !ended.ok())
    return FailQuery(request, services, ended, running, out);
  SendAnswer(request, services, running, out, [&](ResponseWriter& watched) {
    watched.SetContentType(kChunkedReadType);
    for (const auto& result : *results) {
      if (!result->Write([&](std::string_view frame) { return watched.Write(frame); })) return;
    }
  });
}

}  // namespace

void HandleRemoteRead(const Request& request, Services& services, ResponseWriter& out) {
  const std::optional<SnappyBody> body =
      RequireSnappyBody(request, {"prometheus.ReadRequest"}, kReadRequestBytesMax, out);
  if (!body) return;
  const Result<RemoteRequest> asked =
      ReadReadRequest(body->bytes, request.memory, *request.running);
  if (!asked.ok()) return SendQueryFailure(request, services, asked.status(), out);
  const std::vector<RemoteQuery>& queries = asked->queries;
  query::RunningRequest& running = *request.running;
  if (const Status begun = BeginQuery(request, Shown(queries)); !begun.ok())
    return SendQueryFailure(request, services, begun, out);
  if (asked->response == ReadResponseType::kStreamedChunks)
    return AnswerChunks(request, queries, services, out);
  const Result<std::string> answer = Answer(queries, services, running);
  if (!answer.ok()) return FailQuery(request, services, answer.status(), running, out);
  if (const Status ended = running.Check(); !ended.ok())
    return FailQuery(request, services, ended, running, out);
  SendAnswer(request, services, running, out, [&](ResponseWriter& watched) {
    watched.SetContentType(kProtobufType);
    watched.AddHeader("Content-Encoding", "snappy");
    constexpr size_t kPieceBytes = 128 * 1024;
    const std::string_view all = *answer;
    for (size_t at = 0; at < all.size(); at += kPieceBytes) {
      if (!watched.Write(all.substr(at, kPieceBytes))) return;
    }
  });
}

}  // namespace hg::http
