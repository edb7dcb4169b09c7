#include "tests/query/promql/case_file.h"

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <limits>
#include <map>
#include <optional>
#include <regex>
#include <sstream>
#include <utility>

#include "query/promql/duration_text.h"
#include "query/promql/evaluator.h"
#include "query/promql/format.h"
#include "query/promql/function_table.h"
#include "query/promql/number_text.h"
#include "query/promql/parser.h"
#include "query/promql/quoted_text.h"
#include "query/promql/selector_parser.h"

namespace hg::query::promql {
namespace {

/// A value of a series or of an expected result.
struct Item {
  enum class Kind : unsigned char { kNone, kNumber, kHistogram } kind = Kind::kNone;
  double number = 0;
};
using Items = std::vector<Item>;

std::string Trimmed(std::string_view text) {
  const size_t begin = text.find_first_not_of(" \t\r");
  if (begin == std::string_view::npos) return "";
  return std::string(text.substr(begin, text.find_last_not_of(" \t\r") - begin + 1));
}

std::optional<double> NumberOf(const std::string& text) {
  if (text == "stale") return Absent();
  if (const auto number = ParseFloat(text)) return number;
  if (const Result<int64_t> ms = ParseDurationMs(text); ms.ok())
    return static_cast<double>(*ms) / 1000;
  return {};
}

/// Returns a duration in milliseconds, or 0 if the text is not a duration.
int64_t MsOf(const std::string& text) {
  const Result<int64_t> ms = ParseDurationMs(text);
  return ms.ok() ? *ms : 0;
}

/// Reads "1", "_", "stale", "1x3", "_x3", "1+2x3", "1-2x3".
bool AddItem(const std::string& word, Items* items) {
  const size_t x = word.find('x');
  const std::string value = word.substr(0, x);
  const size_t times = x == std::string::npos ? 0 : std::strtoul(word.c_str() + x + 1, nullptr, 10);
  if (value == "_") {
    items->resize(items->size() + std::max<size_t>(times, 1));
    return true;
  }
  size_t sign = value.find_last_of("+-");
  if (x == std::string::npos || sign == 0 || value[sign == std::string::npos ? 0 : sign - 1] == 'e')
    sign = std::string::npos;
  const std::optional<double> first = NumberOf(value.substr(0, sign));
  if (!first) return false;
  double step = 0;
  if (sign != std::string::npos) {
    const std::optional<double> more = NumberOf(value.substr(sign + 1));
    if (!more) return false;
    step = value[sign] == '-' ? -*more : *more;
  }
  double number = *first;
  for (size_t i = 0; i <= times; ++i) {
    items->push_back({Item::Kind::kNumber, number});
    if (sign != std::string::npos) number += step;
  }
  return true;
}

/// Reads the values behind the labels of a series.
bool ReadItems(std::string_view rest, Items* items) {
  while (!(rest = rest.substr(std::min(rest.find_first_not_of(" \t"), rest.size()))).empty()) {
    size_t end = 0;
    while (end < rest.size() && rest[end] != ' ' && rest[end] != '\t')
      end = rest.substr(end).starts_with("{{") ? std::min(rest.find("}}", end) + 2, rest.size())
                                               : end + 1;
    const std::string word(rest.substr(0, end));
    rest.remove_prefix(end);
    if (!word.starts_with("{{")) {
      if (!AddItem(word, items)) return false;
      continue;
    }
    const size_t times = word.rfind("}}x");
    const size_t more =
        times == std::string::npos ? 0 : std::strtoul(word.c_str() + times + 3, nullptr, 10);
    items->resize(items->size() + more + 1, {Item::Kind::kHistogram, 0});
  }
  return true;
}

struct Described {
  Labels labels;
  Items items;
  bool start_times = false;  // the line has start timestamps instead of values
};

/// Returns the length of the metric name and the labels, which are before the values.
size_t LabelsEnd(std::string_view line) {
  size_t at = std::min(line.find_first_of("{@ \t"), line.size());
  if (at == line.size() || line[at] != '{') return at;
  for (char quote = 0; at < line.size(); ++at) {
    const char c = line[at];
    if (quote != 0 && c == '\\') {
      ++at;
    } else if (quote != 0) {
      if (c == quote) quote = 0;
    } else if (c == '"' || c == '\'' || c == '`') {
      quote = c;
    } else if (c == '}') {
      return at + 1;
    }
  }
  return line.size();
}

/// Reads "name{label="value"} 1 2 3".
std::optional<Described> ReadSeries(std::string_view line) {
  const size_t end = LabelsEnd(line);
  RequestContext& context = RequestContext::Unlimited();
  const std::string_view text = line.substr(0, end);
  const auto tokens = Tokenize(text, context);
  if (!tokens.ok()) return {};
  TokenStream stream(text, *tokens, context);
  std::vector<Labels::Pair> pairs;
  if (stream.Peek().kind == TokenKind::kIdentifier)
    pairs.emplace_back(kNameLabel, stream.Next().text);
  if (stream.Take("{")) {
    while (!stream.Take("}")) {
      const Token name = stream.Next();
      if (name.kind != TokenKind::kIdentifier && name.kind != TokenKind::kString) return {};
      if (stream.Take("=")) {
        pairs.emplace_back(name.text, stream.Next().text);
      } else {
        pairs.emplace_back(kNameLabel, name.text);
      }
      if (!stream.Take(",") && !stream.Peek().Is("}")) return {};
    }
  }
  if (stream.Peek().kind != TokenKind::kEnd) return {};
  Described out{Labels(std::move(pairs)), {}};
  std::string_view rest = line.substr(end);
  if (rest.starts_with("@st")) {
    out.start_times = true;
    return out;
  }
  if (!ReadItems(rest, &out.items)) return {};
  return out;
}

/// The loaded series.
class CaseStore : public SampleReader {
 public:
  void Load(const Described& series, int64_t step_ms, bool with_histograms) {
    Stored& stored = series_[series.labels.Key()];
    stored.labels = series.labels;
    stored.start_times = stored.start_times || series.start_times;
    for (size_t i = 0; i < series.items.size(); ++i) {
      const int64_t time_ms = static_cast<int64_t>(i) * step_ms;
      if (series.items[i].kind != Item::Kind::kNone)
        stored.samples.emplace(time_ms, series.items[i]);
    }
    if (with_histograms) LoadHistogram(series, step_ms);
  }

