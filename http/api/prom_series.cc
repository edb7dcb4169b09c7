#include <algorithm>
#include <charconv>
#include <functional>
#include <limits>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "http/api/handlers.h"
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

/// The selected series, and the limit of results.
struct AskedSeries {
  std::vector<promql::Matchers> selectors;  // a series must match one of them
  std::string text;                         // shown in the list of queries
  int64_t start_ms = 0, end_ms = 0;
  /// The range in which a series must have samples; nullopt: no range was given.
  std::optional<promql::StoredSeries::Times> times;
  size_t limit = SIZE_MAX;
};

/// Reads the request. If it is invalid, sends an error and returns nullopt.
std::optional<AskedSeries> ReadAsked(const Request& request, Services& services,
                                     ResponseWriter& out) {
  const std::optional<Parameters> parameters = PromParameters(request, out);
  if (!parameters) return {};
  AskedSeries asked;
  const auto start_ms = PromTime(*parameters, "start", 0, out);
  const auto end_ms =
      start_ms ? PromTime(*parameters, "end", services.clock.NowMs(), out) : std::nullopt;
  if (!end_ms) return {};
  asked.start_ms = *start_ms;
  asked.end_ms = *end_ms;
  const auto given = [&](std::string_view name) {
    const std::string* const text = parameters->Find(name);
    return text != nullptr && !text->empty();
  };
  if (given("start") || given("end"))
    asked.times = {*start_ms, given("end") ? *end_ms : std::numeric_limits<int64_t>::max()};
  std::optional<PromSelectors> selectors = ReadPromSelectors(request, *parameters, out);
  if (!selectors) return {};
  asked.selectors = std::move(selectors->selectors);
  asked.text = std::move(selectors->text);
  const std::optional<size_t> limit = PromLimit(*parameters, out);
  if (!limit) return {};
  asked.limit = *limit;
  return asked;
}

/// Without selectors, names come from the tables of names, which contain no times. If a time range
/// was given, the names must come from series, so this function selects all series. It does not do
/// so for stores without an index of series, because they would read the keys of all rows.
void SelectAllInRange(const Services& services, AskedSeries* asked) {
  if (asked->times && asked->selectors.empty() && services.points.ListsFromIndex())
    asked->selectors.emplace_back();
}

/// Approximate memory of a set node in addition to the bytes of its text.
constexpr int64_t kEntryBytes = 96;
/// Costs of looking up a name, and of building the labels of a series, in steps of a
/// RequestContext.
constexpr uint64_t kStepsPerLookUp = 16, kStepsPerLabels = 64;

/// A sorted set of texts. Memory is charged before a text is added.
class TextSet {
 public:
  explicit TextSet(RequestContext* watch) : memory_(watch) {}
  Status Add(std::string text) {
    RETURN_IF_ERROR(memory_.Step(kStepsPerLookUp));
    RETURN_IF_ERROR(memory_.Add(kEntryBytes + static_cast<int64_t>(text.size())));
    texts_.insert(std::move(text));
    return {};
  }
  bool Has(const std::string& text) const { return texts_.contains(text); }
  void Remove(const std::string& text) { texts_.erase(text); }
  [[nodiscard]] const std::set<std::string>& texts() const { return texts_; }

 private:
  MemoryTally memory_;
  std::set<std::string> texts_;
};

/// Adds all names of a kind, as they are shown.
Status AllNames(UidKind kind, uid::Names& names, const query::LabelNames& shown,
                RequestContext* watch, TextSet* out) {
  return query::ForEachName(names, kind, "", watch, [&](const std::string& name) -> Result<bool> {
    RETURN_IF_ERROR(out->Add(shown.Shown(kind, shown.TextOfName(kind, name))));
    return true;
  });
}

/// A set of ids. Memory is charged before an id is added.
class IdSet {
 public:
  explicit IdSet(RequestContext* watch) : memory_(watch) {}
  Status Add(ByteView id) {
    if (!last_.empty() && last_ == id) return {};
    last_.assign(id);
    RETURN_IF_ERROR(memory_.Step(kStepsPerLookUp));
    if (ids_.contains(last_)) return {};
    RETURN_IF_ERROR(memory_.Add(kEntryBytes + static_cast<int64_t>(id.size())));
    ids_.insert(last_);
    return {};
  }
  [[nodiscard]] const std::set<Bytes>& ids() const { return ids_; }

 private:
  MemoryTally memory_;
  std::set<Bytes> ids_;
  Bytes last_;
};

Status AddTexts(UidKind kind, const IdSet& ids, query::LabelNames* names, TextSet* out) {
  for (const Bytes& id : ids.ids()) {
    ASSIGN_OR_RETURN(std::optional<std::string> text, query::IfNamed(names->TextOf(kind, id)));
    if (text) RETURN_IF_ERROR(out->Add(*std::move(text)));
  }
  return {};
}

