#include "http/wire/prom_expression.h"

#include <memory>
#include <optional>
#include <string>
#include <utility>

#include "http/api/handlers.h"
#include "http/api/prom_request.h"
#include "query/promql/format.h"

namespace hg::http {
namespace {

namespace promql = query::promql;

/// Parses the expression and runs `find` on it. `title` and the expression are shown in lists of
/// running queries.
void AnswerExpression(
    const Request& request, Services& services, const std::string& title,
    const std::function<Result<PromFound>(promql::ExprPtr, query::RunningRequest&)>& find,
    ResponseWriter& out) {
  const std::optional<Parameters> parameters = PromParameters(request, out);
  if (!parameters) return;
  promql::ExprPtr expr = PromExpression(request, *parameters, services, out);
  if (expr == nullptr) return;
  const int64_t now_ms = services.clock.NowMs();
  AnswerProm(
      request, services, {title + *parameters->Find("query"), now_ms, now_ms},
      [&](query::RunningRequest& running) { return find(std::move(expr), running); }, out);
}

}  // namespace

void HandlePromFormat(const Request& request, Services& services, ResponseWriter& out) {
  const auto find = [](promql::ExprPtr expr, query::RunningRequest& running) -> Result<PromFound> {
    ASSIGN_OR_RETURN(std::string text, promql::FormatExpression(*expr, running));
    PromFound found;
    found.print = [text = std::move(text)](JsonWriter* json) { json->String(text); };
    return found;
  };
  AnswerExpression(request, services, "format of ", find, out);
}

void HandlePromParse(const Request& request, Services& services, ResponseWriter& out) {
  const auto find = [](promql::ExprPtr expr, query::RunningRequest&) -> Result<PromFound> {
    PromFound found;
    // std::function needs a function object that can be copied, so the expression is shared.
    found.print = [shared = std::shared_ptr<const promql::Expr>(std::move(expr))](
                      JsonWriter* json) { WriteExpression(*shared, json); };
    return found;
  };
  AnswerExpression(request, services, "tree of ", find, out);
}

void HandlePromExemplars(const Request& request, Services& services, ResponseWriter& out) {
  const std::optional<Parameters> parameters = PromParameters(request, out);
  if (!parameters) return;
  const std::optional<int64_t> start_ms = PromTime(*parameters, "start", INT64_MIN, out);
  if (!start_ms) return;
  const std::optional<int64_t> end_ms = PromTime(*parameters, "end", INT64_MAX, out);
  if (!end_ms) return;
  if (*end_ms < *start_ms) {
    return SendPromError(out, PromError::kBadData,
                         "invalid parameter \"end\": end timestamp must not be before start time");
  }
  if (PromExpression(request, *parameters, services, out) != nullptr) SendPromData(out, "[]");
}

}  // namespace hg::http