  Status Read(const Matchers& matchers, int64_t from_ms, int64_t to_ms, SampleSink* sink) override {
    size_t number = 0;
    for (const auto& [key, stored] : series_) {
      if (!std::all_of(matchers.begin(), matchers.end(), [&](const Matcher& matcher) {
            return matcher.Admits(stored.labels.Get(matcher.label));
          })) {
        continue;
      }
      RETURN_IF_ERROR(sink->AddSeries(stored.labels));
      for (auto it = stored.samples.lower_bound(from_ms);
           it != stored.samples.end() && it->first <= to_ms; ++it) {
        if (it->second.kind == Item::Kind::kHistogram) {
          missing = "native histograms";
          continue;
        }
        if (stored.start_times) missing = "start timestamps";
        const int64_t time_ms = it->first;
        RETURN_IF_ERROR(sink->AddSamples(number, {&time_ms, 1}, {&it->second.number, 1}));
      }
      ++number;
    }
    return {};
  }

  /// The last feature that a case needed and Hourglass lacks; "" if there is none.
  std::string missing;

 private:
  struct Stored {
    Labels labels;
    std::map<int64_t, Item> samples;
    bool start_times = false;
  };

  /// Loads a series for "load_with_nhcb", which makes native histograms of buckets.
  void LoadHistogram(const Described& series, int64_t step_ms) {
    std::string name(series.labels.Get(kNameLabel));
    for (const std::string_view suffix : {"_bucket", "_count", "_sum"}) {
      if (!name.ends_with(suffix)) continue;
      Described histogram = series;
      histogram.labels.Set(kNameLabel, name.substr(0, name.size() - suffix.size()));
      histogram.labels.Remove(kBucketLabel);
      for (Item& item : histogram.items) item.kind = Item::Kind::kHistogram;
      return Load(histogram, step_ms, false);
    }
  }

