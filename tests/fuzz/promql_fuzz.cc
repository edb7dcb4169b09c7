// PromQL expressions and selectors: they are parsed to their end and evaluated over a few series.
// Formatting the formatted text again does not change it. Parsing takes less than a second and not
// more memory than charged (tests/run_fuzzers).

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "query/promql/evaluator.h"
#include "query/promql/format.h"
#include "query/promql/lexer.h"
#include "query/promql/parser.h"
#include "storage/base/invariant.h"
#include "tests/support/fake_watch.h"

namespace hg::query::promql {
namespace {

// With a sanitizer a step takes some hundred nanoseconds.
constexpr uint64_t kStepsMax = 300'000;
constexpr int64_t kBytesMax = 64 << 20;
constexpr int64_t kStartMs = 1'700'000'000'000;

/// Nine series of three metrics. Some of them are buckets of a histogram.
class FewSeries : public SampleReader {
 public:
  Status Read(const Matchers& matchers, int64_t from_ms, int64_t to_ms, SampleSink* sink) override {
    size_t number = 0;
    for (const char* metric : {"a", "b", "up"}) {
      for (const char* bound : {"0.5", "1", "+Inf"}) {
        Labels labels({{"__name__", metric}, {"le", bound}, {"job", bound[0] == '+' ? "x" : "y"}});
        bool meant = true;
        for (const Matcher& matcher : matchers)
          meant = meant && matcher.Admits(labels.Get(matcher.label));
        if (!meant) continue;
        RETURN_IF_ERROR(sink->AddSeries(std::move(labels)));
        for (int64_t i = 0; i < 10; ++i) {
          const int64_t time_ms = kStartMs + i * 10'000;
          const double value = static_cast<double>(i) * (metric[0] == 'a' ? 1 : -0.5);
          if (time_ms >= from_ms && time_ms <= to_ms)
            RETURN_IF_ERROR(sink->AddSamples(number, {&time_ms, 1}, {&value, 1}));
        }
        ++number;
      }
    }
    return {};
  }
};

/// Errors have a text and one of these codes.
template <typename T>
bool Read(const Result<T>& result) {
  if (result.ok()) return true;
  const StatusCode code = result.status().code();
  INVARIANT(code == StatusCode::kInvalidArgument || code == StatusCode::kLimitExceeded ||
            code == StatusCode::kDeadlineExceeded);
  INVARIANT(!result.status().message().empty());
  return false;
}

void Evaluate(const Expr& expr, const Steps& steps) {
  FakeWatch watch;
  watch.steps_max = kStepsMax;
  watch.bytes_max = kBytesMax;
  FewSeries series;
  Evaluator evaluator(series, &watch, {steps.start_ms, steps.end_ms()});
  const Result<Value> value = evaluator.Evaluate(expr, steps);
  if (!Read(value)) return;
  INVARIANT(value->type == TypeOf(expr));
  for (const VectorSeries& one : value->vector) INVARIANT(one.values.size() == steps.count);
}

void ReadText(std::string_view text) {
  FakeWatch watch;
  watch.bytes_max = kBytesMax;
  if (const auto tokens = Tokenize(text, watch); Read(tokens)) {
    INVARIANT(tokens->back().kind == TokenKind::kEnd);
    INVARIANT(tokens->size() <= text.size() + 1);
  }
  (void)Read(ParseSelector(text, watch));
  Result<ExprPtr> expr = ParseExpression(text, watch);
  if (!Read(expr)) return;
  if (const Result<std::string> formatted = FormatExpression(**expr, watch); Read(formatted)) {
    // The formatted text may be longer than the parser accepts.
    const Result<ExprPtr> again = ParseExpression(*formatted);
    INVARIANT(again.ok() || formatted->size() > kExpressionBytesMax);
    if (again.ok()) INVARIANT(*FormatExpression(**again) == *formatted);
  }
  if (!ResolveDurations(text, {7'000, 84'000}, expr->get()).ok()) return;
  Evaluate(**expr, {kStartMs + 90'000, 0, 1});
  const ValueType type = TypeOf(**expr);
  if (type == ValueType::kScalar || type == ValueType::kVector)
    Evaluate(**expr, {kStartMs, 7'000, 13});
}

}  // namespace
}  // namespace hg::query::promql

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  hg::query::promql::ReadText({reinterpret_cast<const char*>(data), size});
  return 0;
}
