#pragma once
// What the endpoints of Prometheus' HTTP API share: parameters, the envelope of answers and errors,
// and a query's life.

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "http/services.h"
#include "http/wire/json_writer.h"
#include "query/label_names.h"
#include "query/running_query.h"
#include "storage/base/status.h"

namespace hg::http {

/// Kinds of errors, as clients know them, with the status of each.
enum class PromError : unsigned char {
  kBadData,
  kExecution,
  kTimeout,
  kUnavailable,
  kInternal,
  kNotFound
};

/// {"status":"error","errorType":"bad_data","error":"…"}
void SendPromError(ResponseWriter& out, PromError error, std::string_view message);

/// The parameters of the query string and of a form in the body, which comes last; none: an error
/// was sent.
std::optional<Parameters> PromParameters(const Request& request, ResponseWriter& out);

/// A time or duration; none: an error that names the parameter was sent. `otherwise` where it is
/// not given; without that it must be.
std::optional<int64_t> PromTime(const Parameters& parameters, std::string_view name,
                                std::optional<int64_t> otherwise, ResponseWriter& out);
std::optional<int64_t> PromDuration(const Parameters& parameters, std::string_view name,
                                    std::optional<int64_t> otherwise, ResponseWriter& out);

/// How labels are written as names, and series without labels are told.
query::LabelNaming LabelNamingOf(const Options& options);

/// What a query is listed as while it runs.
struct PromQuestion {
  std::string text;
  int64_t start_ms = 0, end_ms = 0;
};

/// Writes the "data" of an answer; owns all that it needs.
using PromPrint = std::function<void(JsonWriter*)>;
/// Computes an answer. The query is watched (query/running_query.h) and outlives what it gives.
using PromFind = std::function<Result<PromPrint>(query::RunningQuery&)>;

/// Runs one query and answers it.
void AnswerProm(const Request& request, Services& services, const PromQuestion& question,
                const PromFind& find, ResponseWriter& out);

}  // namespace hg::http