  std::map<std::string, Stored> series_;
};

struct Remarks {
  bool wanted = false, none = false;
  std::vector<std::pair<bool, std::string>> texts;  // (is a regular expression, text)
};

struct Case {
  size_t line = 0;
  std::string command, expr;
  bool instant = false, ordered = false, fails = false, scalar = false, text = false;
  int64_t start_ms = 0, end_ms = 0, step_ms = 0;
  bool matrix = false;  // an instant whose result is a range vector
  int64_t matrix_start_ms = 0, matrix_step_ms = 0;
  std::vector<Described> expected;
  double number = 0;
  std::string string;
  Remarks warnings, infos;
};

bool Near(double found, double expected) {
  constexpr double kNear = 1e-6;
  if (std::isnan(found) || std::isnan(expected)) return std::isnan(found) && std::isnan(expected);
  if (found == expected) return true;
  return std::abs(found - expected) <
         kNear * std::min(std::abs(found) + std::abs(expected), std::numeric_limits<double>::max());
}

/// The series of a result: samples by time.
struct Series {
  Labels labels;
  std::map<int64_t, double> samples;
};

std::vector<Series> SeriesOf(const Value& value, const Steps& steps) {
  std::vector<Series> out;
  for (const VectorSeries& series : value.vector) {
    Series to{series.labels, {}};
    for (size_t i = 0; i < series.values.size(); ++i) {
      if (!IsAbsent(series.values[i])) to.samples.emplace(steps.At(i), series.values[i]);
    }
    if (!to.samples.empty()) out.push_back(std::move(to));
  }
  for (const RangeSeries& series : value.matrix) {
    Series to{series.labels, {}};
    for (size_t i = 0; i < series.values.size(); ++i)
      to.samples.emplace(series.times_ms[i], series.values[i]);
    out.push_back(std::move(to));
  }
  return out;
}

std::string TextOf(const Series& series) {
  std::string out = series.labels.Text();
  for (const auto& [time_ms, value] : series.samples) {
    out += " ";
    AppendAnswerText(value, &out);
    out += "@" + std::to_string(time_ms / 1000);
  }
  return out;
}

/// Returns the difference, or "" if there is none. The expected samples begin at `start_ms`.
std::string Difference(const Case& wanted, const std::vector<Series>& found, int64_t start_ms,
                       int64_t step_ms, bool ordered) {
  std::vector<Series> expected;
  for (const Described& described : wanted.expected) {
    Series to{described.labels, {}};
    for (size_t i = 0; i < described.items.size(); ++i) {
      if (described.items[i].kind == Item::Kind::kHistogram) return "native histograms";
      if (described.items[i].kind == Item::Kind::kNumber)
        to.samples.emplace(start_ms + static_cast<int64_t>(i) * step_ms, described.items[i].number);
    }
    expected.push_back(std::move(to));
  }
  if (found.size() != expected.size()) {
    std::string out = std::to_string(found.size()) + " series instead of " +
                      std::to_string(expected.size()) + ":";
    for (const Series& series : found) out += " " + TextOf(series) + ";";
    return out;
  }
  for (size_t i = 0; i < found.size(); ++i) {
    const auto match =
        ordered ? expected.begin() + static_cast<ptrdiff_t>(i)
                : std::find_if(expected.begin(), expected.end(), [&](const Series& series) {
                    return series.labels == found[i].labels;
                  });
    const bool same =
        match != expected.end() && match->labels == found[i].labels &&
        std::equal(found[i].samples.begin(), found[i].samples.end(), match->samples.begin(),
                   match->samples.end(), [](const auto& a, const auto& b) {
                     return a.first == b.first && Near(a.second, b.second);
                   });
    if (!same)
      return TextOf(found[i]) + (match == expected.end() ? "" : " instead of " + TextOf(*match));
  }
  return "";
}

std::string RemarksDifference(const Remarks& wanted, const std::vector<std::string>& found,
                              const std::string& kind) {
  std::string all;
  for (const std::string& text : found) all += " [" + text + "]";
  if (wanted.none && !found.empty()) return "unexpected " + kind + ":" + all;
  if (wanted.wanted && found.empty()) return "no " + kind;
  if (wanted.texts.empty()) return "";
  const auto fits = [](const std::pair<bool, std::string>& text, const std::string& other) {
    return text.first ? std::regex_search(other, std::regex(text.second)) : text.second == other;
  };
  for (const auto& text : wanted.texts) {
    if (std::none_of(found.begin(), found.end(), [&](const auto& f) { return fits(text, f); }))
      return kind + " " + text.second + " not in" + all;
  }
  for (const std::string& other : found) {
    if (std::none_of(wanted.texts.begin(), wanted.texts.end(),
                     [&](const auto& text) { return fits(text, other); }))
      return "unexpected " + kind + ":" + all;
  }
  return "";
}

/// Adds "@ at_ms" to all selectors and subqueries without "@". What is inside a subquery stays
/// unchanged. Returns false if the result depends on the time of the evaluation in another way.
bool Pin(Expr* expr, int64_t at_ms) {
  const auto pin = [&](TimeShift* shift) {
    if (shift->at != TimeShift::At::kNone) return false;
    shift->at = TimeShift::At::kTime;
    shift->at_ms = at_ms;
    return true;
  };
  if (auto* selector = std::get_if<Selector>(&expr->node)) {
    pin(&selector->shift);
  } else if (auto* subquery = std::get_if<Subquery>(&expr->node)) {
    pin(&subquery->shift);
  } else if (auto* negation = std::get_if<Negation>(&expr->node)) {
    return Pin(negation->inner.get(), at_ms);
  } else if (auto* binary = std::get_if<Binary>(&expr->node)) {
    return Pin(binary->left.get(), at_ms) && Pin(binary->right.get(), at_ms);
  } else if (auto* aggregation = std::get_if<Aggregation>(&expr->node)) {
    if (aggregation->parameter != nullptr && !Pin(aggregation->parameter.get(), at_ms))
      return false;
    return Pin(aggregation->inner.get(), at_ms);
  } else if (auto* call = std::get_if<Call>(&expr->node)) {
    for (const std::string_view moving :
         {"days_in_month", "day_of_month", "day_of_week", "day_of_year", "hour", "minute", "month",
          "year", "predict_linear", "time", "timestamp"}) {
      if (call->function->name == moving) return false;
    }
    return std::all_of(call->arguments.begin(), call->arguments.end(),
                       [&](const ExprPtr& argument) { return Pin(argument.get(), at_ms); });
  }
  return true;
}

class Runner {
 public:
  explicit Runner(std::string_view text) {
    std::istringstream in{std::string(text)};
    for (std::string line; std::getline(in, line);) {
      line = Trimmed(line);
      lines_.push_back(line.starts_with('#') ? "" : line);
    }
  }

