#include <algorithm>
#include <boost/unordered/unordered_flat_map.hpp>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <tuple>
#include <utility>
#include <vector>

#include "http/api/arguments.h"
#include "http/api/asked_query.h"
#include "http/api/handlers.h"
#include "http/api/series_search.h"
#include "http/request/errors.h"
#include "http/request/replies.h"
#include "http/request/services.h"
#include "http/wire/json_writer.h"
#include "query/request/running_requests.h"
#include "query/series/name_memo.h"
#include "storage/base/checked_sort.h"
#include "storage/base/request_context.h"
#include "storage/model/number_text.h"

namespace hg::http {
namespace {

constexpr int32_t kValuesShown = 25;
constexpr int32_t kValuesMax = 10000;
// Memory of an additional value in a table that is half full, including the table's growth, and of
// an additional key with its own small table.
constexpr int64_t kValueBytes = 64, kKeyBytes = 512;

// An id as a number, which saves memory if there are a million values. Ids have at most 8 bytes.
using Id = uint64_t;
using ValueCounts = boost::unordered_flat_map<Id, uint64_t>;  // value id → number of series

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

/// Adds the tags of a series to the counts. Memory is charged before a key or a value is added.
Status Add(ByteView tsuid, const KeyLayout& layout, MemoryTally* memory, Counts* counts) {
  ++counts->series;
  for (size_t at = static_cast<size_t>(layout.metric_width); at < tsuid.size();
       at += static_cast<size_t>(layout.pair_width())) {
    const ByteView pair = tsuid.substr(at, static_cast<size_t>(layout.pair_width()));
    const auto width = static_cast<size_t>(layout.tagk_width);
    const Id key = ToId(pair.substr(0, width)), value = ToId(pair.substr(width));
    auto values = counts->by_key.find(key);
    if (values == counts->by_key.end()) {
      RETURN_IF_ERROR(memory->Add(kKeyBytes));
      values = counts->by_key.try_emplace(key).first;
    }
    auto count = values->second.find(value);
    if (count == values->second.end()) {
      RETURN_IF_ERROR(memory->Add(kValueBytes));
      count = values->second.try_emplace(value, 0).first;
    }
    ++count->second;
  }
  return {};
}

using SortedValues = std::vector<std::pair<uint64_t, Id>>;  // numbers of series, value ids

/// Returns at most `limit` values, in descending order of their numbers of series. Values with
/// equal numbers are sorted by id.
SortedValues Largest(const ValueCounts& values, size_t limit) {
  SortedValues sorted;
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

// A name, or the hexadecimal id of a deleted name.
struct ShownName {
  std::string name;
  bool deleted = false;
  uint64_t series = 0;
};

struct ShownTag {
  ShownName key;
  uint64_t values = 0;
  std::vector<ShownName> largest;
};

/// Charges the returned name to `names`.
Result<ShownName> Named(UidKind kind, ByteView id, uint64_t series, query::NameMemo* names,
                        query::RunningRequest* running) {
  RETURN_IF_ERROR(running->Step(kStepsPerName));
  ASSIGN_OR_RETURN(const std::optional<const Bytes*> name, query::IfNamed(names->NameOf(kind, id)));
  // A value occurs once for each of its keys, so all copies of its name may take much more memory
  // than the name. The list may take twice its size while it grows.
  const size_t bytes = 2 * sizeof(ShownName) + (name ? (*name)->size() : id.size() * 2);
  RETURN_IF_ERROR(names->Hold(static_cast<int64_t>(bytes)));
  return name ? ShownName{**name, false, series} : ShownName{ToHexUpper(id), true, series};
}

/// Replaces ids by names. The keys are sorted by name. Keys whose names were deleted come last,
/// sorted by id.
Result<std::vector<ShownTag>> Name(const Counts& counts, size_t limit, const KeyLayout& layout,
                                   query::NameMemo* names, query::RunningRequest* running) {
  std::vector<ShownTag> tags;
  for (const auto& [key, values] : counts.by_key) {
    MemoryTally sorting(running);
    RETURN_IF_ERROR(
        sorting.Add(static_cast<int64_t>(values.size() * sizeof(SortedValues::value_type))));
    RETURN_IF_ERROR(running->Step(values.size()));
    RETURN_IF_ERROR(names->Hold(sizeof(ShownTag)));
    uint64_t series = 0;
    for (const auto& [id, count] : values) series += count;
    ShownTag& tag = tags.emplace_back();
    tag.values = values.size();
    ASSIGN_OR_RETURN(
        tag.key, Named(UidKind::kTagk, ToBytes(key, layout.tagk_width), series, names, running));
    for (const auto& [count, id] : Largest(values, limit)) {
      ASSIGN_OR_RETURN(ShownName value, Named(UidKind::kTagv, ToBytes(id, layout.tagv_width), count,
                                              names, running));
      tag.largest.push_back(std::move(value));
    }
  }
  const auto by_name = [](const ShownTag& a, const ShownTag& b) {
    return std::tie(a.key.deleted, a.key.name) < std::tie(b.key.deleted, b.key.name);
  };
  MemoryTally sorting(running);
  RETURN_IF_ERROR(CheckedSort(&tags, by_name, &sorting));
  return tags;
}

void Write(std::string_view word, const ShownName& shown, JsonWriter* json) {
  json->Member(word, shown.name);
  if (shown.deleted) json->Member("deleted", true);
  json->Member("series", static_cast<int64_t>(shown.series));
}

void Write(const std::string& metric, uint64_t series, const std::vector<ShownTag>& tags,
           JsonWriter* json) {
  json->BeginObject();
  json->Member("metric", metric);
  json->Member("series", static_cast<int64_t>(series));
  json->Key("tags");
  json->BeginArray();
  for (const ShownTag& tag : tags) {
    json->BeginObject();
    Write("key", tag.key, json);
    json->Member("values", static_cast<int64_t>(tag.values));
    json->Key("largest");
    json->BeginArray();
    for (const ShownName& value : tag.largest) {
      json->BeginObject();
      Write("value", value, json);
      json->EndObject();
    }
    json->EndArray();
    json->EndObject();
  }
  json->EndArray();
  json->EndObject();
}

/// Returns the request in the form of an OpenTSDB query, because /api/stats/query lists all queries
/// in this form.
query::Request AsQuery(const SeriesExpression& asked) {
  query::Request out;
  out.start = "tags";
  query::SubQuery& sub = out.queries.emplace_back();
  sub.metric = asked.metric;
  for (const TagWish& wish : asked.tags)
    sub.filters.push_back(
        {"literal_or", wish.key.value_or("*"), wish.value.value_or("*"), false, false});
  return out;
}

}  // namespace

void HandleTagCounts(const Request& request, Services& services, ResponseWriter& out) {
  const std::optional<std::string> expression = NonEmptyParameter(request, "m");
  if (!expression) return SendMissingParameter(out, request, "m");
  int32_t limit = kValuesShown;
  if (const std::string* text = request.parameters.Find("limit")) {
    const std::optional<int32_t> parsed = ParseInt32(*text);
    if (!parsed || *parsed < 0 || *parsed > kValuesMax)
      return SendError(
          out, request, 400,
          "limit is a number from 0 to " + std::to_string(kValuesMax) + ", not \"" + *text + "\"");
    limit = *parsed;
  }
  const Result<SeriesExpression> parsed = ParseSeriesExpression(*expression);
  if (!parsed.ok())
    return SendError(out, request, 400, "Unable to parse \"" + *expression + "\"",
                     parsed.status().message());
  if (TagWish::Any(parsed->metric) || parsed->metric->empty())
    return SendError(out, request, 400, "\"" + *expression + "\" names no metric");
  const Result<SeriesWanted> wanted =
      ResolveSeries(parsed->metric, parsed->tags, services.names, *request.running);
  if (!wanted.ok()) return SendStatus(out, request, wanted.status());

  query::RunningRequest& query = *request.running;
  if (const Status begun = BeginQuery(request, AsQuery(*parsed)); !begun.ok())
    return SendQueryFailure(request, services, begun, out);
  const KeyLayout& layout = services.points.layout();
  MemoryTally memory(&query);
  Counts counts;
  const Status visited = VisitSeries(
      *wanted, services.points,
      [&](ByteView tsuid) -> Result<bool> {
        RETURN_IF_ERROR(Add(tsuid, layout, &memory, &counts));
        return true;
      },
      query);
  if (!visited.ok()) return FailQuery(request, services, visited, query, out);
  query::NameMemo names(services.names, &query);
  const Result<std::vector<ShownTag>> tags =
      Name(counts, static_cast<size_t>(limit), layout, &names, &query);
  if (!tags.ok()) return FailQuery(request, services, tags.status(), query, out);
  SendJsonAnswer(request, services, query, out,
                 [&](JsonWriter* json) { Write(*parsed->metric, counts.series, *tags, json); });
}

}  // namespace hg::http
