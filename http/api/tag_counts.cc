#include "http/api/tag_counts.h"

#include <algorithm>
#include <map>
#include <optional>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "http/api/arguments.h"
#include "http/api/series_search.h"
#include "http/errors.h"
#include "http/replies.h"
#include "http/services.h"
#include "http/wire/json_writer.h"
#include "storage/model/number_text.h"

namespace hg::http {
namespace {

constexpr int32_t kValuesShown = 25;
// A client that is gone is noticed after so many series.
constexpr uint64_t kSeriesPerLook = 4096;

using ValueCounts = std::unordered_map<Bytes, uint64_t>;  // value's id → series

struct Counts {
  uint64_t series = 0;
  std::map<Bytes, ValueCounts> by_key;  // key's id
};

void Add(ByteView tsuid, const KeyLayout& layout, Counts* counts) {
  ++counts->series;
  for (size_t at = static_cast<size_t>(layout.metric_width); at < tsuid.size();
       at += static_cast<size_t>(layout.pair_width())) {
    const ByteView pair = tsuid.substr(at, static_cast<size_t>(layout.pair_width()));
    const auto width = static_cast<size_t>(layout.tagk_width);
    ++counts->by_key[Bytes(pair.substr(0, width))][Bytes(pair.substr(width))];
  }
}

/// Those of most series first, equal ones by id; no more than `limit`.
std::vector<std::pair<uint64_t, ByteView>> Largest(const ValueCounts& values, size_t limit) {
  std::vector<std::pair<uint64_t, ByteView>> sorted;
  sorted.reserve(values.size());
  for (const auto& [id, series] : values) sorted.emplace_back(series, id);
  const size_t count = std::min(limit, sorted.size());
  std::partial_sort(
      sorted.begin(), sorted.begin() + static_cast<std::ptrdiff_t>(count), sorted.end(),
      [](const auto& a, const auto& b) {
        return a.first != b.first ? a.first > b.first : a.second < b.second;
      });
  sorted.resize(count);
  return sorted;
}

Result<std::string> CountsJson(const std::string& metric, const Counts& counts, size_t limit,
                               uid::Names& names) {
  std::map<std::string, const ValueCounts*> by_name;
  for (const auto& [key, values] : counts.by_key) {
    ASSIGN_OR_RETURN(std::string name, names.NameOf(UidKind::kTagk, key));
    by_name.emplace(std::move(name), &values);
  }
  std::string text;
  JsonWriter json(&text);
  json.BeginObject();
  json.Member("metric", metric);
  json.Member("series", static_cast<int64_t>(counts.series));
  json.Key("tags");
  json.BeginArray();
  for (const auto& [name, values] : by_name) {
    uint64_t series = 0;
    for (const auto& [id, count] : *values) series += count;
    json.BeginObject();
    json.Member("key", name);
    json.Member("series", static_cast<int64_t>(series));
    json.Member("values", static_cast<int64_t>(values->size()));
    json.Key("largest");
    json.BeginArray();
    for (const auto& [count, id] : Largest(*values, limit)) {
      ASSIGN_OR_RETURN(const std::string value, names.NameOf(UidKind::kTagv, id));
      json.BeginObject();
      json.Member("value", value);
      json.Member("series", static_cast<int64_t>(count));
      json.EndObject();
    }
    json.EndArray();
    json.EndObject();
  }
  json.EndArray();
  json.EndObject();
  return text;
}

}  // namespace

void HandleTagCounts(const Request& request, Services& services, ResponseWriter& out) {
  const std::optional<std::string> expression = NonEmptyParameter(request, "m");
  if (!expression) return SendMissingParameter(out, request, "m");
  int32_t limit = kValuesShown;
  if (const std::string* text = request.parameters.Find("limit")) {
    const std::optional<int32_t> parsed = ParseInt32(*text);
    if (!parsed || *parsed < 0)
      return SendError(out, request, 400, "limit is a number from 0 on, not \"" + *text + "\"");
    limit = *parsed;
  }
  const Result<SeriesExpression> parsed = ParseSeriesExpression(*expression);
  if (!parsed.ok())
    return SendError(out, request, 400, "Unable to parse \"" + *expression + "\"",
                     parsed.status().message());
  if (TagWish::Any(parsed->metric) || parsed->metric->empty())
    return SendError(out, request, 400, "\"" + *expression + "\" names no metric");
  const Result<SeriesWanted> wanted =
      ResolveSeries(parsed->metric, parsed->tags, services.names);
  if (!wanted.ok()) return SendStatus(out, request, wanted.status());

  out.TakesLong();
  Counts counts;
  const Status counted = VisitSeries(*wanted, services.points, [&](ByteView tsuid) {
    Add(tsuid, services.points.layout(), &counts);
    return counts.series % kSeriesPerLook != 0 || !out.Cancelled();
  });
  if (!counted.ok()) return SendStatus(out, request, counted);
  const Result<std::string> text =
      CountsJson(*parsed->metric, counts, static_cast<size_t>(limit), services.names);
  if (!text.ok()) return SendStatus(out, request, text.status());
  SendJson(out, request, *text);
}

}  // namespace hg::http