  std::vector<CaseResult> Run() {
    for (at_ = 0; at_ < lines_.size(); ++at_) {
      const std::string& line = lines_[at_];
      if (line.empty()) continue;
      if (line == "clear") {
        store_ = CaseStore();
      } else if (line.starts_with("load")) {
        RunLoad();
      } else {
        RunEval();
      }
    }
    return std::move(results_);
  }

 private:
  void Report(size_t line, const std::string& command, std::string why) {
    CaseResult result{line, command, CaseEnd::kPassed, std::move(why)};
    if (!result.why.empty()) {
      result.end = CaseEnd::kFailed;
      if (!store_.missing.empty()) result.why = store_.missing;
      for (const char* reason : {"experimental", "native histograms", "start timestamps"}) {
        if (result.why.find(reason) != std::string::npos) result.end = CaseEnd::kUnsupported;
      }
    }
    results_.push_back(std::move(result));
  }

  /// Returns the lines before the next empty one.
  std::vector<std::string> Block() {
    std::vector<std::string> block;
    while (at_ + 1 < lines_.size() && !lines_[at_ + 1].empty()) block.push_back(lines_[++at_]);
    return block;
  }

  void RunLoad() {
    const size_t line = at_ + 1;
    const std::string command = lines_[at_];
    std::istringstream words(command);
    std::string load, step;
    words >> load >> step;
    const Result<int64_t> step_ms = ParseDurationMs(step);
    std::map<std::string, Described> loaded;  // if a series has several lines, the last one is used
    for (const std::string& text : Block()) {
      std::optional<Described> series = ReadSeries(text);
      if (!series || !step_ms.ok()) return Report(line, command, "cannot be read: " + text);
      Described& described = loaded[series->labels.Key()];
      series->start_times |= described.start_times;
      described = std::move(*series);
    }
    for (const auto& [key, series] : loaded)
      store_.Load(series, *step_ms, load == "load_with_nhcb");
  }

  bool ReadRemark(const std::string& line, Case* out) {
    static const std::regex kForm(R"(expect\s+(\w+)(?:\s+(msg|regex):\s*(.*))?)");
    std::smatch parts;
    if (!std::regex_match(line, parts, kForm)) return false;
    const std::string what = parts[1];
    if (what == "fail") return out->fails = true;
    if (what == "ordered") return out->ordered = true;
    Remarks& remarks = what.ends_with("warn") ? out->warnings : out->infos;
    if (what.starts_with("no_")) return remarks.none = true;
    remarks.wanted = true;
    if (parts[2].matched) remarks.texts.emplace_back(parts[2] == "regex", Trimmed(parts[3].str()));
    return true;
  }

