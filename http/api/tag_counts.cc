#include "http/api/tag_counts.h"

#include <algorithm>
#include <boost/unordered/unordered_flat_map.hpp>
#include <map>
#include <optional>
#include <string>
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

// An id as a number: widths are at most 8 bytes, and a million values should take little room.
using Id = uint64_t;
using ValueCounts = boost::unordered_flat_map<Id, uint64_t>;  // → series

struct Counts {
  uint64_t series = 0;
  std::map<Id, ValueCounts> by_key;
};

Id ToId(ByteView bytes) {
  Id id = 0;
  for (const char byte : bytes) id = id << 8 | static_cast<uint8_t>(byte);
  return id;
}

Bytes ToBytes(Id id, int width) {
  Bytes bytes(static_cast<size_t>(width), '\0');
  for (size_t i = bytes.size(); i > 0; --i, id >>= 8) bytes[i - 1] = static_cast<char>(id & 0xFF);
  return bytes;
}

void Add(ByteView tsuid, const KeyLayout& layout, Counts* counts) {
  ++counts->series;
  for (size_t at = static_cast<size_t>(layout.metric_width); at < tsuid.size();
       at += static_cast<size_t>(layout.pair_width())) {
    const ByteView pair = tsuid.substr(at, static_cast<size_t>(layout.pair_width()));
    const auto width = static_cast<size_t>(layout.tagk_width);
    ++counts->by_key[ToId(pair.substr(0, width))][ToId(pair.substr(width))];
  }
}

/// Those of most series first, equal ones by id; no more than `limit`.
std::vector<std::pair<uint64_t, Id>> Largest(const ValueCounts& values, size_t limit) {
  std::vector<std::pair<uint64_t, Id>> sorted;
  sorted.reserve(values.size());
  for (const auto& [id, series] : values) sorted.emplace_back(series, id);
  const size_t count = std::min(limit, sorted.size());
  std::partial_sort(sorted.begin(), sorted.begin() + static_cast<std::ptrdiff_t>(count),
                    sorted.end(), [](const auto& a, const auto& b) {
                      return a.first != b.first ? a.first > b.first : a.second < b.second;
                    });
  sorted.resize(count);
  return sorted;
}

Result<std::string> CountsJson(const std::string& metric, const Counts& counts, size_t limit,
                               const KeyLayout& layout, uid::Names& names) {
  std::map<std::string, const ValueCounts*> by_name;
  for (const auto& [key, values] : counts.by_key) {
    ASSIGN_OR_RETURN(std::string name,
                     names.NameOf(UidKind::kTagk, ToBytes(key, layout.tagk_width)));
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
      ASSIGN_OR_RETURN(const std::string value,
                       names.NameOf(UidKind::kTagv, ToBytes(id, layout.tagv_width)));
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
  const Result<SeriesWanted> wanted = ResolveSeries(parsed->metric, parsed->tags, services.names);
  if (!wanted.ok()) return SendStatus(out, request, wanted.status());

  out.TakesLong();
  Counts counts;
  const Status counted = VisitSeries(*wanted, services.points, [&](ByteView tsuid) {
    Add(tsuid, services.points.layout(), &counts);
    return counts.series % kSeriesPerLook != 0 || !out.Cancelled();
  });
  if (!counted.ok()) return SendStatus(out, request, counted);
  const Result<std::string> text = CountsJson(*parsed->metric, counts, static_cast<size_t>(limit),
                                              services.points.layout(), services.names);
  if (!text.ok()) return SendStatus(out, request, text.status());
  SendJson(out, request, *text);
}

}  // namespace hg::http