/// Finds the tag keys of all selected series, and "__name__" if there is any series.
Status FindLabels(const AskedSeries& asked, promql::StoredSeries* series, RequestContext* watch,
                  TextSet* out) {
  IdSet keys(watch);
  bool any = false;
  for (const promql::Matchers& selector : asked.selectors) {
    RETURN_IF_ERROR(series->List(selector, asked.times, [&](ByteView tsuid) -> Status {
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
  RETURN_IF_ERROR(AddTexts(UidKind::kTagk, keys, &series->names(), out));
  return any ? out->Add(std::string(promql::kNameLabel)) : Status();
}

/// Removes the key of the default tag unless a series really has a label with this name.
Status RemoveDefaultKey(promql::StoredSeries* series, TextSet* labels) {
  const std::string& key = series->names().naming().default_tag_key;
  if (!labels->Has(key)) return {};
  bool any = false;
  const Status status =
      series->List({{key, promql::MatchKind::kNotEqual, "", nullptr}}, {}, [&](ByteView) {
        any = true;
        return Status::NotFound("one is enough");
      });
  if (any) return {};
  labels->Remove(key);
  return status;
}

Status FindMetrics(const AskedSeries& asked, promql::StoredSeries* series, RequestContext* watch,
                   TextSet* out) {
  IdSet metrics(watch);
  const auto width = static_cast<size_t>(series->names().layout().metric_width);
  for (const promql::Matchers& selector : asked.selectors) {
    RETURN_IF_ERROR(series->List(selector, asked.times, [&](ByteView tsuid) {
      return metrics.Add(tsuid.substr(0, width));
    }));
  }
  return AddTexts(UidKind::kMetric, metrics, &series->names(), out);
}

Status FindValues(const AskedSeries& asked, const std::string& label, promql::StoredSeries* series,
                  RequestContext* watch, TextSet* out) {
  ASSIGN_OR_RETURN(const std::vector<Bytes> keys, series->names().IdsOf(UidKind::kTagk, label));
  IdSet values(watch);
  std::vector<promql::Matchers> selectors = asked.selectors;
  if (selectors.empty()) selectors.emplace_back();
  for (promql::Matchers& selector : selectors) {
    selector.push_back({label, promql::MatchKind::kNotEqual, "", nullptr});
    RETURN_IF_ERROR(series->List(selector, asked.times, [&](ByteView tsuid) -> Status {
      Status status;
      codec::ForEachPair(series->names().layout(), tsuid, [&](ByteView tagk, ByteView tagv) {
        if (status.ok() && std::binary_search(keys.begin(), keys.end(), tagk))
          status = values.Add(tagv);
      });
      return status;
    }));
  }
  return AddTexts(UidKind::kTagv, values, &series->names(), out);
}

/// The result of /series. Its memory stays charged during its lifetime.
struct FoundSeries {
  explicit FoundSeries(RequestContext* watch) : memory(watch) {}
  MemoryTally memory;
  std::vector<promql::Labels> series;
};

/// Returns the label for a name in a path. Prometheus 3 escapes some names in paths:
/// "U__host_2E_name" means "host.name". Other names are returned unchanged.
std::string LabelInPath(const std::string& name) {
  constexpr std::string_view kEscaped = "U__";
  if (!name.starts_with(kEscaped)) return name;
  std::string label;
  for (size_t at = kEscaped.size(); at < name.size(); ++at) {
    if (name[at] != '_') {
      label.push_back(name[at]);
      continue;
    }
    const size_t end = name.find('_', at + 1);
    if (end == std::string::npos) return name;
    if (end == at + 1) {
      label.push_back('_');
    } else {
      uint32_t code = 0;
      const auto [stop, error] = std::from_chars(name.data() + at + 1, name.data() + end, code, 16);
      constexpr uint32_t kCodePoints = 0x110000;
      if (error != std::errc() || stop != name.data() + end || code >= kCodePoints) return name;
      AppendCodePoint(&label, code);
    }
    at = end;
  }
  return label.empty() || !IsUtf8(label) ? name : label;
}

promql::StoredSeries SeriesOf(Services& services, query::RunningRequest& running) {
  return {services.points,
          services.names,
          services.queries.options(),
          running,
          {},
          LabelNamingOf(services.options),
          &services.queries.cells(),
          services.queries.rolled()};
}

/// Sends a list of texts.
void AnswerTexts(
    const Request& request, Services& services, const AskedSeries& asked, const std::string& title,
    const std::function<Status(promql::StoredSeries*, RequestContext*, TextSet*)>& find,
    ResponseWriter& out) {
  const auto find_texts = [&](query::RunningRequest& running) -> Result<PromFound> {
    promql::StoredSeries series = SeriesOf(services, running);
    // Shared, so that it lives until the response is printed.
    const auto found = std::make_shared<TextSet>(&running);
    RETURN_IF_ERROR(find(&series, &running, found.get()));
    PromFound answer;
    if (found->texts().size() > asked.limit) answer.warnings.emplace_back(kTruncated);
    answer.print = [found, limit = asked.limit](JsonWriter* json) {
      json->BeginArray();
      size_t left = limit;
      for (const std::string& text : found->texts()) {
        if (left-- == 0 || !json->alive()) break;
        json->String(text);
      }
      json->EndArray();
    };
    return answer;
  };
  AnswerProm(request, services, {title + asked.text, asked.start_ms, asked.end_ms}, find_texts,
             out);
}

}  // namespace

void HandlePromLabels(const Request& request, Services& services, ResponseWriter& out) {
  std::optional<AskedSeries> asked = ReadAsked(request, services, out);
  if (!asked) return;
  SelectAllInRange(services, &*asked);
  AnswerTexts(
      request, services, *asked, "labels of ",
      [&](promql::StoredSeries* series, RequestContext* watch, TextSet* labels) -> Status {
        if (!asked->selectors.empty()) return FindLabels(*asked, series, watch, labels);
        RETURN_IF_ERROR(AllNames(UidKind::kTagk, services.names, series->names(), watch, labels));
        RETURN_IF_ERROR(RemoveDefaultKey(series, labels));
        return labels->texts().empty() ? Status() : labels->Add(std::string(promql::kNameLabel));
      },
      out);
}

void HandlePromLabel(const Request& request, Services& services, ResponseWriter& out) {
  if (request.Segment(2) != "values" || !request.Segment(3).empty())
    return SendPromError(out, PromError::kNotFound, "the path is /api/v1/label/NAME/values");
  std::optional<AskedSeries> asked = ReadAsked(request, services, out);
  if (!asked) return;
  SelectAllInRange(services, &*asked);
  std::string label;
  if (!DecodePercent(request.segments[request.endpoint_index + 1], &label) || label.empty() ||
      !IsUtf8(label)) {
    return SendPromError(out, PromError::kBadData, "invalid label name: \"" + label + "\"");
  }
  label = LabelInPath(label);
  AnswerTexts(
      request, services, *asked, "values of " + label + " of ",
      [&](promql::StoredSeries* series, RequestContext* watch, TextSet* values) -> Status {
        if (label != promql::kNameLabel) return FindValues(*asked, label, series, watch, values);
        if (asked->selectors.empty())
          return AllNames(UidKind::kMetric, services.names, series->names(), watch, values);
        return FindMetrics(*asked, series, watch, values);
      },
      out);
}

void HandlePromSeries(const Request& request, Services& services, ResponseWriter& out) {
  const std::optional<AskedSeries> asked = ReadAsked(request, services, out);
  if (!asked) return;
  if (asked->selectors.empty())
    return SendPromError(out, PromError::kBadData, "no match[] parameter provided");
  const auto find = [&](query::RunningRequest& running) -> Result<PromFound> {
    promql::StoredSeries series = SeriesOf(services, running);
    IdSet tsuids(&running);
    for (const promql::Matchers& selector : asked->selectors)
      RETURN_IF_ERROR(
          series.List(selector, asked->times, [&](ByteView tsuid) { return tsuids.Add(tsuid); }));
    const auto found = std::make_shared<FoundSeries>(&running);
    bool truncated = false;
    for (const Bytes& tsuid : tsuids.ids()) {
      if (found->series.size() == asked->limit) {
        truncated = true;
        break;
      }
      RETURN_IF_ERROR(running.Step(kStepsPerLabels));
      ASSIGN_OR_RETURN(std::optional<promql::Labels> labels,
                       query::IfNamed(series.names().LabelsOf(tsuid)));
      if (!labels) continue;
      RETURN_IF_ERROR(found->memory.Add(static_cast<int64_t>(labels->bytes())));
      found->series.push_back(*std::move(labels));
    }
    PromFound answer;
    if (truncated) answer.warnings.emplace_back(kTruncated);
    answer.print = [found](JsonWriter* json) {
      json->BeginArray();
      for (const promql::Labels& labels : found->series) {
        if (!json->alive()) break;
        WriteLabels(labels, json);
      }
      json->EndArray();
    };
    return answer;
  };
  AnswerProm(request, services, {"series " + asked->text, asked->start_ms, asked->end_ms}, find,
             out);
}

}  // namespace hg::http