  /// Reads the expected result. Returns what could not be read.
  std::string ReadExpected(Case* out) {
    static const std::regex kRange(R"(expect range vector from (\S+) to (\S+) step (\S+))");
    for (const std::string& line : Block()) {
      std::smatch parts;
      if (line.starts_with("expected_fail")) continue;
      if (std::regex_match(line, parts, kRange)) {
        out->matrix = true;
        out->matrix_start_ms = MsOf(parts[1].str());
        out->matrix_step_ms = MsOf(parts[3].str());
      } else if (line.starts_with("expect string ")) {
        const std::string quoted = line.substr(14);
        std::string_view rest = quoted;
        out->text = true;
        if (!TakeQuotedText(&rest, &out->string).ok()) return line;
      } else if (line.starts_with("expect ")) {
        if (!ReadRemark(line, out)) return line;
      } else if (const std::optional<double> number = NumberOf(line)) {
        out->scalar = true;
        out->number = *number;
      } else if (std::optional<Described> series = ReadSeries(line)) {
        out->expected.push_back(std::move(*series));
      } else {
        return line;
      }
    }
    return "";
  }

  void RunEval() {
    static const std::regex kInstant(R"(eval(?:_(\w+))?\s+instant\s+at\s+(\S+)\s+(.+))");
    static const std::regex kRange(
        R"(eval(?:_(\w+))?\s+range\s+from\s+(\S+)\s+to\s+(\S+)\s+step\s+(\S+?)\s+(.+))");
    Case out;
    out.line = at_ + 1;
    out.command = lines_[at_];
    std::smatch parts;
    std::string kind;
    if (std::regex_match(out.command, parts, kInstant)) {
      out.instant = true;
      kind = parts[1];
      out.start_ms = out.end_ms = MsOf(parts[2].str());
      out.expr = parts[3];
    } else if (std::regex_match(out.command, parts, kRange)) {
      kind = parts[1];
      out.start_ms = MsOf(parts[2].str());
      out.end_ms = MsOf(parts[3].str());
      out.step_ms = std::max<int64_t>(MsOf(parts[4].str()), 1);
      out.expr = parts[5];
    } else {
      return Report(out.line, out.command, "unknown command");
    }
    out.fails = kind == "fail";
    out.ordered = kind == "ordered";
    out.warnings.wanted = kind == "warn";
    out.infos.wanted = kind == "info";
    store_.missing.clear();
    const std::string unread = ReadExpected(&out);
    if (!unread.empty()) return Report(out.line, out.command, "cannot be read: " + unread);
    Report(out.line, out.command, Check(out));
  }

  /// Formats an expression and parses the text. Returns the error of its format.
  static std::string Reformat(const Expr& expr, ExprPtr* again) {
    const Result<std::string> text = FormatExpression(expr);
    if (!text.ok()) return std::string(text.status().message());
    Result<ExprPtr> parsed = ParseExpression(*text);
    if (!parsed.ok())
      return "formatted as " + *text + ": " + std::string(parsed.status().message());
    *again = std::move(*parsed);
    const Result<std::string> second = FormatExpression(**again);
    return second.ok() && *second == *text ? "" : "formatted as " + *text + ", then differently";
  }

  std::string Check(const Case& wanted) {
    Result<ExprPtr> expr = ParseExpression(wanted.expr);
    if (!expr.ok()) return wanted.fails ? "" : std::string(expr.status().message());
    ExprPtr again;
    const DurationTimes times{wanted.step_ms, wanted.end_ms - wanted.start_ms};
    if (const Status resolved = ResolveDurations(wanted.expr, times, expr->get()); !resolved.ok())
      return wanted.fails ? "" : std::string(resolved.message());
    if (const std::string why = Reformat(**expr, &again); !why.empty()) return why;
    if (const Status resolved = ResolveDurations(wanted.expr, times, again.get()); !resolved.ok())
      return "formatted: " + std::string(resolved.message());
    if (wanted.instant) {
      const std::string why = CheckInstant(wanted, *again, wanted.start_ms);
      if (!why.empty()) return "formatted: " + why;
    }
    if (!wanted.instant) {
      const Steps steps{
          wanted.start_ms, wanted.step_ms,
          static_cast<size_t>((wanted.end_ms - wanted.start_ms) / wanted.step_ms) + 1};
      return CheckAt(wanted, **expr, steps, wanted.start_ms, wanted.step_ms);
    }
    std::string why = CheckInstant(wanted, **expr, wanted.start_ms);
    if (!why.empty() || DependsOnRange(wanted) || !Pin(expr->get(), wanted.start_ms)) return why;
    const int64_t at_ms = wanted.start_ms;
    const std::vector<int64_t> others =
        at_ms == 0 ? std::vector<int64_t>{-1000, 1000}
                   : std::vector<int64_t>{-10 * at_ms, 0, at_ms / 5, at_ms, 10 * at_ms};
    for (const int64_t other_ms : others) {
      why = CheckInstant(wanted, **expr, other_ms);
      if (!why.empty()) return "with @, at " + std::to_string(other_ms) + " ms: " + why;
    }
    return "";
  }

