#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "http/api/handlers.h"
#include "http/api/prom_request.h"
#include "query/engine.h"
#include "query/promql/number_text.h"
#include "query/promql/sample.h"
#include "query/promql/sample_reader.h"
#include "query/promql/steps.h"
#include "query/promql/stored_series.h"
#include "storage/base/checked_sort.h"

namespace hg::http {
namespace {

namespace promql = query::promql;

struct Newest {
  promql::Labels labels;
  std::optional<int64_t> time_ms;  // none: no sample
  double value = 0;
};

bool InName(char c, bool first) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_' || c == ':' ||
         (!first && c >= '0' && c <= '9');
}

/// Replaces each character that needs quotes in a name by an underscore.
std::string EscapedName(std::string_view name) {
  std::string text;
  for (const char c : name) {
    constexpr unsigned char kContinues = 0x80, kContinuesMask = 0xC0;
    if (InName(c, text.empty())) {
      text.push_back(c);
    } else if ((static_cast<unsigned char>(c) & kContinuesMask) != kContinues) {
      text.push_back('_');  // a character of several bytes becomes one underscore
    }
  }
  return text;
}

/// Escapes the names of the metric and of the labels.
promql::Labels Escaped(const promql::Labels& labels) {
  std::vector<promql::Labels::Pair> pairs;
  pairs.reserve(labels.pairs().size());
  for (const auto& [name, value] : labels.pairs())
    if (name != promql::kNameLabel) pairs.emplace_back(EscapedName(name), value);
  // The metric is the last pair, so that a label whose escaped name is `__name__` does not replace
  // it.
  pairs.emplace_back(promql::kNameLabel, EscapedName(labels.Get(promql::kNameLabel)));
  return promql::Labels(std::move(pairs));
}

/// Keeps the newest sample of each series. Its memory stays charged during its lifetime.
class NewestSink : public promql::SampleSink {
 public:
  /// `escapes`: names that need quotes are escaped, so that series of several names may be equal.
  NewestSink(bool escapes, RequestContext* watch) : escapes_(escapes), memory_(watch) {}

  Status AddSeries(promql::Labels labels) override {
    if (escapes_) labels = Escaped(labels);
    RETURN_IF_ERROR(memory_.Step(labels.steps()));
    RETURN_IF_ERROR(memory_.Add(static_cast<int64_t>(2 * sizeof(Newest) + labels.bytes())));
    all_.push_back({std::move(labels), {}, 0});
    return {};
  }
  Status AddSamples(size_t series, std::span<const int64_t> times_ms,
                    std::span<const double> values) override {
    if (times_ms.empty()) return {};
    Newest& newest = all_[base_ + series];
    newest.time_ms = times_ms.back();
    newest.value = values.back();
    return memory_.Step(1);
  }
  /// Begins a selector. The numbers of its series begin at 0.
  void BeginSelector() { base_ = all_.size(); }

  /// Sorts by name, then by labels. Removes series without a sample, and keeps the first of several
  /// equal series. Returns errors of the RequestContext.
  Status Finish() {
    const auto before = [](const Newest& a, const Newest& b) {
      const std::string_view left = a.labels.Get(promql::kNameLabel),
                             right = b.labels.Get(promql::kNameLabel);
      return left != right ? left < right : a.labels < b.labels;
    };
    RETURN_IF_ERROR(CheckedSort(&all_, before, &memory_));
    size_t kept = 0;
    for (Newest& one : all_) {
      RETURN_IF_ERROR(memory_.Step(1));
      if (!one.time_ms || promql::IsAbsent(one.value) ||
          one.labels.Get(promql::kNameLabel).empty() ||
          (kept > 0 && all_[kept - 1].labels == one.labels)) {
        continue;
      }
      if (&all_[kept] != &one) all_[kept] = std::move(one);
      ++kept;
    }
    all_.erase(all_.begin() + static_cast<std::ptrdiff_t>(kept), all_.end());
    return {};
  }
  [[nodiscard]] const std::vector<Newest>& all() const { return all_; }

