#include "query/last_point.h"

#include "tests/query/engine_fixture.h"
#include "tests/support/fake_watch.h"

namespace hg::query {
namespace {

// The fixture's clock stands at 1500010000, in the hour of 1500008400.
constexpr int64_t kThisHour = 1'500'008'400;

LastPointQuery OfTsuid(const char* tsuid, int64_t hours) {
  LastPointQuery query;
  query.queries.resize(1);
  query.queries[0].tsuids = {tsuid};
  query.back_scan_hours = hours;
  return query;
}

TEST_CASE_FIXTURE(EngineFixture, "the newest hour with points is used, as far back as requested") {
  Put("m", {{"host", "a"}}, kThisHour - 7200 + 5, 1);
  Put("m", {{"host", "a"}}, kThisHour - 7200 + 9, 2);
  Put("m", {{"host", "a"}}, kThisHour + 3600, 3);  // a future hour is not searched
  CHECK(engine.Last(OfTsuid("000001000001000001", 0), nullptr)->empty());
  CHECK(engine.Last(OfTsuid("000001000001000001", 1), nullptr)->empty());
  std::vector<LastPoint> found = *engine.Last(OfTsuid("000001000001000001", 2), nullptr);
  REQUIRE(found.size() == 1);
  CHECK(found[0].time_ms == (kThisHour - 7200 + 9) * 1000);
  CHECK(found[0].bits == 2);
  CHECK(found[0].names == nullptr);
}

TEST_CASE_FIXTURE(EngineFixture,
                  "a query by metric must give all tags, and names are returned on request") {
  Put("m", {{"host", "a"}, {"dc", "x"}}, kThisHour, PointValue::Double(1.5));
  LastPointQuery query;
  query.queries.resize(1);
  query.queries[0].metric = "m";
  query.resolve_names = true;
  query.back_scan_hours = 1;
  CHECK(engine.Last(query, nullptr).status().code() == StatusCode::kInvalidArgument);
  query.queries[0].tags = {{"dc", "x"}};
  CHECK(engine.Last(query, nullptr)->empty());
  query.queries[0].tags = {{"dc", "x"}, {"host", "a"}};
  std::vector<LastPoint> found = *engine.Last(query, nullptr);
  REQUIRE(found.size() == 1);
  CHECK(found[0].is_double);
  CHECK(found[0].names->metric == "m");
  CHECK(found[0].names->tags.size() == 2);
  query.queries[0].tags = {{"dc", "*"}};
  CHECK(engine.Last(query, nullptr).status().code() == StatusCode::kNotFound);
}

TEST_CASE_FIXTURE(EngineFixture, "a TSUID that is given twice gets two results") {
  Put("m", {{"host", "a"}}, kThisHour, 7);
  LastPointQuery query = OfTsuid("000001000001000001", 0);
  query.queries[0].tsuids.push_back("000001000001000001");
  CHECK(engine.Last(query, nullptr)->size() == 2);
}

TEST_CASE_FIXTURE(EngineFixture, "results for repeats of a TSUID share the names of the series") {
  constexpr size_t kRepeats = 1000;
  const std::string value(30'000, 'a');
  Put("m", {{"host", value}}, kThisHour, 7);
  LastPointQuery query = OfTsuid("000001000001000001", 0);
  query.queries[0].tsuids.resize(kRepeats, query.queries[0].tsuids[0]);
  query.resolve_names = true;
  FakeWatch watch;
  const auto found = engine.Last(query, &watch);
  REQUIRE(found->size() == kRepeats);
  CHECK(found->front().names->tags[0].second == value);
  CHECK(found->front().names == found->back().names);
  CHECK(watch.steps >= 2 * kRepeats);
}

TEST_CASE_FIXTURE(EngineFixture,
                  "series of several metrics are found in the order of the request") {
  LastPointQuery query;
  query.queries.resize(1);
  std::vector<Bytes> tsuids;
  for (int64_t i = 0; i < 600; ++i) {
    const std::string metric = "m" + std::to_string(i % 4);
    const Tags tags = {{"host", std::to_string(i)}};
    if (i % 7 != 0) Put(metric, tags, kThisHour + i, i);
    const Bytes tsuid = TsuidOf(metric, tags);
    query.queries[0].tsuids.push_back(ToHexUpper(tsuid));
    if (i % 7 != 0) tsuids.push_back(tsuid);
  }
  const auto found = engine.Last(query, nullptr);
  REQUIRE(found.ok());
  REQUIRE(found->size() == tsuids.size());
  for (size_t i = 0; i < tsuids.size(); ++i) {
    CHECK((*found)[i].tsuid == tsuids[i]);
    CHECK((*found)[i].time_ms == (kThisHour + static_cast<int64_t>((*found)[i].bits)) * 1000);
  }
}

TEST_CASE_FIXTURE(EngineFixture, "very many sub-queries that find nothing report their work") {
  Put("m", {{"host", "a"}}, kThisHour, 1);
  LastPointQuery query;
  query.queries.resize(1000);
  for (LastPointSubQuery& sub : query.queries) sub.metric = "m";
  FakeWatch watch;
  CHECK(engine.Last(query, &watch)->empty());
  CHECK(watch.steps >= query.queries.size());
  watch.steps_max = watch.steps + 10;
  CHECK(engine.Last(query, &watch).status().code() == StatusCode::kDeadlineExceeded);
}

TEST_CASE_FIXTURE(EngineFixture, "very many small sub-queries need little memory") {
  Put("m", {{"host", "a"}}, kThisHour, 1);
  LastPointQuery query = OfTsuid("000001000001000001", 0);
  query.queries.resize(1000, query.queries[0]);
  FakeWatch watch;
  CHECK(engine.Last(query, &watch)->size() == query.queries.size());
  CHECK(watch.bytes_most < 2 << 20);
}

TEST_CASE("with tsuid_tracking the hour of the last point is read from the meta table") {
  Options options = EngineFixture::UtcOptions();
  options.tsuid_tracking = true;
  EngineFixture f(options);
  f.Put("m", {{"host", "a"}}, kThisHour - 36'000, 7);
  f.Put("m", {{"host", "b"}}, kThisHour, 8);
  auto track = [&](const char* tsuid, int64_t seconds) {
    Bytes key;
    REQUIRE(FromHex(tsuid, &key));
    CellChange put = PutCell("name", "ts_ctr", Bytes(7, '\0') + '\1');
    put.timestamp_ms = seconds * 1000;
    REQUIRE(f.store.Mutate("tsdb-meta", {{key, {put}}}).ok());
  };
  CHECK_FALSE(f.engine.Last(OfTsuid("000001000001000001", 0), nullptr).ok());
  track("000001000001000001", kThisHour - 36'000 + 20);
  CHECK(f.engine.Last(OfTsuid("000001000001000001", 0), nullptr)->size() == 1);
  LastPointQuery all;
  all.queries.resize(1);
  all.queries[0].metric = "m";
  CHECK(f.engine.Last(all, nullptr)->size() == 1);
  track("000001000001000002", kThisHour);
  CHECK(f.engine.Last(all, nullptr)->size() == 2);
  all.queries[0].tags = {{"host", "b"}};
  CHECK(f.engine.Last(all, nullptr)->size() == 1);
}

TEST_CASE("the scan of the meta table ends with its request, whatever rows it finds") {
  Options options = EngineFixture::UtcOptions();
  options.tsuid_tracking = true;
  EngineFixture f(options);
  f.Put("m", {{"host", "a"}}, kThisHour, 7);
  f.Put("m", {{"host", "b"}}, kThisHour, 7);
  Bytes key;
  REQUIRE(FromHex("000001000001000001", &key));
  REQUIRE(f.store.Mutate("tsdb-meta", {{key, {PutCell("name", "ts_ctr", Bytes(8, '\1'))}}}).ok());
  LastPointQuery query;
  query.queries.resize(1);
  query.queries[0].metric = "m";
  query.queries[0].tags = {{"host", "b"}};
  FakeWatch watch;
  CHECK(f.engine.Last(query, &watch)->empty());
  watch.bytes_max = 0;
  CHECK(f.engine.Last(query, &watch).status().code() == StatusCode::kLimitExceeded);
}

TEST_CASE("many tags of a request and of a tracked series are compared in time that is reported") {
  Options options = EngineFixture::UtcOptions();
  options.tsuid_tracking = true;
  EngineFixture f(options);
  LastPointQuery query;
  query.queries.resize(1);
  query.queries[0].metric = "m";
  EngineFixture::Tags& tags = query.queries[0].tags;
  for (int i = 0; i < 8; ++i) tags.emplace_back("k" + std::to_string(i), "v");
  f.Put("m", tags, kThisHour, 7);
  Bytes tsuid = {'\0', '\0', '\1'};
  for (char pair = 1; pair <= 8; ++pair)
    for (int part = 0; part < 2; ++part) tsuid += Bytes{'\0', '\0', part == 0 ? pair : '\1'};
  constexpr int kSeries = 400;
  for (int i = 0; i < kSeries; ++i) {
    Bytes key = tsuid;
    key[key.size() - 2] = static_cast<char>(i / 100);
    key[key.size() - 1] = static_cast<char>(i % 100 + 1);
    REQUIRE(f.store.Mutate("tsdb-meta", {{key, {PutCell("name", "ts_ctr", Bytes(8, '\1'))}}}).ok());
  }
  FakeWatch all, one;
  CHECK(f.engine.Last(query, &all).ok());
  tags.resize(1);
  CHECK(f.engine.Last(query, &one).ok());
  CHECK(all.steps - one.steps >= kSeries * 7 * 8);
}

}  // namespace
}  // namespace hg::query
