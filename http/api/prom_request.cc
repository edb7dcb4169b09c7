#include "http/api/prom_request.h"

#include <algorithm>
#include <charconv>
#include <set>
#include <string>
#include <utility>

#include "http/api/asked_query.h"
#include "http/request/replies.h"
#include "http/wire/percent.h"
#include "http/wire/prom_time.h"
#include "query/engine.h"
#include "query/promql/parser.h"
#include "storage/model/utf8.h"

namespace hg::http {
namespace {

/// Maximum match[] parameters of a request.
constexpr size_t kSelectorsMax = 100;

struct ErrorKind {
  std::string_view name;
  int status;
};

ErrorKind KindOf(PromError error) {
  switch (error) {
    case PromError::kBadData:
      return {"bad_data", 400};
    case PromError::kExecution:
      return {"execution", 422};
    case PromError::kTimeout:
      return {"timeout", 503};
    case PromError::kUnavailable:
      return {"unavailable", 503};
    case PromError::kNotFound:
      return {"not_found", 404};
    case PromError::kInternal:
      break;
  }
  return {"internal", 500};
}

/// Returns the error type for the failure of a query that was parsed successfully.
PromError ErrorOf(StatusCode code) {
  switch (code) {
    case StatusCode::kInvalidArgument:
    case StatusCode::kNotFound:
    case StatusCode::kLimitExceeded:
      return PromError::kExecution;
    case StatusCode::kDeadlineExceeded:
      return PromError::kTimeout;
    case StatusCode::kBusy:
    case StatusCode::kUnavailable:
      return PromError::kUnavailable;
    default:
      return PromError::kInternal;
  }
}

std::optional<int64_t> Read(const Parameters& parameters, std::string_view name,
                            std::optional<int64_t> otherwise,
                            Result<int64_t> (*parse)(std::string_view), ResponseWriter& out) {
  const std::string* const text = parameters.Find(name);
  if ((text == nullptr || text->empty()) && otherwise) return otherwise;
  const Result<int64_t> value = parse(text == nullptr ? std::string_view() : *text);
  if (value.ok()) return *value;
  SendParameterError(out, name, value.status());
  return {};
}

/// Returns a PromQL query in the form of an OpenTSDB query, for the lists of queries.
query::Request ListedAs(const PromQuestion& question) {
  query::Request request;
  request.start = std::to_string(question.start_ms);
  request.end = std::to_string(question.end_ms);
  query::SubQuery sub_query;
  sub_query.aggregator = "promql";
  sub_query.metric = question.text;
  request.queries.push_back(std::move(sub_query));
  return request;
}

void WriteTexts(std::string_view name, const std::vector<std::string>& texts, JsonWriter* json) {
  if (texts.empty()) return;
  json->Key(name);
  json->BeginArray();
  for (const std::string& text : texts) json->String(text);
  json->EndArray();
}

void Fail(const Status& status, Services& services, query::RunningRequest& running,
          ResponseWriter& out) {
  const PromError error = ErrorOf(status.code());
  Counters& counters = services.counters;
  auto& counter =
      error == PromError::kExecution ? counters.query_invalid : counters.query_exceptions;
  counter.fetch_add(1, std::memory_order_relaxed);
  SendPromError(out, error, status.message());
  if (error == PromError::kUnavailable) out.AddHeader("Retry-After", "1");
  running.SetEnd({status, KindOf(error).status, !out.Cancelled()});
}

}  // namespace

void SendPromError(ResponseWriter& out, PromError error, std::string_view message) {
  if (out.Started()) return;
  const ErrorKind kind = KindOf(error);
  std::string text = ShortMessage(message);
  ReplaceInvalidUtf8(&text);  // the message may quote bytes of the client
  std::string body;
  JsonWriter json(&body);
  json.BeginObject();
  json.Member("status", "error");
  json.Member("errorType", kind.name);
  json.Member("error", text);
  json.EndObject();
  out.Reset();
  out.SetStatus(kind.status);
  out.SetContentType(kJsonType);
  out.Write(body);
}

void SendParameterError(ResponseWriter& out, std::string_view name, const Status& why) {
  const bool wrong = why.code() == StatusCode::kInvalidArgument;
  const PromError error = wrong ? PromError::kBadData : ErrorOf(why.code());
  SendPromError(
      out, error,
      wrong ? "invalid parameter \"" + std::string(name) + "\": " + std::string(why.message())
            : std::string(why.message()));
  if (error == PromError::kUnavailable) out.AddHeader("Retry-After", "1");
}

std::optional<Parameters> PromParameters(const Request& request, ResponseWriter& out) {
  Parameters parameters = request.parameters;
  if (request.method == Method::kPost && request.body.size() > kFormBytesMax) {
    SendPromError(out, PromError::kBadData,
                  "the form in the body has " + std::to_string(request.body.size()) +
                      " bytes; at most " + std::to_string(kFormBytesMax) + " are allowed");
    return {};
  }
  if (request.method != Method::kPost ||
      ParseQueryString(request.body, &parameters, request.memory))
    return parameters;
  SendPromError(out, PromError::kBadData, "the form in the body has a bad percent escape");
  return {};
}

std::optional<int64_t> PromTime(const Parameters& parameters, std::string_view name,
                                std::optional<int64_t> otherwise, ResponseWriter& out) {
  return Read(parameters, name, otherwise, ParsePromTime, out);
}

std::optional<int64_t> PromDuration(const Parameters& parameters, std::string_view name,
                                    std::optional<int64_t> otherwise, ResponseWriter& out) {
  return Read(parameters, name, otherwise, ParsePromDuration, out);
}

std::optional<size_t> PromLimit(const Parameters& parameters, ResponseWriter& out) {
  const std::string* const text = parameters.Find("limit");
  if (text == nullptr || text->empty()) return SIZE_MAX;
  size_t limit = 0;
  const auto [end, error] = std::from_chars(text->data(), text->data() + text->size(), limit);
  if (error == std::errc() && end == text->data() + text->size())
    return limit == 0 ? SIZE_MAX : limit;
  SendPromError(out, PromError::kBadData,
                "invalid parameter \"limit\": \"" + *text + "\" is no number");
  return {};
}

std::optional<PromSelectors> ReadPromSelectors(const Request& request, const Parameters& parameters,
                                               ResponseWriter& out) {
  namespace promql = query::promql;
  PromSelectors asked;
  const auto refuse = [&](std::string_view why) {
    SendPromError(out, PromError::kBadData, "invalid parameter \"match[]\": " + std::string(why));
    return std::nullopt;
  };
  ptrdiff_t patterns = 0;
  std::set<std::string> known;
  size_t count = 0;
  for (const std::string& text : parameters.All("match[]")) {
    if (++count > kSelectorsMax)
      return refuse("given more than " + std::to_string(kSelectorsMax) + " times");
    Result<promql::Matchers> selector = promql::ParseSelector(text, *request.running);
    if (request.running->refused()) return {};
    if (!selector.ok()) {
      SendParameterError(out, "match[]", selector.status());
      return {};
    }
    patterns += std::count_if(selector->begin(), selector->end(), [](const promql::Matcher& m) {
      return m.kind == promql::MatchKind::kMatches || m.kind == promql::MatchKind::kMatchesNot;
    });
    if (patterns > promql::kPatternsMax) {
      return refuse("more than " + std::to_string(promql::kPatternsMax) +
                    " regular expressions in all match[] parameters");
    }
    if (known.insert(text).second) asked.selectors.push_back(std::move(*selector));
    asked.text += (asked.text.empty() ? "" : ", ") + text;
  }
  return asked;
}

query::LabelNaming LabelNamingOf(const Options& options) {
  return {.extra_name_characters = options.extra_name_characters,
          .default_tag_key = options.default_tag_key,
          .default_tag_value = options.default_tag_value,
          .underscored_metrics = options.underscore_names};
}

void AnswerPromText(const Request& request, Services& services, const PromQuestion& question,
                    const std::function<Result<PromWrite>(query::RunningRequest&)>& find,
                    ResponseWriter& out) {
  query::RunningRequest& running = *request.running;
  if (const Status begun = BeginQuery(request, ListedAs(question)); !begun.ok())
    return SendPromError(out, ErrorOf(begun.code()), begun.message());
  const Result<PromWrite> write = find(running);
  if (running.refused()) return;
  if (!write.ok()) return Fail(write.status(), services, running, out);
  SendAnswer(request, services, running, out, *write);
}

void AnswerProm(const Request& request, Services& services, const PromQuestion& question,
                const PromFind& find, ResponseWriter& out) {
  const auto find_json = [&find](query::RunningRequest& running) -> Result<PromWrite> {
    ASSIGN_OR_RETURN(PromFound found, find(running));
    return PromWrite([found = std::move(found)](ResponseWriter& watched) {
      watched.SetContentType(kJsonType);
      JsonWriter json(&watched);
      json.BeginObject();
      json.Member("status", "success");
      json.Key("data");
      found.print(&json);
      WriteTexts("warnings", found.warnings, &json);
      WriteTexts("infos", found.infos, &json);
      json.EndObject();
      json.Finish();
    });
  };
  AnswerPromText(request, services, question, find_json, out);
}

void SendPromData(ResponseWriter& out, std::string_view data) {
  out.SetContentType(kJsonType);
  out.Write(R"({"status":"success","data":)" + std::string(data) + "}");
}

query::promql::ExprPtr PromExpression(const Request& request, const Parameters& parameters,
                                      Services& services, ResponseWriter& out) {
  const std::string* const text = parameters.Find("query");
  Result<query::promql::ExprPtr> expr = query::promql::ParseExpression(
      text == nullptr ? std::string_view() : *text, *request.running);
  if (request.running->refused()) return nullptr;
  if (expr.ok()) return std::move(*expr);
  services.counters.query_invalid.fetch_add(1, std::memory_order_relaxed);
  SendParameterError(out, "query", expr.status());
  return nullptr;
}

}  // namespace hg::http
