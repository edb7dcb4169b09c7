#include "query/engine.h"

#include <atomic>

#include "tests/query/engine_fixture.h"

namespace hg::query {
namespace {

constexpr int64_t kThreeOClock = 1'500'001'200;  // 03:00

FilterSpec Filter(const char* type, const char* key, const char* text, bool group_by = false) {
  return {type, key, text, group_by, false};
}

TEST_CASE_FIXTURE(
    EngineFixture,
    "series take part if they have points in the scanned hours, even outside the range") {
  Put("m", {{"host", "a"}}, kThreeOClock + 900, 1);
  Put("m", {{"host", "b"}}, kThreeOClock + 3000, 2);
  Put("m", {{"host", "c"}}, kThreeOClock + 3900, 3);
  SubQuery query = Ask("sum", "m");
  CHECK(Text(query, kThreeOClock + 600, kThreeOClock + 1200) ==
        "/host " + std::to_string(kThreeOClock + 900) + ":1");
  query.filters = {Filter("literal_or", "host", "b")};
  CHECK(Text(query, kThreeOClock + 600, kThreeOClock + 1200) == "host=b ");
  query.filters = {Filter("literal_or", "host", "c")};
  CHECK(Text(query, kThreeOClock + 600, kThreeOClock + 1200) == "");
}

TEST_CASE_FIXTURE(EngineFixture, "without trimming every point of the scanned hours is returned") {
  Put("m", {{"host", "a"}}, kThreeOClock, 1);
  Put("m", {{"host", "a"}}, kThreeOClock + 900, 2);
  Put("m", {{"host", "a"}}, kThreeOClock + 3000, 3);
  CHECK(Run(Ask("sum", "m"), kThreeOClock + 600, kThreeOClock + 1200)->groups[0].points.size() ==
        1);
  CHECK(Run(Ask("sum", "m"), kThreeOClock + 600, kThreeOClock + 1200, false)
            ->groups[0]
            .points.size() == 3);
}

TEST_CASE_FIXTURE(EngineFixture, "a tag key that some series lack remains a tag") {
  Put("m", {{"dc", "dal"}, {"host", "w1"}}, kThreeOClock, 1);
  Put("m", {{"host", "w1"}}, kThreeOClock, 1);
  Put("m", {{"host", "w1"}, {"owner", "j"}}, kThreeOClock, 1);
  Put("m", {{"dc", "lax"}, {"host", "w1"}}, kThreeOClock, 1);
  CHECK(Text(Ask("sum", "m"), kThreeOClock, kThreeOClock + 10) ==
        "host=w1,owner=j/dc " + std::to_string(kThreeOClock) + ":4");
}

TEST_CASE_FIXTURE(EngineFixture, "series are distinguished in whatever order their hours arrive") {
  for (const char* host : {"a", "b", "c", "d", "e"}) Id(UidKind::kTagv, host);
  const std::vector<std::vector<const char*>> hours = {
      {"b", "d"}, {"a", "c", "d"}, {"d"}, {"a", "e"}, {"b", "c", "e"}, {"a", "b", "c", "d", "e"}};
  for (size_t hour = 0; hour < hours.size(); ++hour) {
    for (const char* host : hours[hour]) {
      Put("m", {{"host", host}}, kThreeOClock + static_cast<int64_t>(hour) * 3600, host[0] - 'a');
    }
  }
  const Result<Answer> answer = Run(Ask("none", "m"), kThreeOClock, kThreeOClock + 6 * 3600);
  REQUIRE(answer.ok());
  REQUIRE(answer->groups.size() == 5);
  for (size_t i = 0; i < 5; ++i) {
    const std::string host(1, static_cast<char>('a' + i));
    std::vector<int64_t> expected;
    for (size_t hour = 0; hour < hours.size(); ++hour) {
      for (const char* one : hours[hour]) {
        if (one == host)
          expected.push_back((kThreeOClock + static_cast<int64_t>(hour) * 3600) * 1000);
      }
    }
    CAPTURE(host);
    CHECK(answer->groups[i].tags[0].second == host);
    CHECK(answer->groups[i].points.time_ms == expected);
    CHECK(answer->groups[i].points.bits == std::vector<uint64_t>(expected.size(), i));
  }
}

TEST_CASE_FIXTURE(EngineFixture, "groups are ordered by the ids of their values") {
  for (const char* host : {"z", "a", "m"}) Put("m", {{"host", host}}, kThreeOClock, 1);
  SubQuery query = Ask("sum", "m");
  query.filters = {Filter("wildcard", "host", "*", true)};
  std::string point = " " + std::to_string(kThreeOClock) + ":1";
  CHECK(Text(query, kThreeOClock, kThreeOClock + 10) ==
        "host=z" + point + " | host=a" + point + " | host=m" + point);
  query = Ask("none", "m");
  CHECK(Text(query, kThreeOClock, kThreeOClock + 10) ==
        "host=z" + point + " | host=a" + point + " | host=m" + point);
}

TEST_CASE_FIXTURE(EngineFixture, "a negative filter requires the tag key") {
  Put("m", {{"host", "a"}}, kThreeOClock, 1);
  Put("m", {{"host", "a"}, {"dc", "x"}}, kThreeOClock, 2);
  SubQuery query = Ask("none", "m");
  query.filters = {Filter("not_literal_or", "dc", "y")};
  CHECK(Text(query, kThreeOClock, kThreeOClock + 10) ==
        "host=a,dc=x " + std::to_string(kThreeOClock) + ":2");
}

TEST_CASE_FIXTURE(EngineFixture,
                  "literal filters of the tag key with the lowest id are united, "
                  "and of other keys only the last filter counts") {
  for (const char* dc : {"a", "b"}) {
    for (const char* host : {"x", "y"}) Put("m", {{"dc", dc}, {"host", host}}, kThreeOClock, 1);
  }
  SubQuery query = Ask("count", "m");
  query.filters = {Filter("literal_or", "dc", "a"), Filter("literal_or", "dc", "b")};
  CHECK(Text(query, kThreeOClock, kThreeOClock + 10) ==
        "/dc/host " + std::to_string(kThreeOClock) + ":4");
  query.filters = {Filter("literal_or", "host", "x"), Filter("literal_or", "host", "y"),
                   Filter("wildcard", "dc", "*")};
  CHECK(Text(query, kThreeOClock, kThreeOClock + 10) ==
        "host=y/dc " + std::to_string(kThreeOClock) + ":2");
}

TEST_CASE("with the fuzzy filter, explicit tags with two lists of literals lose combinations") {
  for (bool fuzzy : {true, false}) {
    CAPTURE(fuzzy);
    Options options = EngineFixture::UtcOptions();
    options.fuzzy_filter = fuzzy;
    EngineFixture f(options);
    for (const char* k1 : {"v1", "v2", "v3"}) {
      for (const char* k2 : {"v4", "v5"}) f.Put("m", {{"k1", k1}, {"k2", k2}}, kThreeOClock, 1);
    }
    f.Put("m", {{"k1", "v1"}, {"k2", "v4"}, {"k3", "v6"}}, kThreeOClock, 1);
    SubQuery query = EngineFixture::Ask("none", "m");
    query.explicit_tags = true;
    query.filters = {Filter("literal_or", "k1", "v1|v2|v3"), Filter("literal_or", "k2", "v4|v5")};
    CHECK(f.Run(query, kThreeOClock, kThreeOClock + 10)->groups.size() == (fuzzy ? 4 : 6));
  }
}

TEST_CASE_FIXTURE(EngineFixture, "unknown names fail, and known names without data do not") {
  Put("m", {{"host", "a"}}, kThreeOClock, 1);
  Id(UidKind::kMetric, "empty");
  CHECK(Text(Ask("sum", "empty"), kThreeOClock, kThreeOClock + 10) == "");
  CHECK(Run(Ask("sum", "nope"), kThreeOClock, kThreeOClock + 10).status().message() ==
        "No such name for 'metrics': 'nope'");
  SubQuery query = Ask("sum", "m");
  query.filters = {Filter("literal_or", "host", "nope")};
  CHECK(Run(query, kThreeOClock, kThreeOClock + 10).status().code() == StatusCode::kNotFound);
  query.filters = {Filter("regexp", "nokey", ".*")};
  CHECK(Run(query, kThreeOClock, kThreeOClock + 10).status().code() == StatusCode::kNotFound);
}

TEST_CASE("unknown tag values are ignored with skip_unresolved_tagvs") {
  Options options = EngineFixture::UtcOptions();
  options.skip_unresolved_tagvs = true;
  EngineFixture f(options);
  f.Put("m", {{"host", "a"}}, kThreeOClock, 1);
  SubQuery query = EngineFixture::Ask("sum", "m");
  query.filters = {Filter("literal_or", "host", "nope|a")};
  CHECK(f.Run(query, kThreeOClock, kThreeOClock + 10)->groups.size() == 1);
  query.filters = {Filter("literal_or", "host", "nope")};
  CHECK(f.Run(query, kThreeOClock, kThreeOClock + 10)->groups.empty());
}

TEST_CASE("the limit of cells is checked between batches") {
  Options options = EngineFixture::UtcOptions();
  options.cells_max = 3;
  options.cells_override_allowed = true;
  options.batch_rows = 1;
  EngineFixture f(options);
  for (int64_t t = 0; t < 5; ++t) f.Put("m", {{"host", "a"}}, kThreeOClock + t, t);
  SubQuery query = EngineFixture::Ask("sum", "m");
  CHECK(f.Run(query, kThreeOClock, kThreeOClock + 10).ok());  // a single batch is never refused
  f.Put("m", {{"host", "a"}}, kThreeOClock + 3600, 5);
  CHECK(f.Run(query, kThreeOClock, kThreeOClock + 3700).status().code() ==
        StatusCode::kLimitExceeded);
}

TEST_CASE_FIXTURE(EngineFixture, "deleting removes whole hours of the matching series") {
  Put("m", {{"host", "a"}}, kThreeOClock + 10, 1);
  Put("m", {{"host", "a"}}, kThreeOClock + 3000, 2);
  Put("m", {{"host", "a"}}, kThreeOClock + 3700, 3);
  Put("m", {{"host", "b"}}, kThreeOClock + 10, 4);
  SubQuery query = Ask("sum", "m");
  query.filters = {Filter("regexp", "host", "^a$")};
  Result<Answer> deleted = Run(query, kThreeOClock, kThreeOClock + 100, true, true);
  CHECK(query::Text(deleted->groups[0].points) == std::to_string(kThreeOClock + 10) + ":1");
  CHECK(Text(Ask("none", "m"), kThreeOClock, kThreeOClock + 4000) ==
        "host=a " + std::to_string(kThreeOClock + 3700) + ":3 | host=b " +
            std::to_string(kThreeOClock + 10) + ":4");
}

TEST_CASE_FIXTURE(EngineFixture, "a query ends if its client has gone") {
  Put("m", {{"host", "a"}}, kThreeOClock, 1);
  Request request;
  request.start = std::to_string(kThreeOClock);
  request.queries = {Ask("sum", "m")};
  RequestClient client;
  client.gone = [] { return true; };
  auto running = engine.running().Begin("GET /api/query", std::move(client));
  CHECK(
      engine.Run(*engine.Validate(request, RequestContext::Unlimited()), {.request = running.get()})
          .status()
          .code() == StatusCode::kDeadlineExceeded);
}

TEST_CASE_FIXTURE(EngineFixture, "TSUIDs form one group and must have the same metric") {
  Put("m", {{"host", "a"}}, kThreeOClock, 1);
  Put("m", {{"host", "b"}}, kThreeOClock, 2);
  Put("m", {{"host", "b"}, {"dc", "x"}}, kThreeOClock, 4);
  SubQuery query;
  query.aggregator = "sum";
  query.tsuids = {"000001000001000001", "000001000001000002"};
  CHECK(Text(query, kThreeOClock, kThreeOClock + 10) ==
        "/host " + std::to_string(kThreeOClock) + ":3");
  query.tsuids = {"000001000001000001", "000002000001000001"};
  CHECK(Run(query, kThreeOClock, kThreeOClock + 10).status().code() == StatusCode::kUnsupported);
  query.tsuids = {"0001"};
  CHECK(Run(query, kThreeOClock, kThreeOClock + 10).status().code() == StatusCode::kUnsupported);
  query.tsuids = {"00000100000100000g"};
  CHECK(Run(query, kThreeOClock, kThreeOClock + 10).status().code() ==
        StatusCode::kInvalidArgument);
}

TEST_CASE_FIXTURE(EngineFixture,
                  "filters of TSUID queries compare names, so unknown names are no error") {
  Put("m", {{"host", "a"}}, kThreeOClock, 1);
  Put("m", {{"host", "b"}}, kThreeOClock, 2);
  SubQuery query;
  query.aggregator = "sum";
  query.tsuids = {"000001000001000001", "000001000001000002"};
  auto sum = [&](const char* type, const char* key, const char* text) {
    query.filters = {{type, key, text}};
    std::string found = Text(query, kThreeOClock, kThreeOClock + 10);
    return found.substr(found.rfind(':') + 1);
  };
  CHECK(sum("literal_or", "host", "a||nope") == "1");
  CHECK(sum("literal_or", "host", "nope") == "");
  CHECK(sum("literal_or", "dc", "a") == "");
  CHECK(sum("not_literal_or", "dc", "a") == "3");
  CHECK(sum("wildcard", "dc", "*") == "3");
  query.filters = {{"literal_or", "host", "a"}};
  CHECK(Run(query, kThreeOClock, kThreeOClock + 10)->queries[0].filter_keys.empty());
}

TEST_CASE_FIXTURE(EngineFixture, "repeated sub-queries are evaluated once") {
  Put("m", {{"host", "a"}}, kThreeOClock, 1);
  Request request;
  request.start = std::to_string(kThreeOClock);
  request.queries = {Ask("sum", "m"), Ask("max", "m"), Ask("sum", "m")};
  CHECK(engine.Run(*engine.Validate(request, RequestContext::Unlimited()), {})->groups.size() == 2);
}

/// A clock on which each call takes 3 ms, so every step looks like long work.
class LeapingClock : public Clock {
 public:
  [[nodiscard]] int64_t NowMs() const override { return 1'500'010'000'000; }
  [[nodiscard]] int64_t MonotonicNs() const override { return now_ns_ += 3'000'000; }

