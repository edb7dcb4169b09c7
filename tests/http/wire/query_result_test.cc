#include "http/wire/query_result.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <atomic>
#include <bit>
#include <cstdint>
#include <functional>
#include <limits>
#include <memory>
#include <optional>
#include <random>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "http/request/response_writer.h"
#include "tests/query/columns.h"
#include "tests/support/buffer_response.h"
#include "tests/support/cpu_time.h"
#include "tests/support/manual_clock.h"

namespace hg::http {
namespace {

query::ValidQuery OneQuery(const char* downsample = nullptr) {
  query::ValidQuery query;
  query.start_ms = 0;
  query.end_ms = 100'000;
  query.queries.resize(1);
  query.queries[0].text.aggregator = "sum";
  query.queries[0].text.metric = "m";
  if (downsample != nullptr) query.queries[0].downsample = *query::ParseDownsample(downsample);
  query.request.queries = {query.queries[0].text};
  return query;
}

query::Answer OneGroup(query::PointColumns points) {
  query::Answer answer;
  answer.queries.resize(1);
  answer.groups.resize(1);
  answer.groups[0].metric = "m";
  answer.groups[0].tags = {{"dc", "x"}, {"host", "a"}};
  answer.groups[0].points = std::move(points);
  return answer;
}

std::string Write(const query::ValidQuery& query, const query::Answer& answer,
                  const AnswerForm& form = {}) {
  std::string out;
  JsonWriter json(&out);
  query::QueryStats stats;
  for (const query::SubQueryInfo& info : answer.queries) stats.queries.push_back(info.stats);
  WriteAnswer(query, answer, form, ManualClock(0), &stats, {}, &json);
  return out;
}

/// A clock that advances by a nanosecond with each call.
struct TickingClock : ManualClock {
  TickingClock() : ManualClock(0) {}
  [[nodiscard]] int64_t MonotonicNs() const override { return ns++; }
  mutable std::atomic<int64_t> ns{0};
};

TEST_CASE("a result object has its tags in the order of Java's map") {
  CHECK(Write(OneQuery(), OneGroup(query::OfInts({{1, 5}, {2, -6}}))) ==
        R"([{"metric":"m","tags":{"host":"a","dc":"x"},"aggregateTags":[],"dps":{"1":5,"2":-6}}])");
}

TEST_CASE("neighbouring groups with other tag keys have their own order") {
  query::Answer answer = OneGroup(query::OfInts({{1, 5}}));
  const auto add = [&](std::vector<std::pair<Bytes, Bytes>> tags) {
    answer.groups.push_back(answer.groups[0]);
    answer.groups.back().tags = std::move(tags);
  };
  add({});
  add({{"dc", "y"}, {"host", "b"}});
  add({{"dc", "z"}, {"rack", "1"}});
  add({{"host", "c"}});
  const std::string out = Write(OneQuery(), answer);
  std::string tags;
  for (size_t at = 0; (at = out.find(R"("tags":)", at)) != std::string::npos; ++at) {
    tags += out.substr(at + 7, out.find('}', at) - at - 6);
  }
  CHECK(tags == R"({"host":"a","dc":"x"}{}{"host":"b","dc":"y"}{"rack":"1","dc":"z"}{"host":"c"})");
}

TEST_CASE("arrays, milliseconds and repeated seconds are written as OpenTSDB does") {
  query::ValidQuery query = OneQuery();
  query::PointColumns points = query::OfDoubles({{1, 1.5}, {1, 1e7}});
  points.time_ms[1] += 500;
  CHECK(Write(query, OneGroup(points), {.arrays = true}).find(R"("dps":[[1,1.5],[1,1.0E7]])") !=
        std::string::npos);
  CHECK(Write(query, OneGroup(points)).find(R"("dps":{"1":1.5,"1":1.0E7})") != std::string::npos);
  query.request.ms_resolution = true;
  CHECK(Write(query, OneGroup(points)).find(R"("dps":{"1000":1.5,"1500":1.0E7})") !=
        std::string::npos);
}

TEST_CASE("NaN is a text, or null if the fill policy is null") {
  query::PointColumns points = query::OfDoubles({{1, std::numeric_limits<double>::quiet_NaN()}});
  CHECK(Write(OneQuery("1m-sum-nan"), OneGroup(points)).find(R"({"1":"NaN"})") !=
        std::string::npos);
  CHECK(Write(OneQuery("1m-sum-null"), OneGroup(points)).find(R"({"1":null})") !=
        std::string::npos);
}

TEST_CASE("omit_nan leaves out NaN and nothing else") {
  const double nan = std::numeric_limits<double>::quiet_NaN();
  const query::PointColumns points = query::OfDoubles({{1, nan}, {2, 0.5}, {3, nan}});
  for (const char* downsample : {"1m-sum-nan", "1m-sum-null"}) {
    CHECK(Write(OneQuery(downsample), OneGroup(points), {.omit_nan = true})
              .find(R"("dps":{"2":0.5})") != std::string::npos);
    CHECK(Write(OneQuery(downsample), OneGroup(points), {.arrays = true, .omit_nan = true})
              .find(R"("dps":[[2,0.5]])") != std::string::npos);
  }
  CHECK(Write(OneQuery(), OneGroup(query::OfDoubles({{1, nan}})), {.omit_nan = true})
            .find(R"("dps":{})") != std::string::npos);
  // An integer with the bits of NaN is a number.
  CHECK(Write(OneQuery(), OneGroup(query::OfInts({{1, std::bit_cast<int64_t>(nan)}})),
              {.omit_nan = true})
            .find(R"("dps":{"1":9221120237041090560})") != std::string::npos);
}

TEST_CASE(
    "if rows have annotations, their key is in the response even if none of them is in range") {
  query::ValidQuery query = OneQuery();
  query::Answer answer = OneGroup({});
  codec::Annotation outside;
  outside.tsuid = "000001000001000001";
  outside.start_time = 5'000;
  answer.groups[0].annotations = {outside};
  CHECK(Write(query, answer).find(R"("annotations":[],"dps":{})") != std::string::npos);
  query.request.no_annotations = true;
  CHECK(Write(query, answer).find("annotations") == std::string::npos);
}

TEST_CASE("annotations are sorted by their stored start, seconds before milliseconds") {
  query::ValidQuery query = OneQuery();
  query.end_ms = 2'000'000'000'000;
  query::Answer answer = OneGroup({});
  for (const int64_t start : {int64_t{1'500'000'005'000}, int64_t{1'500'000'010}}) {
    codec::Annotation annotation;
    annotation.start_time = start;
    answer.groups[0].annotations.push_back(annotation);
  }
  const std::string out = Write(query, answer);
  CHECK(out.find("1500000010,") < out.find("1500000005000"));
}

TEST_CASE(
    "the result of an expression shows the first sub-query as its query, and always a list "
    "of annotations") {
  query::ValidQuery query = OneQuery();
  query.request.show_tsuids = true;
  query::Answer answer = OneGroup(query::OfDoubles({{1, 5}}));
  answer.groups[0].query_index = query::kComputedGroup;
  CHECK(Write(query, answer) ==
        R"([{"metric":"m","tags":{"host":"a","dc":"x"},"aggregateTags":[],"tsuids":[],)"
        R"("annotations":[],"dps":{"1":5.0}}])");
  query.request.show_query = true;
  CHECK(Write(query, answer).find(R"("query":{"aggregator":"sum",)") != std::string::npos);
  CHECK(Write(query, answer).find(R"("index":0,)") != std::string::npos);
}

TEST_CASE("of several grouping filters of one key the last one is shown") {
  query::ValidSubQuery sub = OneQuery().queries[0];
  sub.text.filters = {{"wildcard", "host", "*", true, false},
                      {"literal_or", "host", "b", true, false}};
  std::string out;
  JsonWriter json(&out);
  WriteSubQuery(sub.text, 0, {}, &json);
  CHECK(out.find(R"~("tags":{"host":"literal_or(b)"})~") != std::string::npos);
  CHECK(out.find(R"~("filterTagKs":[])~") != std::string::npos);  // as with TSUIDs
  sub.text.percentiles = {{99, 50.5}};
  out.clear();
  JsonWriter again(&out);
  WriteSubQuery(sub.text, 0, {}, &again);
  CHECK(out.find(R"("percentiles":[50.5,99.0])") != std::string::npos);
}

TEST_CASE("a sub-query is repeated in the response with every key") {
  query::ValidSubQuery sub = OneQuery().queries[0];
  sub.text.filters = {{"literal_or", "host", "a|b", true, false},
                      {"regexp", "dc", ".", false, false}};
  sub.text.rate_options = query::RateOptions{true, 10, 0, false};
  std::string out;
  JsonWriter json(&out);
  WriteSubQuery(sub.text, 3, {Bytes("\0\0\1", 3)}, &json);
  CHECK(
      out ==
      R"~({"aggregator":"sum","metric":"m","tsuids":null,"downsample":null,"rate":false,)~"
      R"~("filters":[{"tagk":"host","filter":"a|b","group_by":true,"type":"literal_or"},)~"
      R"~({"tagk":"dc","filter":".","group_by":false,"type":"regexp"}],"percentiles":null,"index":3,)~"
      R"~("filterTagKs":["AAAB"],"useFuzzyFilter":true,"useMultiGets":true,"rollupTable":"raw",)~"
      R"~("rateOptions":{"counter":true,"counterMax":10,"resetValue":0,"dropResets":false},"preAggregate":false,)~"
      R"~("rollupUsage":null,"explicitTags":false,"showHistogramBuckets":false,)~"
      R"~("tags":{"host":"literal_or(a|b)"},"histogramQuery":false})~");
}

TEST_CASE("several threads print the same as one, and their times are added") {
  query::Answer answer = OneGroup({});
  const query::Group group = answer.groups[0];
  answer.groups.clear();
  std::mt19937 random(3);
  for (int i = 0; i < 3000; ++i) {
    answer.groups.push_back(group);
    // Groups without points, groups with few points, and one group that is too long to be buffered
    // as a text.
    query::Ints points;
    const int64_t count = i == 1700 ? 20'000 : random() % 3 * 10;
    for (int64_t t = 1; t <= count; ++t) points.emplace_back(t, i);
    answer.groups.back().points = query::OfInts(points);
    answer.groups.back().tags.Edit()[1].second = std::to_string(i);
  }
  const query::ValidQuery query = OneQuery();
  const std::string expected = Write(query, answer);
  size_t parts = 0, most = 0;
  const Printers printers = {3, [&](size_t count, const std::function<bool(size_t)>& task) {
                               for (size_t i = count; i-- > 0;) task(i);
                               parts += count;
                               most = std::max(most, count);
                             }};
  std::string out;
  JsonWriter json(&out);
  query::QueryStats stats;
  stats.queries.resize(1);
  TickingClock clock;
  WriteAnswer(query, answer, {}, clock, &stats, printers, &json);
  CHECK(out == expected);
  CHECK(parts > 10);
  CHECK(most <= 6);
  CHECK(stats.queries[0].print_ns == 3000);
}

/// A client that keeps only the size of the largest piece and the number of all bytes.
class MeasuringClient : public BufferResponse {
 public:
  bool Write(std::string_view bytes) override {
    largest = std::max(largest, bytes.size());
    total += bytes.size();
    return !cancelled;
  }

  size_t largest = 0, total = 0;
};

/// Printers of three threads that count the texts that they print.
Printers CountingPrinters(size_t* texts) {
  return {3, [texts](size_t count, const std::function<bool(size_t)>& task) {
            for (size_t i = 0; i < count; ++i) task(i);
            *texts += count;
          }};
}

void WriteTo(ResponseWriter* out, const query::ValidQuery& query, const query::Answer& answer,
             const AnswerForm& form = {}, const Printers& printers = {}) {
  JsonWriter json(out);
  query::QueryStats stats;
  stats.queries.resize(answer.queries.size());
  WriteAnswer(query, answer, form, ManualClock(0), &stats, printers, &json);
  json.Finish();
}

/// Returns a text of characters that take six bytes each in JSON.
std::string Escaped(size_t size) { return std::string(size, '\1'); }

/// Checks that no text that waits is longer than its limit: a text ends with the element that
/// reaches kPartBytes. `write` must print `count` equal elements.
void CheckTexts(size_t count, const std::function<void(const Printers&, ResponseWriter*)>& write) {
  MeasuringClient alone, client;
  write({}, &alone);
  size_t texts = 0;
  write(CountingPrinters(&texts), &client);
  CHECK(texts > 3);
  CHECK(client.total == alone.total);
  const size_t element_bytes = alone.total / count;
  CHECK(element_bytes < kPartBytes / 8);
  CHECK(client.largest <= kPartBytes + element_bytes);
}

/// Checks that several threads buffer no results if each result is equal to the only group of
/// `answer`.
void CheckStreamed(const query::ValidQuery& query, query::Answer answer) {
  answer.groups.assign(40, query::Group(answer.groups[0]));
  MeasuringClient client, alone;
  size_t texts = 0;
  WriteTo(&client, query, answer, {}, CountingPrinters(&texts));
  WriteTo(&alone, query, answer);
  CHECK(texts == 0);
  CHECK(client.largest < 64 * 1024);
  CHECK(client.total == alone.total);
}

/// Returns an answer that has one group with some hundred points.
query::Answer GroupWithPoints() {
  query::Ints points;
  for (int64_t t = 0; t < 500; ++t) points.emplace_back(t, 1);
  return OneGroup(query::OfInts(points));
}

TEST_CASE("results with many long texts are streamed and do not wait in memory") {
  constexpr size_t kTexts = 100;
  const std::string text(1500, 'x');
  query::ValidQuery query = OneQuery();
  query.request.show_tsuids = true;
  query::Answer answer = GroupWithPoints();
  query::Group& group = answer.groups[0];
  codec::Annotation annotation;
  SUBCASE("descriptions") { annotation.description = text; }
  SUBCASE("TSUIDs of annotations") { annotation.tsuid = text; }
  SUBCASE("notes") { annotation.notes = text; }
  SUBCASE("names of custom fields") { annotation.custom = codec::Annotation::Custom{{text, ""}}; }
  SUBCASE("custom fields") { annotation.custom = codec::Annotation::Custom{{"", text}}; }
  SUBCASE("aggregate tags") { group.aggregate_tags = std::vector<Bytes>(kTexts, text); }
  SUBCASE("TSUIDs") { group.tsuids = std::vector<Bytes>(kTexts, text); }
  if (annotation == codec::Annotation()) return CheckStreamed(query, answer);
  group.annotations = std::vector<codec::Annotation>(kTexts, annotation);
  CheckStreamed(query, answer);
  group.annotations.clear();
  answer.global_annotations.assign(kTexts, annotation);
  CheckStreamed(query, answer);
}

TEST_CASE("results that repeat a long query are streamed and do not wait in memory") {
  constexpr size_t kTexts = 100;
  const std::string text(1500, 'x');
  query::ValidQuery query = OneQuery();
  query.request.show_query = true;
  query::SubQuery& sub = query.queries[0].text;
  SUBCASE("filters") {
    sub.filters =
        std::vector<query::FilterSpec>(kTexts, {"literal_or", "host", text, false, false});
  }
  SUBCASE("keys of filters") {
    sub.filters = std::vector<query::FilterSpec>(kTexts, {"wildcard", text, "*", true, false});
  }
  SUBCASE("TSUIDs") { sub.tsuids = std::vector<std::string>(kTexts, text); }
  SUBCASE("percentiles") { sub.percentiles = std::vector<double>(40'000, 99.9); }
  CheckStreamed(query, GroupWithPoints());
}

TEST_CASE("the texts of several threads keep their limit, whatever the results consist of") {
  constexpr size_t kGroups = 3000;
  query::ValidQuery query = OneQuery();
  query.start_ms = INT64_MIN;
  query.end_ms = INT64_MAX;
  query::Answer answer = OneGroup({});
  query::Group& group = answer.groups[0];
  SUBCASE("few points") { group.points = query::OfInts({{1, 5}, {2, 6}}); }
  SUBCASE("texts of characters that are escaped") {
    group.metric = Escaped(40);
    group.tags = {{Escaped(10), Escaped(40)}};
    group.aggregate_tags = {Escaped(10), Escaped(50), ""};
  }
  SUBCASE("annotations") {
    codec::Annotation annotation;
    annotation.start_time = annotation.end_time = 1'500'000'000'000;
    annotation.custom.emplace();
    for (char c = 'a'; c < 'f'; ++c) (*annotation.custom)[std::string(1, c)] = Escaped(3);
    group.annotations = std::vector<codec::Annotation>(3, annotation);
    answer.global_annotations.assign(5, annotation);
  }
  SUBCASE("statistics and TSUIDs") {
    query.request.show_stats = query.request.show_tsuids = true;
    group.tsuids = {std::string(9, '\1'), std::string(33, '\1')};
    group.aggregate_ns = group.names_ns = INT64_MIN + 1;
    answer.queries[0].stats.scan_ns = answer.queries[0].stats.group_ns = INT64_MIN + 1;
  }
  SUBCASE("queries") {
    query.request.show_query = true;
    query::SubQuery& text = query.queries[0].text;
    text.filters = {{"literal_or", "h", Escaped(5), true, false},
                    {"wildcard", "dc", "*", true, false}};
    text.rate_options = query::RateOptions{true, INT64_MIN, INT64_MIN, true};
    text.percentiles = {{99.9, 50.5, 1e-30, 1.2345678e-30}};
    text.rollup_usage = "ROLLUP_FALLBACK_RAW";
    SUBCASE("with texts") {
      text.downsample = Escaped(10);
      text.value_filter = Escaped(10);
      text.tsuids = std::vector<std::string>{Escaped(3), Escaped(4)};
    }
    SUBCASE("with nulls") { text.aggregator = text.metric = std::nullopt; }
    answer.queries[0].filter_keys = {std::string(3, '\1'), std::string(8, '\1')};
  }
  answer.groups.assign(kGroups, query::Group(group));
  CheckTexts(kGroups, [&](const Printers& printers, ResponseWriter* out) {
    WriteTo(out, query, answer, {}, printers);
  });
}

TEST_CASE("the texts of several threads keep their limit, whatever the points are") {
  constexpr size_t kGroups = 300, kPoints = 100;
  query::ValidQuery query = OneQuery();
  query.request.ms_resolution = true;
  query::Answer answer = OneGroup({});
  query::PointColumns& points = answer.groups[0].points;
  points.time_ms.assign(kPoints, INT64_MIN);
  SUBCASE("integers") { points.bits.assign(kPoints, static_cast<uint64_t>(INT64_MIN)); }
  SUBCASE("doubles with an exponent") {
    points.all_double = true;
    points.bits.assign(kPoints, std::bit_cast<uint64_t>(-2.2250738585072014E-308));
  }
  SUBCASE("doubles without an exponent") {
    points.all_double = true;
    points.bits.assign(kPoints, std::bit_cast<uint64_t>(-0.0012345678901234567));
  }
  answer.groups.assign(kGroups, query::Group(answer.groups[0]));
  for (const bool arrays : {false, true}) {
    CheckTexts(kGroups, [&](const Printers& printers, ResponseWriter* out) {
      WriteTo(out, query, answer, {.arrays = arrays}, printers);
    });
  }
}

TEST_CASE("the texts of several threads keep their limit for last points") {
  query::LastPoint point;
  point.time_ms = INT64_MIN;
  point.tsuid = Bytes(9, '\1');
  SUBCASE("integers") { point.bits = static_cast<uint64_t>(INT64_MIN); }
  SUBCASE("doubles with names") {
    point.is_double = true;
    point.bits = std::bit_cast<uint64_t>(-2.2250738585072014E-308);
    point.names = std::make_shared<const query::LastPoint::Names>(
        query::LastPoint::Names{Escaped(10), {{Escaped(5), Escaped(5)}, {"host", "a"}}});
  }
  const std::vector<query::LastPoint> points(20'000, point);
  CheckTexts(points.size(), [&](const Printers& printers, ResponseWriter* out) {
    JsonWriter json(out);
    WriteLastPoints(points, printers, &json);
    json.Finish();
  });
}

TEST_CASE("printing one result with long lists ends when its client has gone") {
  constexpr size_t kTexts = 200;
  const std::string text = Escaped(64 * 1024);
  query::ValidQuery query = OneQuery();
  query.request.show_tsuids = query.request.show_query = true;
  query::Answer answer = OneGroup({});
  codec::Annotation annotation;
  annotation.description = text;
  SUBCASE("annotations") {
    answer.groups[0].annotations = std::vector<codec::Annotation>(kTexts, annotation);
  }
  SUBCASE("global annotations") { answer.global_annotations.assign(kTexts, annotation); }
  SUBCASE("aggregate tags") { answer.groups[0].aggregate_tags = std::vector<Bytes>(kTexts, text); }
  SUBCASE("TSUIDs") { answer.groups[0].tsuids = std::vector<Bytes>(kTexts, text); }
  SUBCASE("filters") {
    query.queries[0].text.filters =
        std::vector<query::FilterSpec>(kTexts, {"literal_or", "host", text, false, false});
  }
  MeasuringClient staying, gone;
  gone.cancelled = true;
  const double whole_seconds = CpuSecondsOf([&] { WriteTo(&staying, query, answer); });
  const double seconds = CpuSecondsOf([&] { WriteTo(&gone, query, answer); });
  CHECK(staying.total > kTexts * text.size());
  CHECK(seconds < whole_seconds / 4);
}

TEST_CASE("last points have their value as text") {
  query::LastPoint plain;
  plain.time_ms = 1'500'000'000'000;
  plain.bits = static_cast<uint64_t>(int64_t{-5});
  plain.tsuid = Bytes("\0\0\1\0\0\1\0\0\1", 9);
  query::LastPoint named = plain;
  named.bits = std::bit_cast<uint64_t>(1e10);
  named.is_double = true;
  named.names = std::make_shared<const query::LastPoint::Names>(
      query::LastPoint::Names{"m", {{"host", "a"}}});
  std::string out;
  JsonWriter json(&out);
  WriteLastPoints({plain, named}, {}, &json);
  CHECK(
      out ==
      R"([{"timestamp":1500000000000,"value":"-5","tsuid":"000001000001000001"},)"
      R"({"metric":"m","timestamp":1500000000000,"value":"1.0E10","tags":{"host":"a"},"tsuid":"000001000001000001"}])");
}

}  // namespace
}  // namespace hg::http
