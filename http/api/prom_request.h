#pragma once
// Functions that all endpoints of Prometheus' HTTP API use: to parse parameters, to send responses
// and errors, and to run a query.

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "http/request/services.h"
#include "http/wire/json_writer.h"
#include "query/promql/label_names.h"
#include "query/promql/syntax.h"
#include "query/request/running_request.h"
#include "storage/base/status.h"

namespace hg::http {

/// Error types of Prometheus' API. Each has an HTTP status.
enum class PromError : unsigned char {
  kBadData,
  kExecution,
  kTimeout,
  kUnavailable,
  kInternal,
  kNotFound
};

/// Sends {"status":"error","errorType":"bad_data","error":"…"}.
void SendPromError(ResponseWriter& out, PromError error, std::string_view message);

/// Sends the error for a parameter that could not be parsed, because its value is invalid or the
/// request was ended meanwhile.
void SendParameterError(ResponseWriter& out, std::string_view name, const Status& why);

/// Returns the parameters of the query string, followed by the parameters of a form in the body. On
/// failure sends an error and returns nullopt.
std::optional<Parameters> PromParameters(const Request& request, ResponseWriter& out);

/// Parses a parameter that is a time or duration. If the parameter is absent, returns `otherwise`;
/// if `otherwise` is nullopt, the parameter is required. On failure sends an error that names the
/// parameter, and returns nullopt.
std::optional<int64_t> PromTime(const Parameters& parameters, std::string_view name,
                                std::optional<int64_t> otherwise, ResponseWriter& out);
std::optional<int64_t> PromDuration(const Parameters& parameters, std::string_view name,
                                    std::optional<int64_t> otherwise, ResponseWriter& out);

/// Parses the parameter "limit", the maximum number of items in a result. Returns SIZE_MAX if it is
/// absent or 0. If it is invalid, sends an error and returns nullopt.
std::optional<size_t> PromLimit(const Parameters& parameters, ResponseWriter& out);
/// The warning in a response from which items were left out because of the limit.
inline constexpr std::string_view kTruncated = "results truncated due to limit";

/// The parsed match[] parameters of a request. A series must match at least one of them.
struct PromSelectors {
  std::vector<query::promql::Matchers> selectors;  // each selector once
  std::string text;                                // shown in lists of running queries
};
/// Returns nullopt if it sent an error, or if the request may not wait for compiling a pattern.
std::optional<PromSelectors> ReadPromSelectors(const Request& request, const Parameters& parameters,
                                               ResponseWriter& out);

/// Returns the rules that turn tags into PromQL labels, and labels into tags.
query::LabelNaming LabelNamingOf(const Options& options);

/// A PromQL request, in the form in which lists of running queries show it.
struct PromQuestion {
  std::string text;
  int64_t start_ms = 0, end_ms = 0;
};

/// A response that was computed but not sent yet. Owns everything that it needs.
struct PromFound {
  std::function<void(JsonWriter*)> print;    // writes the value of "data"
  std::vector<std::string> warnings, infos;  // written only if not empty
};
/// A function that computes a response. It reports its work to its argument, which outlives the
/// returned PromFound.
using PromFind = std::function<Result<PromFound>(query::RunningRequest&)>;

/// Runs one query and sends its response.
void AnswerProm(const Request& request, Services& services, const PromQuestion& question,
                const PromFind& find, ResponseWriter& out);

/// A function that writes a response. Owns everything that it needs.
using PromWrite = std::function<void(ResponseWriter&)>;
/// Like AnswerProm, for responses that are not JSON.
void AnswerPromText(const Request& request, Services& services, const PromQuestion& question,
                    const std::function<Result<PromWrite>(query::RunningRequest&)>& find,
                    ResponseWriter& out);

/// Sends {"status":"success","data":DATA}. `data` is JSON.
void SendPromData(ResponseWriter& out, std::string_view data);

/// Parses the parameter "query". Returns nullptr if it sent an error, or if a regular expression
/// must be compiled but the request may not wait (RequestContext::MayWait).
query::promql::ExprPtr PromExpression(const Request& request, const Parameters& parameters,
                                      Services& services, ResponseWriter& out);

}  // namespace hg::http
