#include <algorithm>
#include <boost/unordered/unordered_flat_map.hpp>
#include <charconv>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "http/api/handlers.h"
#include "http/api/prom_request.h"
#include "http/api/series_search.h"
#include "query/engine.h"
#include "query/promql/label_names.h"
#include "query/promql/labels.h"
#include "query/series/name_memo.h"
#include "storage/codec/row_key.h"

namespace hg::http {
namespace {

namespace promql = query::promql;

constexpr size_t kRowsDefault = 10, kLimitMax = 10'000;

/// Counts by id, or by a concatenation of ids. Charges its memory.
class IdCounts {
 public:
  explicit IdCounts(RequestContext* watch) : memory_(watch) {}

  Status Add(ByteView ids) {
    // Memory of an entry in a table that is half full, including the table's growth.
    constexpr int64_t kBytesPerEntry = 128;
    const auto found = counts_.find(ids);
    if (found != counts_.end()) {
      ++found->second;
      return {};
    }
    RETURN_IF_ERROR(memory_.Add(kBytesPerEntry + static_cast<int64_t>(ids.size())));
    counts_.emplace(ids, 1);
    return {};
  }
  [[nodiscard]] size_t size() const { return counts_.size(); }

  using Count = std::pair<Bytes, uint64_t>;
  /// Returns the largest counts, in descending order.
  [[nodiscard]] std::vector<Count> Largest(size_t limit) const {
    std::vector<Count> top(std::min(limit, counts_.size()));
    std::partial_sort_copy(counts_.begin(), counts_.end(), top.begin(), top.end(),
                           [](const auto& a, const auto& b) {
                             return a.second != b.second ? a.second > b.second : a.first < b.first;
                           });
    return top;
  }
  template <typename Visit>
  Status ForEach(Visit visit) const {
    for (const auto& [ids, count] : counts_) RETURN_IF_ERROR(visit(ids));
    return {};
  }