  /// Whether the result at an instant depends on the first or last instant of the query.
  static bool DependsOnRange(const Case& wanted) {
    return wanted.expr.find("start()") != std::string::npos ||
           wanted.expr.find("end()") != std::string::npos;
  }

  /// Evaluates at an instant, and then as the middle of a range.
  std::string CheckInstant(const Case& wanted, const Expr& expr, int64_t at_ms) {
    const int64_t start_ms = wanted.matrix ? wanted.matrix_start_ms : at_ms;
    std::string why = CheckAt(wanted, expr, {at_ms, 0, 1}, start_ms, wanted.matrix_step_ms);
    const ValueType type = TypeOf(expr);
    const bool number_or_vector = type == ValueType::kScalar || type == ValueType::kVector;
    if (!why.empty() || wanted.fails || wanted.ordered || !number_or_vector) return why;
    if (DependsOnRange(wanted)) return "";
    constexpr int64_t kMinuteMs = 60'000;
    const Steps steps{at_ms - kMinuteMs, kMinuteMs, 3};
    Evaluator evaluator(store_, nullptr, {steps.start_ms, steps.end_ms()});
    const Result<Value> value = evaluator.Evaluate(expr, steps);
    if (!value.ok()) return "in a range: " + std::string(value.status().message());
    if (value->type == ValueType::kScalar)
      return Near(value->scalar[1], wanted.number) ? "" : "another number in a range";
    std::vector<Series> found = SeriesOf(*value, steps);
    for (Series& series : found)
      std::erase_if(series.samples, [&](const auto& sample) { return sample.first != at_ms; });
    std::erase_if(found, [](const Series& series) { return series.samples.empty(); });
    why = Difference(wanted, found, at_ms, 0, false);
    return why.empty() ? "" : "in a range: " + why;
  }

  std::string CheckAt(const Case& wanted, const Expr& expr, const Steps& steps, int64_t start_ms,
                      int64_t step_ms) {
    // The end of a range may lie after its last step.
    const int64_t end_ms = wanted.instant ? steps.end_ms() : wanted.end_ms;
    Evaluator evaluator(store_, nullptr, {steps.start_ms, end_ms});
    const Result<Value> value = evaluator.Evaluate(expr, steps);
    if (!value.ok()) return wanted.fails ? "" : std::string(value.status().message());
    std::vector<Series> found = SeriesOf(*value, steps);
    if (wanted.fails) {
      const Status equal = RefuseEqualSeries(*value, &evaluator.memory());
      return equal.ok() ? "no error" : "";
    }
    for (const auto& [remarks, kind, name] :
         {std::tuple{&wanted.warnings, Remark::kWarning, "warning"},
          std::tuple{&wanted.infos, Remark::kInfo, "info"}}) {
      const std::string why =
          RemarksDifference(*remarks, evaluator.annotations().Texts(kind, wanted.expr), name);
      if (!why.empty()) return why;
    }
    if (value->type == ValueType::kString) return value->text == wanted.string ? "" : value->text;
    if (value->type == ValueType::kScalar && wanted.instant) {
      if (!wanted.scalar) return "a scalar";
      return Near(value->scalar[0], wanted.number) ? "" : FixedText(value->scalar[0]);
    }
    if (value->type == ValueType::kScalar) {
      Series series;
      for (size_t i = 0; i < steps.count; ++i)
        series.samples.emplace(steps.At(i), value->scalar[i]);
      found.push_back(std::move(series));
    }
    return Difference(wanted, found, start_ms, step_ms, wanted.ordered);
  }

  std::vector<std::string> lines_;
  size_t at_ = 0;
  CaseStore store_;
  std::vector<CaseResult> results_;
};

}  // namespace

std::vector<CaseResult> RunCases(std::string_view text) { return Runner(text).Run(); }

}  // namespace hg::query::promql
