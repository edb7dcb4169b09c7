#pragma once
// Creates series from text and prints results as text, for tests of the PromQL evaluator.

#include <doctest/doctest.h>

#include <sstream>
#include <string>
#include <vector>

#include "query/promql/evaluator.h"
#include "query/promql/number_text.h"
#include "query/promql/parser.h"

namespace hg::query::promql {

/// A reader of samples that a test gives as text. The values are separated by blanks: "1 2.5 NaN".
/// "_" means that there is no sample, "stale" is a stale marker, and "0+10x3" means 0 10 20 30.
class TextSamples : public SampleReader {
 public:
  /// Adds a series with the labels of `selector`. The first value has the time `start_s`, and each
  /// further value is `step_s` seconds later than the previous value.
  void Load(int64_t start_s, int64_t step_s, const std::string& selector,
            const std::string& values) {
    Stored stored{LabelsOf(selector), {}, {}};
    int64_t time_ms = start_s * 1000;
    std::istringstream words(values);
    for (std::string word; words >> word;) {
      const size_t times = word.find('x');
      const size_t plus = word.find('+', 1);
      const bool row = times != std::string::npos && plus != std::string::npos;
      const int count = row ? std::stoi(word.substr(times + 1)) : 0;
      const double step = row ? std::stod(word.substr(plus + 1)) : 0;
      for (int i = 0; i <= count; ++i, time_ms += step_s * 1000) {
        if (word == "_") continue;
        stored.times_ms.push_back(time_ms);
        stored.values.push_back(
            word == "stale" ? Absent() : (row ? std::stod(word) + i * step : *ParseFloat(word)));
      }
    }
    series_.push_back(std::move(stored));
  }

  Status Read(const Matchers& matchers, int64_t from_ms, int64_t to_ms, SampleSink* sink) override {
    ++reads;
    size_t number = 0;
    for (const Stored& stored : series_) {
      bool meant = true;
      for (const Matcher& matcher : matchers)
        meant = meant && matcher.Admits(stored.labels.Get(matcher.label));
      if (!meant) continue;
      RETURN_IF_ERROR(sink->AddSeries(stored.labels));
      // The samples are passed to the sink in several pieces, as a scan of stored rows would pass
      // them.
      for (size_t i = 0; i < stored.values.size(); ++i) {
        if (stored.times_ms[i] < from_ms || stored.times_ms[i] > to_ms) continue;
        RETURN_IF_ERROR(sink->AddSamples(number, std::span(stored.times_ms).subspan(i, 1),
                                         std::span(stored.values).subspan(i, 1)));
      }
      ++number;
    }
    return {};
  }

  /// Runs an instant query at the time `at_s`. Returns the series and their values as text,
  /// separated by "; ", or the error.
  std::string Ask(const std::string& text, double at_s) {
    return AskRange(text, static_cast<int64_t>(at_s * 1000), 0, 1);
  }
  /// Runs a range query. Returns the series as text, separated by "; ", or the error. The values of
  /// a series are separated by blanks; "_" means that there is no sample.
  std::string AskRange(const std::string& text, int64_t start_ms, int64_t step_ms, size_t count) {
    Result<ExprPtr> expr = ParseExpression(text);
    if (!expr.ok()) return std::string(expr.status().message());
    const Steps steps{start_ms, step_ms, count};
    const Status resolved =
        ResolveDurations(text, {step_ms, steps.end_ms() - start_ms}, expr->get());
    if (!resolved.ok()) return std::string(resolved.message());
    Evaluator evaluator(*this, watch, {start_ms, steps.end_ms()});
    const Result<Value> value = evaluator.Evaluate(**expr, steps);
    return value.ok() ? TextOf(*value) : std::string(value.status().message());
  }

  int reads = 0;
  RequestContext* watch = nullptr;

 private:
  struct Stored {
    Labels labels;
    std::vector<int64_t> times_ms;
    std::vector<double> values;
  };

  static Labels LabelsOf(const std::string& selector) {
    const Result<Matchers> matchers = ParseSelector(selector);
    REQUIRE(matchers.ok());
    Labels labels;
    for (const Matcher& matcher : *matchers) labels.Set(matcher.label, matcher.value);
    return labels;
  }

  static std::string ColumnText(const Column& column) {
    std::string out;
    for (const double value : column)
      out += (out.empty() ? "" : " ") + (IsAbsent(value) ? "_" : FixedText(value));
    return out;
  }

  static std::string SeriesText(const Labels& labels) {
    Labels others = labels;
    others.Remove(kNameLabel);
    const std::string name(labels.Get(kNameLabel));
    return !name.empty() && others.pairs().empty() ? name : name + others.Text();
  }

  static std::string TextOf(const Value& value) {
    if (value.type == ValueType::kScalar) return ColumnText(value.scalar);
    if (value.type == ValueType::kString) return value.text;
    std::string out;
    const auto add = [&](const Labels& labels, const std::string& values) {
      if (values.find_first_not_of("_ ") == std::string::npos) return;
      out += (out.empty() ? "" : "; ") + SeriesText(labels) + " " + values;
    };
    for (const VectorSeries& series : value.vector) add(series.labels, ColumnText(series.values));
    for (const RangeSeries& series : value.matrix) {
      std::string samples;
      for (size_t i = 0; i < series.values.size(); ++i) {
        samples += (samples.empty() ? "" : " ") + FixedText(series.values[i]) + "@" +
                   FixedText(static_cast<double>(series.times_ms[i]) / 1000);
      }
      add(series.labels, samples);
    }
    return out;
  }

  std::vector<Stored> series_;
};

}  // namespace hg::query::promql