 private:
  mutable std::atomic<int64_t> now_ns_{0};
};

TEST_CASE_FIXTURE(EngineFixture,
                  "concurrent sub-queries return results in the order of the request") {
  Request request;
  request.start = std::to_string(kThreeOClock);
  for (int i = 0; i < 20; ++i) {
    Put("m" + std::to_string(i), {{"host", "a"}}, kThreeOClock, i);
    request.queries.push_back(Ask("sum", "m" + std::to_string(i)));
  }
  LeapingClock leaping;
  Engine busy(points, names, store, leaping, UtcOptions());
  RequestClient client;
  client.gone = [] { return false; };
  auto running = busy.running().Begin("GET /api/query", std::move(client));
  const RunOptions run{.request = running.get()};
  Answer answer = *busy.Run(*busy.Validate(request, RequestContext::Unlimited()), run);
  REQUIRE(answer.groups.size() == 20);
  for (size_t i = 0; i < 20; ++i) {
    CHECK(answer.groups[i].query_index == i);
    CHECK(answer.groups[i].points.bits[0] == i);
  }
  request.queries[13].metric = "nope";
  CHECK(busy.Run(*busy.Validate(request, RequestContext::Unlimited()), run).status().code() ==
        StatusCode::kNotFound);
}

TEST_CASE_FIXTURE(EngineFixture, "a sub-query sees what another one of its request deletes") {
  Put("m", {{"host", "a"}}, kThreeOClock, 1);
  Request request;
  request.start = std::to_string(kThreeOClock);
  request.queries = {Ask("sum", "m"), Ask("max", "m"), Ask("sum", "nope")};
  request.delete_rows = true;
  CHECK_FALSE(engine.Run(*engine.Validate(request, RequestContext::Unlimited()), {}).ok());
  request.queries.pop_back();
  CHECK(engine.Run(*engine.Validate(request, RequestContext::Unlimited()), {})->groups.size() == 2);
  CHECK(engine.Run(*engine.Validate(request, RequestContext::Unlimited()), {})->groups.empty());
}

TEST_CASE_FIXTURE(EngineFixture, "a query whose result cannot be transformed deletes nothing") {
  Put("m", {{"host", "a"}}, kThreeOClock, 1);
  Request request;
  request.start = std::to_string(kThreeOClock);
  request.queries = {Ask("sum", "m")};
  request.delete_rows = true;
  const ValidQuery query = *engine.Validate(request, RequestContext::Unlimited());
  RunOptions run;
  run.transform = [](Answer*) { return Status::InvalidArgument("no"); };
  CHECK(engine.Run(query, run).status().message() == "no");
  run.transform = [](Answer* answer) {
    CHECK(answer->groups.size() == 1);
    answer->groups.clear();
    return Status();
  };
  CHECK(engine.Run(query, run)->groups.empty());
  CHECK(engine.Run(query, {})->groups.empty());  // the rows were deleted
}

// The base times of rows have 32 bits, and the scan of a query truncates its range to them.
TEST_CASE_FIXTURE(EngineFixture,
                  "a delete of times after the year 2106 deletes no earlier points") {
  constexpr int64_t kWrap = INT64_C(1) << 32;
  for (const int64_t second : {0, 3600, 7200}) Put("m", {{"host", "a"}}, kThreeOClock + second, 1);
  const auto shown = [this] {
    Request request;
    request.start = std::to_string(kThreeOClock - 3600);
    request.end = std::to_string(kThreeOClock + 14'400);
    request.queries = {Ask("sum", "m")};
    const auto answer =
        engine.Run(*engine.Validate(request, RequestContext::Unlimited()), RunOptions());
    return answer->groups.empty() ? 0 : answer->groups[0].points.size();
  };
  REQUIRE(shown() == 3);
  const auto remove = [this](int64_t begin, int64_t end, const char* downsample) {
    Request request;
    request.start = std::to_string(begin);
    request.end = std::to_string(end);
    request.queries = {Ask("sum", "m")};
    if (*downsample != '\0') request.queries[0].downsample = downsample;
    request.delete_rows = true;
    CHECK(engine.Run(*engine.Validate(request, RequestContext::Unlimited()), {}).ok());
  };
  for (const char* downsample : {"", "1y-sum", "150y-sum", "5000000y-sum"}) {
    CAPTURE(downsample);
    for (const int64_t begin : {kThreeOClock + kWrap - 3600, kWrap}) {
      remove(begin, kThreeOClock + kWrap + 14'400, downsample);
      CHECK(shown() == 3);
    }
  }
  remove(kThreeOClock + 3600, kThreeOClock + 3700, "5000000y-sum");
  CHECK(shown() == 2);  // only the hour of the request
}

TEST_CASE_FIXTURE(EngineFixture, "invalid requests are refused") {
  Request good;
  good.start = "1h-ago";
  good.queries = {Ask("sum", "m")};
  REQUIRE(engine.Validate(good, RequestContext::Unlimited()).ok());
  auto code = [&](auto change) {
    Request request = good;
    change(&request);
    return engine.Validate(request, RequestContext::Unlimited()).status().code();
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
                  "a failed sub-query can leave its failure in the result of the others") {
  Put("m", {{"host", "a"}}, kThreeOClock, PointValue::Double(1.7e308));
  Put("m", {{"host", "b"}}, kThreeOClock, PointValue::Double(1.7e308));
  Request request;
  request.start = std::to_string(kThreeOClock);
  request.queries = {Ask("max", "m"), Ask("sum", "m")};
  const ValidQuery query = *engine.Validate(request, RequestContext::Unlimited());
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

TEST_CASE_FIXTURE(EngineFixture,
                  "histograms accept only the aggregator sum, not others that add values") {
  Request request;
  request.start = "1h-ago";
  request.queries = {Ask("sum", "m")};
  request.queries[0].percentiles = {{50}};
  auto valid = [&](const char* aggregator, const char* downsample) {
    request.queries[0].aggregator = aggregator;
    request.queries[0].downsample = downsample;
    return engine.Validate(request, RequestContext::Unlimited()).ok();
  };
  CHECK(valid("sum", "1m-sum"));
  CHECK(valid("none", "1m-sum"));
  CHECK_FALSE(valid("zimsum", "1m-sum"));
  CHECK_FALSE(valid("pfsum", "1m-sum"));
  CHECK_FALSE(valid("sum", "1m-zimsum"));
}

// OpenTSDB reads milliseconds below 2^32 as seconds. It does so with the times of a query, and when
// it adds a series to a group.
TEST_CASE_FIXTURE(
    EngineFixture,
    "a range may end before series of early 1970 begin, because their times are misread") {
  Put("m", {{"host", "a"}}, 4'000'000, 1);
  CHECK(Text(Ask("sum", "m"), 1000, 4200) == "host=a ");
  CHECK(Text(Ask("sum", "m"), 1000, 5000) == " ");
}

TEST_CASE_FIXTURE(EngineFixture,
                  "a sub-query with an empty list of filters differs from one without a list") {
  Put("m", {{"host", "a"}}, kThreeOClock, 1);
  Request request;
  request.start = std::to_string(kThreeOClock);
  request.end = std::to_string(kThreeOClock + 60);
  request.queries = {Ask("sum", "m"), Ask("sum", "m")};
  CHECK(engine.Run(*engine.Validate(request, RequestContext::Unlimited()), {})->groups.size() == 1);
  request.queries[1].filters_given = true;
  CHECK(engine.Run(*engine.Validate(request, RequestContext::Unlimited()), {})->groups.size() == 2);
}

struct SaltedFixture : EngineFixture {
  SaltedFixture() : EngineFixture(UtcOptions(), {.salt_width = 1, .salt_buckets = 4}) {}
};

TEST_CASE_FIXTURE(SaltedFixture,
                  "salted histograms of hours with different last bytes are separate series") {
  // 1500001200 ends in the byte B0, and so does the time 57600 s later. The time 3600 s later ends
  // in C0.
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

TEST_CASE_FIXTURE(EngineFixture,
                  "a fill policy does not fill histograms, however many buckets the range has") {
  PutHistogram("h", {{"host", "a"}}, 1500001201, 1);
  SubQuery query = Ask("sum", "h");
  query.show_histogram_buckets = true;
  query.downsample = "1s-sum-nan";
  CHECK(Run(query, 1300000000, 1500100000).ok());
}

TEST_CASE_FIXTURE(
    EngineFixture,
    "with explicit tags, histograms of the hour after the range make a group without a metric") {
  PutHistogram("h", {{"host", "a"}}, 1500004801, 1);
  Put("h", {{"host", "a"}}, 1500001201, 1);
  SubQuery query = Ask("sum", "h");
  query.percentiles = {{50}};
  query.filters = {Filter("wildcard", "host", "*", true)};
  CHECK(Run(query, 1500001200, 1500002000)->groups.empty());
  query.explicit_tags = true;  // the fuzzy row filter reads one more hour
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
