#include "http/wire/query_result.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <atomic>
#include <bit>
#include <limits>
#include <random>
#include <string>

#include "tests/query/columns.h"
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

TEST_CASE("last points have their value as text") {
  query::LastPoint plain;
  plain.time_ms = 1'500'000'000'000;
  plain.bits = static_cast<uint64_t>(int64_t{-5});
  plain.tsuid = Bytes("\0\0\1\0\0\1\0\0\1", 9);
  query::LastPoint named = plain;
  named.bits = std::bit_cast<uint64_t>(1e10);
  named.is_double = true;
  named.metric = "m";
  named.tags = {{"host", "a"}};
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