 private:
  const bool escapes_;
  MemoryTally memory_;
  std::vector<Newest> all_;
  size_t base_ = 0;
};

/// Returns the name in quotes if it contains special characters.
std::string NameText(std::string_view name) {
  for (size_t i = 0; i < name.size(); ++i)
    if (!InName(name[i], i == 0)) return promql::Quoted(name);
  return std::string(name);
}

/// Writes the lines of a response.
class FederateText {
 public:
  explicit FederateText(ResponseWriter* out) : out_(*out) {}

  void Write(const Newest& newest) {
    const std::string_view metric = newest.labels.Get(promql::kNameLabel);
    if (metric != metric_) {
      metric_ = metric;
      text_ += "# TYPE " + NameText(metric) + " untyped\n";
    }
    const std::string name = NameText(metric);
    char separator = '{';
    if (name.starts_with('"')) {
      text_ += "{" + name;
      separator = ',';
    } else {
      text_ += name;
    }
    bool instance = false;
    for (const auto& [label, value] : newest.labels.pairs()) {
      if (label == promql::kNameLabel) continue;
      instance = instance || label == kInstance;
      WriteLabel(&separator, NameText(label), value);
    }
    // An empty label `instance` is written, because the scraping server would otherwise add the
    // address of this server as `instance`.
    if (!instance) WriteLabel(&separator, std::string(kInstance), "");
    text_ += "} ";
    promql::AppendScrapedText(newest.value, &text_);
    text_ += " " + std::to_string(*newest.time_ms) + "\n";
    constexpr size_t kBytesAtOnce = 32 << 10;
    if (text_.size() >= kBytesAtOnce) Send();
  }
  /// Passes the buffered text to the response. Returns false if the client is gone.
  bool Send() {
    alive_ = alive_ && out_.Write(text_);
    text_.clear();
    return alive_;
  }
  [[nodiscard]] bool alive() const { return alive_; }

 private:
  static constexpr std::string_view kInstance = "instance";

  void WriteLabel(char* separator, const std::string& name, std::string_view value) {
    text_ += std::exchange(*separator, ',');
    text_ += name + "=\"";
    for (const char c : value) {
      if (c == '\\' || c == '"') text_ += '\\';
      text_ += c == '\n' ? "\\n" : std::string(1, c);
    }
    text_ += '"';
  }

  ResponseWriter& out_;
  std::string metric_, text_;
  bool alive_ = true;
};

}  // namespace

void HandleFederate(const Request& request, Services& services, ResponseWriter& out) {
  const std::optional<PromSelectors> asked = ReadPromSelectors(request, request.parameters, out);
  if (!asked) return;
  const std::string* const accept = request.Header("accept");
  const bool quotes =
      accept != nullptr && accept->find("escaping=allow-utf-8") != std::string::npos;
  const int64_t now_ms = services.clock.NowMs();
  const int64_t from_ms = now_ms - promql::QueryTimes().lookback_ms;
  const auto find = [&](query::RunningRequest& running) -> Result<PromWrite> {
    const auto found = std::make_shared<NewestSink>(!quotes, &running);
    promql::StoredSeries series(services.queries.points(), services.names,
                                services.queries.options(), running, {},
                                LabelNamingOf(services.options));
    for (const promql::Matchers& selector : asked->selectors) {
      found->BeginSelector();
      RETURN_IF_ERROR(series.Read(selector, from_ms, now_ms, found.get()));
    }
    RETURN_IF_ERROR(found->Finish());
    return PromWrite([found, quotes](ResponseWriter& watched) {
      watched.SetContentType(
          quotes ? "text/plain; version=1.0.0; charset=utf-8; escaping=allow-utf-8"
                 : "text/plain; version=0.0.4; charset=utf-8; escaping=underscores");
      FederateText text(&watched);
      for (const Newest& newest : found->all()) {
        if (!text.alive()) return;
        text.Write(newest);
      }
      text.Send();
    });
  };
  AnswerPromText(request, services, {"federate " + asked->text, from_ms, now_ms}, find, out);
}

}  // namespace hg::http
