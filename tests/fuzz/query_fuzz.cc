// Queries of clients: any query string or document is parsed, checked and written again within
// bounds of time.

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "http/wire/exp_json.h"
#include "http/wire/json_value.h"
#include "http/wire/percent.h"
#include "http/wire/query_dump.h"
#include "http/wire/query_json.h"
#include "http/wire/query_uri.h"
#include "query/buckets/downsample.h"
#include "query/expression/exp_plan.h"
#include "query/plan/filter.h"
#include "query/plan/validate.h"
#include "query/time/duration.h"
#include "query/time/time_text.h"
#include "storage/base/invariant.h"

namespace hg::query {
namespace {

constexpr int64_t kNowMs = 1'700'000'000'000;

/// Errors have a text and one of these codes.
template <typename T>
bool Read(const Result<T>& result) {
  if (result.ok()) return true;
  const StatusCode code = result.status().code();
  INVARIANT(code == StatusCode::kInvalidArgument || code == StatusCode::kUnsupported ||
            code == StatusCode::kLimitExceeded);
  INVARIANT(!result.status().message().empty());
  return false;
}

void Validate(const Request& request) {
  ValidationTrace trace;
  const Result<ValidQuery> valid =
      ValidateRequest(request, kNowMs, TimeZone(), 3, &trace, RequestContext::Unlimited());
  INVARIANT(!http::QueryDump(request, trace).empty());
  if (!Read(valid)) return;
  INVARIANT(valid->start_ms < valid->end_ms);
  for (const ValidSubQuery& query : valid->queries) {
    if (!query.downsample) continue;
    INVARIANT(query.downsample->run_all || query.downsample->interval.millis() > 0);
    INVARIANT(query.downsample->function != nullptr);
  }
}

void Uri(std::string_view text) {
  http::Parameters parameters;
  if (!http::ParseQueryString(text, &parameters, nullptr)) return;
  if (!parameters.Has("start")) parameters.Add("start", "1h-ago");
  if (const auto request = http::ReadQuery(parameters); Read(request)) Validate(*request);
  (void)Read(http::ReadExpressions(parameters));
  (void)Read(http::ReadLastPointQuery(parameters));
}

void Document(std::string_view text) {
  const Result<http::JsonValue> document = http::ParseJson(text, nullptr);
  if (!Read(document)) return;
  if (const auto request = http::ReadQuery(*document); Read(request)) Validate(*request);
  (void)Read(http::ReadLastPointQuery(*document));
  const auto expressions = http::ReadExpRequest(*document);
  if (!Read(expressions)) return;
  if (const auto plan = PlanExpressions(*expressions, RequestContext::Unlimited()); Read(plan))
    Validate(plan->request);
}

void Words(std::string_view text) {
  (void)Read(ParseTime(text, kNowMs, TimeZone()));
  if (const auto duration = ParseDuration(text); Read(duration)) INVARIANT(duration->millis() > 0);
  (void)Read(ParseDownsample(text));
  if (const auto query = http::ReadMetricQuery(text); Read(query))
    INVARIANT(query->metric && query->aggregator);
  (void)Read(http::ReadTsuidQuery(text));
}

/// Uses "pattern
/// value" for each kind of filter.
void Filter(std::string_view text) {
  const size_t cut = text.find('\n');
  const std::string_view pattern = text.substr(0, cut);
  const std::string_view value =
      cut == std::string_view::npos ? std::string_view("web01") : text.substr(cut + 1);
  for (const char* type : {"literal_or", "iliteral_or", "not_literal_or", "not_iliteral_or",
                           "wildcard", "iwildcard", "regexp"}) {
    const auto filter = TagFilter::Compile({type, "host", std::string(pattern), true});
    if (!Read(filter)) continue;
    const Result<bool> matched = (*filter)->Matches(value, RequestContext::Unlimited());
    if (!Read(matched)) continue;
    const bool matches = *matched;
    const auto again = (*filter)->Matches(value, RequestContext::Unlimited());
    INVARIANT(again.ok() && matches == *again);
    if ((*filter)->matches_all()) INVARIANT(matches);
  }
  const auto legacy = LegacyFilter("host", pattern, true);
  if (Read(legacy)) (void)Read(TagFilter::Compile(*legacy));
}

}  // namespace
}  // namespace hg::query

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  if (size < 1) return 0;
  const std::string_view rest(reinterpret_cast<const char*>(data) + 1, size - 1);
  switch (data[0] % 4) {
    case 0:
      hg::query::Uri(rest);
      break;
    case 1:
      hg::query::Document(rest);
      break;
    case 2:
      hg::query::Words(rest);
      break;
    case 3:
      hg::query::Filter(rest);
      break;
  }
  return 0;
}
