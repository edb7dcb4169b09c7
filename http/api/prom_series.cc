#include "http/api/prom_series.h"

#include <algorithm>
#include <charconv>
#include <functional>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "http/api/prom_request.h"
#include "http/wire/percent.h"
#include "http/wire/prom_value.h"
#include "query/engine.h"
#include "query/promql/parser.h"
#include "query/promql/stored_series.h"
#include "storage/codec/row_key.h"
#include "storage/model/name_text.h"
#include "storage/model/utf8.h"

namespace hg::http {
namespace {

namespace promql = query::promql;

/// match[] of one request.
constexpr size_t kSelectorsMax = 100;

/// Which series, and how many answers.
struct Asked {
  std::vector<promql::Matchers> selectors;  // one of them must select a series
  std::string text;                         // for the list of queries
  int64_t start_ms = 0, end_ms = 0;
  size_t limit = SIZE_MAX;
};

std::optional<size_t> ReadLimit(const Parameters& parameters, ResponseWriter& out) {
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

/// None: an error was sent.
std::optional<Asked> ReadAsked(const Request& request, Services& services, ResponseWriter& out) {
  const std::optional<Parameters> parameters = PromParameters(request, out);
  if (!parameters) return {};
  Asked asked;
  const auto start_ms = PromTime(*parameters, "start", 0, out);
  const auto end_ms =
      start_ms ? PromTime(*parameters, "end", services.clock.NowMs(), out) : std::nullopt;
  if (!end_ms) return {};
  asked.start_ms = *start_ms;
  asked.end_ms = *end_ms;
  const auto refuse = [&](std::string_view why) {
    SendPromError(out, PromError::kBadData, "invalid parameter \"match[]\": " + std::string(why));
    return std::nullopt;
  };
  ptrdiff_t patterns = 0;
  for (const std::string& text : parameters->All("match[]")) {
    if (asked.selectors.size() == kSelectorsMax)
      return refuse("given more than " + std::to_string(kSelectorsMax) + " times");
    Result<promql::Matchers> selector = promql::ParseSelector(text);
    if (!selector.ok()) return refuse(selector.status().message());
    patterns += std::count_if(selector->begin(), selector->end(), [](const promql::Matcher& m) {
      return m.kind == promql::MatchKind::kMatches || m.kind == promql::MatchKind::kMatchesNot;
    });
    if (patterns > promql::kPatternsMax) {
      return refuse("more than " + std::to_string(promql::kPatternsMax) +
                    " regular expressions in all of them");
    }
    asked.selectors.push_back(std::move(*selector));
    asked.text += (asked.text.empty() ? "" : ", ") + text;
  }
  const std::optional<size_t> limit = ReadLimit(*parameters, out);
  if (!limit) return {};
  asked.limit = *limit;
  return asked;
}

/// About what a text takes beside its bytes, as a node of a set.
constexpr int64_t kEntryBytes = 96;

/// Adds the names with a prefix, unescaped.
Status AddNames(UidKind kind, const std::string& prefix, uid::Names& names, WorkWatch* watch,
                MemoryTally* memory, std::set<std::string>* out) {
  return names.ForEach(kind, prefix, [&](const std::string& name) -> Result<bool> {
    RETURN_IF_ERROR(watch->Step(1));
    RETURN_IF_ERROR(memory->Add(kEntryBytes + static_cast<int64_t>(name.size())));
    out->insert(UnescapedName(name));
    return true;
  });
}

/// Every name of a kind, unescaped.
Result<std::set<std::string>> AllNames(UidKind kind, uid::Names& names, WorkWatch* watch) {
  MemoryTally memory(watch);
  std::set<std::string> out;
  RETURN_IF_ERROR(AddNames(kind, "", names, watch, &memory, &out));
  // What begins beyond ASCII is not among those: letters of ISO-8859-1.
  constexpr char32_t kFirst = 0xAA, kLast = 0xFF;
  for (char32_t c = kFirst; c <= kLast; ++c) {
    std::string prefix;
    AppendCodePoint(&prefix, c);
    RETURN_IF_ERROR(AddNames(kind, prefix, names, watch, &memory, &out));
  }
  return out;
}

/// Ids that were met, charged as they are taken.
class IdSet {
 public:
  explicit IdSet(WorkWatch* watch) : memory_(watch) {}
  Status Add(ByteView id) {
    if (!last_.empty() && last_ == id) return {};
    last_.assign(id);
    if (!ids_.insert(last_).second) return {};
    return memory_.Add(kEntryBytes + static_cast<int64_t>(id.size()));
  }
  [[nodiscard]] const std::set<Bytes>& ids() const { return ids_; }

 private:
  MemoryTally memory_;
  std::set<Bytes> ids_;
  Bytes last_;
};

Result<std::set<std::string>> TextsOf(UidKind kind, const IdSet& ids, query::LabelNames* names) {
  std::set<std::string> out;
  for (const Bytes& id : ids.ids()) {
    ASSIGN_OR_RETURN(std::string text, names->TextOf(kind, id));
    out.insert(std::move(text));
  }
  return out;
}

/// Keys of the tags of all series that are meant, and "__name__" if there is any.
Result<std::set<std::string>> LabelsOf(const Asked& asked, promql::StoredSeries* series,
                                       WorkWatch* watch) {
  IdSet keys(watch);
  bool any = false;
  for (const promql::Matchers& selector : asked.selectors) {
    RETURN_IF_ERROR(series->List(selector, [&](ByteView tsuid) -> Status {
      any = true;
      ASSIGN_OR_RETURN(const bool untagged, series->names().IsUntagged(tsuid));
      if (untagged) return {};
      Status status;
      codec::ForEachPair(series->names().layout(), tsuid, [&](ByteView tagk, ByteView) {
        if (status.ok()) status = keys.Add(tagk);
      });
      return status;
    }));
  }
  ASSIGN_OR_RETURN(std::set<std::string> labels, TextsOf(UidKind::kTagk, keys, &series->names()));
  if (any) labels.emplace(promql::kNameLabel);
  return labels;
}

/// The key of the tag that series without any other were given is mostly nobody's label.
Status RemoveDefaultKey(promql::StoredSeries* series, std::set<std::string>* labels) {
  const std::string& key = series->names().naming().default_tag_key;
  if (!labels->contains(key)) return {};
  bool any = false;
  const Status status =
      series->List({{key, promql::MatchKind::kNotEqual, "", nullptr}}, [&](ByteView) {
        any = true;
        return Status::NotFound("one is enough");
      });
  if (any) return {};
  labels->erase(key);
  return status;
}

Result<std::set<std::string>> MetricsOf(const Asked& asked, promql::StoredSeries* series,
                                        WorkWatch* watch) {
  IdSet metrics(watch);
  const auto width = static_cast<size_t>(series->names().layout().metric_width);
  for (const promql::Matchers& selector : asked.selectors) {
    RETURN_IF_ERROR(series->List(
        selector, [&](ByteView tsuid) { return metrics.Add(tsuid.substr(0, width)); }));
  }
  return TextsOf(UidKind::kMetric, metrics, &series->names());
}

Result<std::set<std::string>> ValuesOf(const Asked& asked, const std::string& label,
                                       promql::StoredSeries* series, WorkWatch* watch) {
  ASSIGN_OR_RETURN(const std::vector<Bytes> keys, series->names().IdsOf(UidKind::kTagk, label));
  IdSet values(watch);
  std::vector<promql::Matchers> selectors = asked.selectors;
  if (selectors.empty()) selectors.emplace_back();
  for (promql::Matchers& selector : selectors) {
    selector.push_back({label, promql::MatchKind::kNotEqual, "", nullptr});
    RETURN_IF_ERROR(series->List(selector, [&](ByteView tsuid) -> Status {
      Status status;
      codec::ForEachPair(series->names().layout(), tsuid, [&](ByteView tagk, ByteView tagv) {
        if (status.ok() && std::binary_search(keys.begin(), keys.end(), tagk))
          status = values.Add(tagv);
      });
      return status;
    }));
  }
  return TextsOf(UidKind::kTagv, values, &series->names());
}

/// What /series answers, charged as long as it is there.
struct Found {
  explicit Found(WorkWatch* watch) : memory(watch) {}
  MemoryTally memory;
  std::vector<promql::Labels> series;
};

/// Answers with texts.
void AnswerTexts(
    const Request& request, Services& services, const Asked& asked, const std::string& title,
    const std::function<Result<std::set<std::string>>(promql::StoredSeries*, WorkWatch*)>& find,
    ResponseWriter& out) {
  const auto answer = [&](query::RunningQuery& running) -> Result<PromPrint> {
    promql::StoredSeries series(services.points, services.names, services.queries.options(),
                                running, {}, LabelNamingOf(services.options));
    ASSIGN_OR_RETURN(std::set<std::string> texts, find(&series, &running));
    const auto held = std::make_shared<MemoryTally>(&running);  // as long as it is printed
    for (const std::string& text : texts)
      RETURN_IF_ERROR(held->Add(kEntryBytes + static_cast<int64_t>(text.size())));
    return PromPrint([held, texts = std::move(texts), limit = asked.limit](JsonWriter* json) {
      json->BeginArray();
      size_t left = limit;
      for (const std::string& text : texts) {
        if (left-- == 0) break;
        json->String(text);
      }
      json->EndArray();
    });
  };
  AnswerProm(request, services, {title + asked.text, asked.start_ms, asked.end_ms}, answer, out);
}

}  // namespace

void HandlePromLabels(const Request& request, Services& services, ResponseWriter& out) {
  const std::optional<Asked> asked = ReadAsked(request, services, out);
  if (!asked) return;
  AnswerTexts(
      request, services, *asked, "labels of ",
      [&](promql::StoredSeries* series, WorkWatch* watch) -> Result<std::set<std::string>> {
        if (!asked->selectors.empty()) return LabelsOf(*asked, series, watch);
        ASSIGN_OR_RETURN(std::set<std::string> labels,
                         AllNames(UidKind::kTagk, services.names, watch));
        RETURN_IF_ERROR(RemoveDefaultKey(series, &labels));
        if (!labels.empty()) labels.emplace(promql::kNameLabel);
        return labels;
      },
      out);
}

void HandlePromLabel(const Request& request, Services& services, ResponseWriter& out) {
  if (request.Segment(2) != "values" || !request.Segment(3).empty())
    return SendPromError(out, PromError::kNotFound, "the path is /api/v1/label/NAME/values");
  const std::optional<Asked> asked = ReadAsked(request, services, out);
  if (!asked) return;
  std::string label;
  if (!DecodePercent(request.segments[request.endpoint_index + 1], &label) || label.empty() ||
      !IsUtf8(label)) {
    return SendPromError(out, PromError::kBadData, "invalid label name: \"" + label + "\"");
  }
  AnswerTexts(
      request, services, *asked, "values of " + label + " of ",
      [&](promql::StoredSeries* series, WorkWatch* watch) -> Result<std::set<std::string>> {
        if (label != promql::kNameLabel) return ValuesOf(*asked, label, series, watch);
        if (asked->selectors.empty()) return AllNames(UidKind::kMetric, services.names, watch);
        return MetricsOf(*asked, series, watch);
      },
      out);
}

void HandlePromSeries(const Request& request, Services& services, ResponseWriter& out) {
  const std::optional<Asked> asked = ReadAsked(request, services, out);
  if (!asked) return;
  if (asked->selectors.empty())
    return SendPromError(out, PromError::kBadData, "no match[] parameter provided");
  const auto find = [&](query::RunningQuery& running) -> Result<PromPrint> {
    promql::StoredSeries series(services.points, services.names, services.queries.options(),
                                running, {}, LabelNamingOf(services.options));
    IdSet tsuids(&running);
    for (const promql::Matchers& selector : asked->selectors)
      RETURN_IF_ERROR(series.List(selector, [&](ByteView tsuid) { return tsuids.Add(tsuid); }));
    const auto found = std::make_shared<Found>(&running);
    for (const Bytes& tsuid : tsuids.ids()) {
      if (found->series.size() == asked->limit) break;
      ASSIGN_OR_RETURN(promql::Labels labels, series.names().LabelsOf(tsuid));
      RETURN_IF_ERROR(found->memory.Add(static_cast<int64_t>(labels.bytes())));
      found->series.push_back(std::move(labels));
    }
    return PromPrint([found](JsonWriter* json) {
      json->BeginArray();
      for (const promql::Labels& labels : found->series) WriteLabels(labels, json);
      json->EndArray();
    });
  };
  AnswerProm(request, services, {"series " + asked->text, asked->start_ms, asked->end_ms}, find,
             out);
}

}  // namespace hg::http