 private:
  struct Hash {
    using is_transparent = void;
    size_t operator()(ByteView ids) const { return std::hash<ByteView>()(ids); }
  };
  MemoryTally memory_;
  boost::unordered_flat_map<Bytes, uint64_t, Hash, std::equal_to<>> counts_;
};

/// A row of a list: a name and its count.
using Rows = std::vector<std::pair<std::string, uint64_t>>;

struct Statistics {
  uint64_t series = 0, pairs = 0;
  Rows by_metric, values_of_label, by_pair;
};

/// Puts a list in descending order and keeps its first `limit` rows.
void Sort(size_t limit, Rows* rows) {
  std::stable_sort(rows->begin(), rows->end(),
                   [](const auto& a, const auto& b) { return a.second > b.second; });
  if (rows->size() > limit) rows->resize(limit);
}

Result<Statistics> Find(size_t limit, const Points& points, query::LabelNames* names,
                        RequestContext* watch) {
  constexpr uint64_t kStepsPerPair = 4;
  const KeyLayout& layout = points.layout();
  IdCounts metrics(watch), pairs(watch), values(watch);
  Statistics found;
  for (SeriesNumber number = 0; number < points.series_count(); ++number) {
    const Bytes tsuid = points.TsuidOf(number);
    if (tsuid.empty()) {  // the store has forgotten the series
      RETURN_IF_ERROR(watch->Step(1));
      continue;
    }
    ++found.series;
    RETURN_IF_ERROR(watch->Step(kStepsPerPair * (1 + tsuid.size() / layout.pair_width())));
    RETURN_IF_ERROR(metrics.Add(tsuid.substr(0, static_cast<size_t>(layout.metric_width))));
    Status added;
    codec::ForEachPair(layout, tsuid, [&](ByteView tagk, ByteView tagv) {
      if (added.ok()) added = pairs.Add({tagk.data(), tagk.size() + tagv.size()});
    });
    RETURN_IF_ERROR(added);
  }
  const auto tagk_width = static_cast<size_t>(layout.tagk_width);
  RETURN_IF_ERROR(pairs.ForEach([&](const Bytes& pair) -> Status {
    RETURN_IF_ERROR(watch->Step(kStepsPerPair));
    return values.Add(ByteView(pair).substr(0, tagk_width));
  }));
  const auto text_of = [&](UidKind kind, ByteView id) -> Result<std::string> {
    RETURN_IF_ERROR(watch->Step(kStepsPerName));
    ASSIGN_OR_RETURN(std::optional<std::string> text, query::IfNamed(names->TextOf(kind, id)));
    // Tools can remove the name of an id that series still have.
    return std::move(text).value_or("(no name)");
  };
  // Pairs of labels repeat names, so the rows may take much more memory than the names. The rows
  // stay charged until the request ends. A list may take twice its size while it grows.
  const auto add = [&](std::string text, uint64_t count, Rows* rows) -> Status {
    RETURN_IF_ERROR(
        watch->Charge(static_cast<int64_t>(2 * sizeof(Rows::value_type) + text.size())));
    rows->emplace_back(std::move(text), count);
    return {};
  };
  RETURN_IF_ERROR(watch->Step(metrics.size() + values.size() + pairs.size()));
  for (const auto& [id, count] : metrics.Largest(limit)) {
    ASSIGN_OR_RETURN(std::string name, text_of(UidKind::kMetric, id));
    RETURN_IF_ERROR(add(std::move(name), count, &found.by_metric));
  }
  for (const auto& [id, count] : values.Largest(limit)) {
    ASSIGN_OR_RETURN(std::string name, text_of(UidKind::kTagk, id));
    RETURN_IF_ERROR(add(std::move(name), count, &found.values_of_label));
  }
  for (const auto& [ids, count] : pairs.Largest(limit)) {
    ASSIGN_OR_RETURN(std::string name, text_of(UidKind::kTagk, ids.substr(0, tagk_width)));
    ASSIGN_OR_RETURN(const std::string value, text_of(UidKind::kTagv, ids.substr(tagk_width)));
    RETURN_IF_ERROR(add(std::move(name.append("=").append(value)), count, &found.by_pair));
  }
  // The metric is the label "__name__" of every series.
  const std::string name_label(promql::kNameLabel);
  if (metrics.size() > 0) RETURN_IF_ERROR(add(name_label, metrics.size(), &found.values_of_label));
  for (const auto& [name, count] : found.by_metric)
    RETURN_IF_ERROR(add(name_label + "=" + name, count, &found.by_pair));
  Sort(limit, &found.values_of_label);
  Sort(limit, &found.by_pair);
  found.pairs = pairs.size() + metrics.size();
  return found;
}

void WriteRows(std::string_view name, const Rows& rows, JsonWriter* json) {
  json->Key(name);
  json->BeginArray();
  for (const auto& [text, count] : rows) {
    json->BeginObject();
    json->Member("name", text);
    json->Member("value", static_cast<int64_t>(count));
    json->EndObject();
  }
  json->EndArray();
}

void Write(const Statistics& found, JsonWriter* json) {
  json->BeginObject();
  json->Key("headStats");
  json->BeginObject();
  json->Member("numSeries", static_cast<int64_t>(found.series));
  json->Member("numLabelPairs", static_cast<int64_t>(found.pairs));
  // The number of chunks and their times are unknown, because they would require reading every
  // part. The times below are the values that Prometheus shows if it has no samples.
  json->Member("chunkCount", 0);
  json->Member("minTime", INT64_MAX);
  json->Member("maxTime", INT64_MIN);
  json->EndObject();
  WriteRows("seriesCountByMetricName", found.by_metric, json);
  WriteRows("labelValueCountByLabelName", found.values_of_label, json);
  WriteRows("memoryInBytesByLabelName", {}, json);  // the memory of names is not known by label
  WriteRows("seriesCountByLabelValuePair", found.by_pair, json);
  json->EndObject();
}

}  // namespace

void HandlePromTsdb(const Request& request, Services& services, ResponseWriter& out) {
  size_t limit = kRowsDefault;
  if (const std::string* text = request.parameters.Find("limit");
      text != nullptr && !text->empty()) {
    const char* const last = text->data() + text->size();
    const auto [end, error] = std::from_chars(text->data(), last, limit);
    if (error != std::errc() || end != last || limit < 1 || limit > kLimitMax) {
      return SendPromError(out, PromError::kBadData,
                           "invalid parameter \"limit\": \"" + *text +
                               "\" is no number from 1 to " + std::to_string(kLimitMax));
    }
  }
  const auto find = [&](query::RunningRequest& running) -> Result<PromFound> {
    query::NameMemo memo(services.names, &running);
    query::LabelNames names(LabelNamingOf(services.options), services.points.layout(), &memo);
    ASSIGN_OR_RETURN(Statistics found, Find(limit, services.points, &names, &running));
    PromFound answer;
    answer.print = [found = std::move(found)](JsonWriter* json) { Write(found, json); };
    return answer;
  };
  const int64_t now_ms = services.clock.NowMs();
  AnswerProm(request, services, {"status of the store", now_ms, now_ms}, find, out);
}

}  // namespace hg::http
