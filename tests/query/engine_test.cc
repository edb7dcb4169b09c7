#include "query/engine.h"

#include <atomic>

#include "tests/query/engine_fixture.h"

namespace hg::query {
namespace {

constexpr int64_t kHour = 1'500'001'200;  // 03:00

FilterSpec Filter(const char* type, const char* key, const char* text, bool group_by = false) {
  return {type, key, text, group_by, false};
}

TEST_CASE_FIXTURE(EngineFixture,
                  "series of the scanned hours take part even without a point in range") {
  Put("m", {{"host", "a"}}, kHour + 900, 1);
  Put("m", {{"host", "b"}}, kHour + 3000, 2);
  Put("m", {{"host", "c"}}, kHour + 3900, 3);
  SubQuery query = Ask("sum", "m");
  CHECK(Text(query, kHour + 600, kHour + 1200) == "/host " + std::to_string(kHour + 900) + ":1");
  query.filters = {Filter("literal_or", "host", "b")};
  CHECK(Text(query, kHour + 600, kHour + 1200) == "host=b ");
  query.filters = {Filter("literal_or", "host", "c")};
  CHECK(Text(query, kHour + 600, kHour + 1200) == "");
}

TEST_CASE_FIXTURE(EngineFixture, "without trimming every point of the scanned hours is given") {
  Put("m", {{"host", "a"}}, kHour, 1);
  Put("m", {{"host", "a"}}, kHour + 900, 2);
  Put("m", {{"host", "a"}}, kHour + 3000, 3);
  CHECK(Run(Ask("sum", "m"), kHour + 600, kHour + 1200)->groups[0].points.size() == 1);
  CHECK(Run(Ask("sum", "m"), kHour + 600, kHour + 1200, false)->groups[0].points.size() == 3);
}

TEST_CASE_FIXTURE(EngineFixture, "a key that some series lack stays a tag") {
  Put("m", {{"dc", "dal"}, {"host", "w1"}}, kHour, 1);
  Put("m", {{"host", "w1"}}, kHour, 1);
  Put("m", {{"host", "w1"}, {"owner", "j"}}, kHour, 1);
  Put("m", {{"dc", "lax"}, {"host", "w1"}}, kHour, 1);
  CHECK(Text(Ask("sum", "m"), kHour, kHour + 10) ==
        "host=w1,owner=j/dc " + std::to_string(kHour) + ":4");
}

TEST_CASE_FIXTURE(EngineFixture, "series are told apart in whichever order their hours come") {
  for (const char* host : {"a", "b", "c", "d", "e"}) Id(UidKind::kTagv, host);
  const std::vector<std::vector<const char*>> hours = {
      {"b", "d"}, {"a", "c", "d"}, {"d"}, {"a", "e"}, {"b", "c", "e"}, {"a", "b", "c", "d", "e"}};
  for (size_t hour = 0; hour < hours.size(); ++hour) {
    for (const char* host : hours[hour]) {
      Put("m", {{"host", host}}, kHour + static_cast<int64_t>(hour) * 3600, host[0] - 'a');
    }
  }
  const Result<Answer> answer = Run(Ask("none", "m"), kHour, kHour + 6 * 3600);
  REQUIRE(answer.ok());
  REQUIRE(answer->groups.size() == 5);
  for (size_t i = 0; i < 5; ++i) {
    const std::string host(1, static_cast<char>('a' + i));
    std::vector<int64_t> expected;
    for (size_t hour = 0; hour < hours.size(); ++hour) {
      for (const char* one : hours[hour]) {
        if (one == host) expected.push_back((kHour + static_cast<int64_t>(hour) * 3600) * 1000);
      }
    }
    CAPTURE(host);
    CHECK(answer->groups[i].tags[0].second == host);
    CHECK(answer->groups[i].points.time_ms == expected);
    CHECK(answer->groups[i].points.bits == std::vector<uint64_t>(expected.size(), i));
  }
}

TEST_CASE_FIXTURE(EngineFixture, "groups ascend by the ids of their values") {
  for (const char* host : {"z", "a", "m"}) Put("m", {{"host", host}}, kHour, 1);
  SubQuery query = Ask("sum", "m");
  query.filters = {Filter("wildcard", "host", "*", true)};
  std::string point = " " + std::to_string(kHour) + ":1";
  CHECK(Text(query, kHour, kHour + 10) ==
        "host=z" + point + " | host=a" + point + " | host=m" + point);
  query = Ask("none", "m");
  CHECK(Text(query, kHour, kHour + 10) ==
        "host=z" + point + " | host=a" + point + " | host=m" + point);
}

TEST_CASE_FIXTURE(EngineFixture, "a negative filter needs the key") {
  Put("m", {{"host", "a"}}, kHour, 1);
  Put("m", {{"host", "a"}, {"dc", "x"}}, kHour, 2);
  SubQuery query = Ask("none", "m");
  query.filters = {Filter("not_literal_or", "dc", "y")};
  CHECK(Text(query, kHour, kHour + 10) == "host=a,dc=x " + std::to_string(kHour) + ":2");
}

TEST_CASE_FIXTURE(EngineFixture,
                  "literals of the lowest key are united, of others the last counts") {
  for (const char* dc : {"a", "b"}) {
    for (const char* host : {"x", "y"}) Put("m", {{"dc", dc}, {"host", host}}, kHour, 1);
  }
  SubQuery query = Ask("count", "m");
  query.filters = {Filter("literal_or", "dc", "a"), Filter("literal_or", "dc", "b")};
  CHECK(Text(query, kHour, kHour + 10) == "/dc/host " + std::to_string(kHour) + ":4");
  query.filters = {Filter("literal_or", "host", "x"), Filter("literal_or", "host", "y"),
                   Filter("wildcard", "dc", "*")};
  CHECK(Text(query, kHour, kHour + 10) == "host=y/dc " + std::to_string(kHour) + ":2");
}

TEST_CASE("explicit tags with two multi-literals lose combinations where the fuzzy filter is on") {
  for (bool fuzzy : {true, false}) {
    CAPTURE(fuzzy);
    Options options = EngineFixture::UtcOptions();
    options.fuzzy_filter = fuzzy;
    EngineFixture f(options);
    for (const char* k1 : {"v1", "v2", "v3"}) {
      for (const char* k2 : {"v4", "v5"}) f.Put("m", {{"k1", k1}, {"k2", k2}}, kHour, 1);
    }
    f.Put("m", {{"k1", "v1"}, {"k2", "v4"}, {"k3", "v6"}}, kHour, 1);
    SubQuery query = EngineFixture::Ask("none", "m");
    query.explicit_tags = true;
    query.filters = {Filter("literal_or", "k1", "v1|v2|v3"), Filter("literal_or", "k2", "v4|v5")};
    CHECK(f.Run(query, kHour, kHour + 10)->groups.size() == (fuzzy ? 4 : 6));
  }
}

TEST_CASE_FIXTURE(EngineFixture, "names that are not known fail, known ones without data do not") {
  Put("m", {{"host", "a"}}, kHour, 1);
  Id(UidKind::kMetric, "empty");
  CHECK(Text(Ask("sum", "empty"), kHour, kHour + 10) == "");
  CHECK(Run(Ask("sum", "nope"), kHour, kHour + 10).status().message() ==
        "No such name for 'metrics': 'nope'");
  SubQuery query = Ask("sum", "m");
  query.filters = {Filter("literal_or", "host", "nope")};
  CHECK(Run(query, kHour, kHour + 10).status().code() == StatusCode::kNotFound);
  query.filters = {Filter("regexp", "nokey", ".*")};
  CHECK(Run(query, kHour, kHour + 10).status().code() == StatusCode::kNotFound);
}

TEST_CASE("unknown values are passed over where the setting says so") {
  Options options = EngineFixture::UtcOptions();
  options.skip_unresolved_tagvs = true;
  EngineFixture f(options);
  f.Put("m", {{"host", "a"}}, kHour, 1);
  SubQuery query = EngineFixture::Ask("sum", "m");
  query.filters = {Filter("literal_or", "host", "nope|a")};
  CHECK(f.Run(query, kHour, kHour + 10)->groups.size() == 1);
  query.filters = {Filter("literal_or", "host", "nope")};
  CHECK(f.Run(query, kHour, kHour + 10)->groups.empty());
}

TEST_CASE("cells are limited between batches") {
  Options options = EngineFixture::UtcOptions();
  options.cells_max = 3;
  options.cells_override_allowed = true;
  options.batch_rows = 1;
  EngineFixture f(options);
  for (int64_t t = 0; t < 5; ++t) f.Put("m", {{"host", "a"}}, kHour + t, t);
  SubQuery query = EngineFixture::Ask("sum", "m");
  CHECK(f.Run(query, kHour, kHour + 10).ok());  // one batch is never refused
  f.Put("m", {{"host", "a"}}, kHour + 3600, 5);
  CHECK(f.Run(query, kHour, kHour + 3700).status().code() == StatusCode::kLimitExceeded);
}

TEST_CASE_FIXTURE(EngineFixture, "deleting takes whole hours of the series that matched") {
  Put("m", {{"host", "a"}}, kHour + 10, 1);
  Put("m", {{"host", "a"}}, kHour + 3000, 2);
  Put("m", {{"host", "a"}}, kHour + 3700, 3);
  Put("m", {{"host", "b"}}, kHour + 10, 4);
  SubQuery query = Ask("sum", "m");
  query.filters = {Filter("regexp", "host", "^a$")};
  Result<Answer> deleted = Run(query, kHour, kHour + 100, true, true);
  CHECK(query::Text(deleted->groups[0].points) == std::to_string(kHour + 10) + ":1");
  CHECK(Text(Ask("none", "m"), kHour, kHour + 4000) == "host=a " + std::to_string(kHour + 3700) +
                                                           ":3 | host=b " +
                                                           std::to_string(kHour + 10) + ":4");
}

TEST_CASE_FIXTURE(EngineFixture, "a client that has gone ends its query") {
  Put("m", {{"host", "a"}}, kHour, 1);
  Request request;
  request.start = std::to_string(kHour);
  request.queries = {Ask("sum", "m")};
  QueryClient client;
  client.gone = [] { return true; };
  auto query = *engine.running().Begin(request, std::move(client));
  CHECK(engine.Run(*engine.Validate(request), {.query = query.get()}).status().code() ==
        StatusCode::kDeadlineExceeded);
}

TEST_CASE_FIXTURE(EngineFixture, "TSUIDs are one group and share a metric") {
  Put("m", {{"host", "a"}}, kHour, 1);
  Put("m", {{"host", "b"}}, kHour, 2);
  Put("m", {{"host", "b"}, {"dc", "x"}}, kHour, 4);
  SubQuery query;
  query.aggregator = "sum";
  query.tsuids = {"000001000001000001", "000001000001000002"};
  CHECK(Text(query, kHour, kHour + 10) == "/host " + std::to_string(kHour) + ":3");
  query.tsuids = {"000001000001000001", "000002000001000001"};
  CHECK(Run(query, kHour, kHour + 10).status().code() == StatusCode::kUnsupported);
  query.tsuids = {"0001"};
  CHECK(Run(query, kHour, kHour + 10).status().code() == StatusCode::kUnsupported);
  query.tsuids = {"00000100000100000g"};
  CHECK(Run(query, kHour, kHour + 10).status().code() == StatusCode::kInvalidArgument);
}

TEST_CASE_FIXTURE(EngineFixture, "filters beside TSUIDs compare names and resolve none") {
  Put("m", {{"host", "a"}}, kHour, 1);
  Put("m", {{"host", "b"}}, kHour, 2);
  SubQuery query;
  query.aggregator = "sum";
  query.tsuids = {"000001000001000001", "000001000001000002"};
  auto sum = [&](const char* type, const char* key, const char* text) {
    query.filters = {{type, key, text}};
    std::string found = Text(query, kHour, kHour + 10);
    return found.substr(found.rfind(':') + 1);
  };
  CHECK(sum("literal_or", "host", "a||nope") == "1");
  CHECK(sum("literal_or", "host", "nope") == "");
  CHECK(sum("literal_or", "dc", "a") == "");
  CHECK(sum("not_literal_or", "dc", "a") == "3");
  CHECK(sum("wildcard", "dc", "*") == "3");
  query.filters = {{"literal_or", "host", "a"}};
  CHECK(Run(query, kHour, kHour + 10)->queries[0].filter_keys.empty());
}

TEST_CASE_FIXTURE(EngineFixture, "repeated sub-queries are answered once") {
  Put("m", {{"host", "a"}}, kHour, 1);
  Request request;
  request.start = std::to_string(kHour);
  request.queries = {Ask("sum", "m"), Ask("max", "m"), Ask("sum", "m")};
  CHECK(engine.Run(*engine.Validate(request), {})->groups.size() == 2);
}

/// Each question costs 3 ms, so that long work is seen where there is none.
class LeapingClock : public Clock {
 public:
  [[nodiscard]] int64_t NowMs() const override { return 1'500'010'000'000; }
  [[nodiscard]] int64_t MonotonicNs() const override { return now_ns_ += 3'000'000; }

