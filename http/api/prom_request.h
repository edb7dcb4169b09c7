#pragma once
// Functions that all endpoints of Prometheus' HTTP API use. They parse parameters, send responses
// and errors, and run queries.

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

/// The error types of Prometheus' API. The error type determines the HTTP status of the reply.
enum class PromError : unsigned char {
  kBadData,
  kExecution,
  kTimeout,
  kUnavailable,
  kInternal,
  kNotFound
};

/// Sends an error reply such as {"status":"error","errorType":"bad_data","error":"…"}.
void SendPromError(ResponseWriter& out, PromError error, std::string_view message);

/// Sends the error reply for a parameter that could not be parsed. `why` is the error: either the
/// value of the parameter is invalid, or the request was ended meanwhile.
void SendParameterError(ResponseWriter& out, std::string_view name, const Status& why);

/// Returns the parameters of the query string. For POST, they are followed by the parameters of the
/// form in the body. On failure, sends an error reply and returns nullopt.
std::optional<Parameters> PromParameters(const Request& request, ResponseWriter& out);

/// Parses a parameter that is a time or a duration, and returns it in milliseconds. If the
/// parameter is absent or empty, returns `otherwise`. If `otherwise` is nullopt, the parameter is
/// required. On failure, sends an error reply that contains the name of the parameter, and returns
/// nullopt.
std::optional<int64_t> PromTime(const Parameters& parameters, std::string_view name,
                                std::optional<int64_t> otherwise, ResponseWriter& out);
std::optional<int64_t> PromDuration(const Parameters& parameters, std::string_view name,
                                    std::optional<int64_t> otherwise, ResponseWriter& out);

/// Parses the parameter "limit", which is the maximum number of items in a result. Returns SIZE_MAX
/// if the parameter is absent or 0. If the parameter is invalid, sends an error reply and returns
/// nullopt.
std::optional<size_t> PromLimit(const Parameters& parameters, ResponseWriter& out);
/// The warning in a response if items were left out because of the parameter "limit".
inline constexpr std::string_view kTruncated = "results truncated due to limit";

/// The parsed match[] parameters of a request. A series is selected if it matches at least one of
/// the selectors.
struct PromSelectors {
  std::vector<query::promql::Matchers> selectors;  // the selectors, without repeats
  std::string text;  // text of the selectors for lists of running queries
};
/// Parses the match[] parameters of a request. Returns nullopt if the function has sent an error
/// reply. Also returns nullopt if a regular expression must be compiled but the request may not
/// wait (RequestContext::MayWait).
std::optional<PromSelectors> ReadPromSelectors(const Request& request, const Parameters& parameters,
                                               ResponseWriter& out);

/// Returns the rules by which tags become PromQL labels, and labels become tags.
query::LabelNaming LabelNamingOf(const Options& options);

/// A PromQL request in the form in which lists of running queries show it.
struct PromQuestion {
  std::string text;
  int64_t start_ms = 0, end_ms = 0;
};

/// A response that was computed but has not been sent. The object owns all data that it needs.
struct PromFound {
  std::function<void(JsonWriter*)> print;  // writes the value of the member "data"
  /// Texts of the response; each list is written only if it is not empty.
  std::vector<std::string> warnings, infos;
};
/// A function that computes a response. It charges its work to its argument, which outlives the
/// returned PromFound.
using PromFind = std::function<Result<PromFound>(query::RunningRequest&)>;

/// Runs one PromQL query and sends its response.
void AnswerProm(const Request& request, Services& services, const PromQuestion& question,
                const PromFind& find, ResponseWriter& out);

/// A function that writes a response. It owns all data that it needs.
using PromWrite = std::function<void(ResponseWriter&)>;
/// Runs one PromQL query and sends its response, which is not JSON.
void AnswerPromText(const Request& request, Services& services, const PromQuestion& question,
                    const std::function<Result<PromWrite>(query::RunningRequest&)>& find,
                    ResponseWriter& out);

/// Sends {"status":"success","data":DATA}. `data` is the JSON text DATA.
void SendPromData(ResponseWriter& out, std::string_view data);

/// Parses the parameter "query". Returns nullptr if the function has sent an error reply. Also
/// returns nullptr if a regular expression must be compiled but the request may not wait
/// (RequestContext::MayWait).
query::promql::ExprPtr PromExpression(const Request& request, const Parameters& parameters,
                                      Services& services, ResponseWriter& out);

}  // namespace hg::http