 private:
  mutable std::atomic<int64_t> now_ns_{0};
};

TEST_CASE_FIXTURE(EngineFixture, "sub-queries side by side answer in the order of the request") {
  Request request;
  request.start = std::to_string(kHour);
  for (int i = 0; i < 20; ++i) {
    Put("m" + std::to_string(i), {{"host", "a"}}, kHour, i);
    request.queries.push_back(Ask("sum", "m" + std::to_string(i)));
  }
  LeapingClock leaping;
  Engine busy(points, names, store, leaping, UtcOptions());
  QueryClient client;
  client.gone = [] { return false; };
  auto query = *busy.running().Begin(request, std::move(client));
  const RunOptions run{.query = query.get()};
  Answer answer = *busy.Run(*busy.Validate(request), run);
  REQUIRE(answer.groups.size() == 20);
  for (size_t i = 0; i < 20; ++i) {
    CHECK(answer.groups[i].query_index == i);
    CHECK(answer.groups[i].points.bits[0] == i);
  }
  request.queries[13].metric = "nope";
  CHECK(busy.Run(*busy.Validate(request), run).status().code() == StatusCode::kNotFound);
}

TEST_CASE_FIXTURE(EngineFixture, "a sub-query sees what another one of its request deletes") {
  Put("m", {{"host", "a"}}, kHour, 1);
  Request request;
  request.start = std::to_string(kHour);
  request.queries = {Ask("sum", "m"), Ask("max", "m"), Ask("sum", "nope")};
  request.delete_rows = true;
  CHECK_FALSE(engine.Run(*engine.Validate(request), {}).ok());
  request.queries.pop_back();
  CHECK(engine.Run(*engine.Validate(request), {})->groups.size() == 2);
  CHECK(engine.Run(*engine.Validate(request), {})->groups.empty());
}

TEST_CASE_FIXTURE(EngineFixture, "requests that cannot be are refused") {
  Request good;
  good.start = "1h-ago";
  good.queries = {Ask("sum", "m")};
  REQUIRE(engine.Validate(good).ok());
  auto code = [&](auto change) {
    Request request = good;
    change(&request);
    return engine.Validate(request).status().code();
  };
  CHECK(code([](Request* r) { r->start = ""; }) == StatusCode::kInvalidArgument);
  CHECK(code([](Request* r) { r->end = "2h-ago"; }) == StatusCode::kInvalidArgument);
  CHECK(code([](Request* r) { r->queries.clear(); }) == StatusCode::kInvalidArgument);
  CHECK(code([](Request* r) { r->queries[0].aggregator = "foo"; }) == StatusCode::kInvalidArgument);
  CHECK(code([](Request* r) { r->queries[0].metric = ""; }) == StatusCode::kInvalidArgument);
  CHECK(code([](Request* r) { r->queries[0].downsample = "1m"; }) == StatusCode::kInvalidArgument);
  CHECK(code([](Request* r) { r->end = "99999999999999"; }) == StatusCode::kUnsupported);
  CHECK(code([](Request* r) { r->start = "1969/12/31"; }) == StatusCode::kUnsupported);
  CHECK(code([](Request* r) { r->start = "-1"; }) == StatusCode::kInvalidArgument);
  CHECK(code([](Request* r) { r->timezone = "GMT+5"; }) == StatusCode::kOk);
  CHECK(code([](Request* r) {
          r->timezone = "GMT+5";
          r->queries[0].downsample = "1m-sum";
        }) == StatusCode::kInvalidArgument);
}

TEST_CASE_FIXTURE(EngineFixture,
                  "a sub-query that cannot be evaluated may leave its failure behind") {
  Put("m", {{"host", "a"}}, kHour, PointValue::Double(1.7e308));
  Put("m", {{"host", "b"}}, kHour, PointValue::Double(1.7e308));
  Request request;
  request.start = std::to_string(kHour);
  request.queries = {Ask("max", "m"), Ask("sum", "m")};
  const ValidQuery query = *engine.Validate(request);
  CHECK_FALSE(engine.Run(query, {}).ok());
  RunOptions run;
  run.on_failure = OnFailure::kLeaveNothing;
  const Result<Answer> answer = engine.Run(query, run);
  REQUIRE(answer.ok());
  CHECK(answer->groups.size() == 1);
  CHECK(answer->queries[0].failure.ok());
  CHECK_FALSE(answer->queries[1].failure.ok());
  run.on_failure = OnFailure::kLeaveWhatPrecedes;
  const Result<Answer> partial = engine.Run(query, run);
  REQUIRE(partial.ok());
  REQUIRE(partial->groups.size() == 2);
  CHECK(partial->groups[1].points.size() == 0);
  CHECK_FALSE(partial->queries[1].failure.ok());
}

TEST_CASE_FIXTURE(EngineFixture, "histograms are summed by sum itself, not by what adds as well") {
  Request request;
  request.start = "1h-ago";
  request.queries = {Ask("sum", "m")};
  request.queries[0].percentiles = {{50}};
  auto valid = [&](const char* aggregator, const char* downsample) {
    request.queries[0].aggregator = aggregator;
    request.queries[0].downsample = downsample;
    return engine.Validate(request).ok();
  };
  CHECK(valid("sum", "1m-sum"));
  CHECK(valid("none", "1m-sum"));
  CHECK_FALSE(valid("zimsum", "1m-sum"));
  CHECK_FALSE(valid("pfsum", "1m-sum"));
  CHECK_FALSE(valid("sum", "1m-zimsum"));
}

// Up to 2^32 milliseconds are seconds to OpenTSDB: as a query's times, and again where a group
// takes its series in.
TEST_CASE_FIXTURE(EngineFixture,
                  "a window may end before a series of early 1970 by such a reading") {
  Put("m", {{"host", "a"}}, 4'000'000, 1);
  CHECK(Text(Ask("sum", "m"), 1000, 4200) == "host=a ");
  CHECK(Text(Ask("sum", "m"), 1000, 5000) == " ");
}

TEST_CASE_FIXTURE(EngineFixture, "a sub-query with no filters is another one than one without") {
  Put("m", {{"host", "a"}}, kHour, 1);
  Request request;
  request.start = std::to_string(kHour);
  request.end = std::to_string(kHour + 60);
  request.queries = {Ask("sum", "m"), Ask("sum", "m")};
  CHECK(engine.Run(*engine.Validate(request), {})->groups.size() == 1);
  request.queries[1].filters_given = true;
  CHECK(engine.Run(*engine.Validate(request), {})->groups.size() == 2);
}

struct SaltedFixture : EngineFixture {
  SaltedFixture() : EngineFixture(UtcOptions(), {.salt_width = 1, .salt_buckets = 4}) {}
};

TEST_CASE_FIXTURE(SaltedFixture,
                  "salted histograms of hours whose last bytes differ are series of their own") {
  // 1500001200 ends in B0 and so does 57600 s later; 3600 s later it is C0.
  PutHistogram("h", {{"host", "a"}}, 1500001201, 1);
  PutHistogram("h", {{"host", "a"}}, 1500004801, 2);
  PutHistogram("h", {{"host", "a"}}, 1500058801, 3);
  SubQuery query = Ask("none", "h");
  query.show_histogram_buckets = true;
  const Result<Answer> answer = Run(query, 1500000000, 1500100000);
  REQUIRE(answer.ok());
  std::vector<std::string> counts;
  for (const Group& group : answer->groups)
    if (group.metric == "h_0.0_1.0") counts.push_back(query::Text(group.points));
  CHECK(counts == std::vector<std::string>{"1500001201:1 1500058801:3", "1500004801:2"});
  query.aggregator = "sum";
  const Result<Answer> sum = Run(query, 1500000000, 1500100000);
  REQUIRE(sum.ok());
  REQUIRE(sum->groups.size() == 3);
  CHECK(sum->groups[1].points.size() == 3);
  CHECK(sum->groups[1].tsuids.size() == 2);
}

TEST_CASE_FIXTURE(EngineFixture, "histograms are not filled, however many buckets there were") {
  PutHistogram("h", {{"host", "a"}}, 1500001201, 1);
  SubQuery query = Ask("sum", "h");
  query.show_histogram_buckets = true;
  query.downsample = "1s-sum-nan";
  CHECK(Run(query, 1300000000, 1500100000).ok());
}

TEST_CASE_FIXTURE(EngineFixture, "histograms of the hour behind leave a group without a metric") {
  PutHistogram("h", {{"host", "a"}}, 1500004801, 1);
  Put("h", {{"host", "a"}}, 1500001201, 1);
  SubQuery query = Ask("sum", "h");
  query.percentiles = {{50}};
  query.filters = {Filter("wildcard", "host", "*", true)};
  CHECK(Run(query, 1500001200, 1500002000)->groups.empty());
  query.explicit_tags = true;  // the fuzzy row filter reads one hour more
  const Result<Answer> answer = Run(query, 1500001200, 1500002000);
  REQUIRE(answer.ok());
  REQUIRE(answer->groups.size() == 1);
  CHECK(answer->groups[0].metric == "_pct_50.0");
}

TEST_CASE_FIXTURE(EngineFixture, "without salt the hours of a histogram are one series") {
  PutHistogram("h", {{"host", "a"}}, 1500001201, 1);
  PutHistogram("h", {{"host", "a"}}, 1500004801, 2);
  SubQuery query = Ask("none", "h");
  query.show_histogram_buckets = true;
  const Result<Answer> answer = Run(query, 1500000000, 1500100000);
  REQUIRE(answer.ok());
  REQUIRE(answer->groups.size() == 3);
  CHECK(answer->groups[1].points.size() == 2);
}

}  // namespace
}  // namespace hg::query
