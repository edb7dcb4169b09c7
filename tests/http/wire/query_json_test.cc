#include "http/wire/query_json.h"

#include <doctest/doctest.h>

#include <string>

#include "http/wire/query_dump.h"

namespace hg::http {
namespace {

Result<query::Request> Read(std::string_view text) {
  Result<JsonValue> body = ParseJson(text, nullptr);
  REQUIRE(body.ok());
  return ReadQuery(*body);
}
/// The one sub-query of a body. The argument is the text between its braces.
Result<query::Request> ReadSub(const std::string& members) {
  return Read(R"({"start":"1h-ago","queries":[{"aggregator":"sum","metric":"m",)" + members +
              "}]}");
}

TEST_CASE("numbers and texts are interchangeable, and unknown keys are skipped") {
  query::Request request =
      *Read(R"({"start":1500000000,"end":"now","msResolution":"true","showQuery":1,"zz":{},
                                     "queries":[{"aggregator":"sum","metric":"m","rate":"false","foo":[]}]} trailing)");
  CHECK(request.start == "1500000000");
  CHECK(*request.end == "now");
  CHECK(request.ms_resolution);
  CHECK(request.show_query);
  CHECK_FALSE(request.queries[0].rate);
}

TEST_CASE("of tags and filters the later member counts") {
  query::SubQuery sub =
      ReadSub(R"("filters":[{"type":"regexp","tagk":"host","filter":"a"}],"tags":{"dc":"x|y"})")
          ->queries[0];
  REQUIRE(sub.filters.size() == 1);
  CHECK(sub.filters[0] == query::FilterSpec{"literal_or", "dc", "x|y", true, false});
  sub =
      ReadSub(
          R"("tags":{"dc":"x"},"filters":[{"type":"regexp","tagk":"host","filter":"a","group_by":true}])")
          ->queries[0];
  REQUIRE(sub.filters.size() == 1);
  CHECK(sub.filters[0] == query::FilterSpec{"regexp", "host", "a", true, false});
}

TEST_CASE("of very many tags the last of each name counts, found in one pass") {
  std::string tags = R"("tags":{"first":"x")";
  for (int i = 0; i < 300000; ++i) tags += ",\"k" + std::to_string(i) + R"(":"v")";
  const auto request = ReadSub(tags + R"(,"first":"y"})");
  REQUIRE(request.ok());
  const std::vector<query::FilterSpec>& filters = request->queries[0].filters;
  REQUIRE(filters.size() == 300001);
  CHECK(filters[0].tagk == "k0");
  CHECK(filters.back() == query::FilterSpec{"literal_or", "first", "y", true, false});
}

TEST_CASE("too many sub-queries are refused") {
  const auto read = [](size_t count) {
    std::string queries = R"({"start":"1h-ago","queries":[{})";
    for (size_t i = 1; i < count; ++i) queries += ",{}";
    return Read(queries + "]}");
  };
  CHECK(read(kSubQueriesMax)->queries.size() == kSubQueriesMax);
  const Status refused = read(kSubQueriesMax + 1).status();
  CHECK(refused.code() == StatusCode::kLimitExceeded);
  CHECK(refused.message() == "The request has 4097 sub-queries, more than 4096");
}

TEST_CASE("too many sub-queries for last points are refused") {
  std::string queries = "{}";
  for (size_t i = 0; i < kSubQueriesMax; ++i) queries += ",{}";
  const auto read = ReadLastPointQuery(*ParseJson("{\"queries\":[" + queries + "]}", nullptr));
  CHECK(read.status().message() == "The request has 4097 sub-queries, more than 4096");
}

TEST_CASE("the description of a refused query is short, however long its texts and lists are") {
  query::Request request;
  request.start = std::string(1 << 20, 's');
  for (size_t i = 0; i < 4000; ++i) {
    query::SubQuery& sub = request.queries.emplace_back();
    sub.metric = std::string(100'000, 'm');
    const std::string text(1000, 'v');
    sub.tsuids.emplace();
    for (int j = 0; j < 100; ++j) {
      sub.tsuids->push_back(text);
      sub.filters.push_back({"literal_or", text, text, false, false});
    }
    sub.percentiles.emplace(10'000, 99.5);
  }
  CHECK(QueryDump(request, {}).size() < 100'000);
}

TEST_CASE("rate options refuse unknown keys and truncate fractions") {
  query::SubQuery sub =
      ReadSub(R"("rate":true,"rateOptions":{"counter":true,"counterMax":65535.9,"resetValue":5})")
          ->queries[0];
  CHECK(*sub.rate_options == query::RateOptions{true, 65535, 5, false});
  CHECK_FALSE(ReadSub(R"("rateOptions":{"counter":true,"max":1})").ok());
  CHECK(ReadSub(R"("rateOptions":{"counterMax":null})")->queries[0].rate_options->counter_max == 0);
}

TEST_CASE("a value filter is kept as written") {
  CHECK(*ReadSub(R"("valueFilter":" >= 90")")->queries[0].value_filter == " >= 90");
  CHECK_FALSE(ReadSub(R"("valueFilter":null)")->queries[0].value_filter.has_value());
  CHECK_FALSE(ReadSub(R"("valueFilter":[])").ok());
}

TEST_CASE("documents with the wrong structure are refused") {
  const char* const bad[] = {
      R"~("filters":[{"type":"nope","tagk":"a","filter":"b"}])~",
      R"~("filters":[{"tagk":"a","filter":"b"}])~",
      R"~("filters":[{"type":"regexp","tagk":"a","filter":"("}])~",
      R"~("filters":[{"type":"literal_or","tagk":"a"}])~",
      R"~("filters":{})~",
      R"~("index":"x")~",
      R"~("tags":{"a":""})~",
      R"~("tags":null)~",
      R"~("tags":{"a":"bad(x)"})~",
      R"~("rate":"perhaps")~",
      R"~("tsuids":"x")~",
  };
  for (const char* members : bad) {
    CAPTURE(std::string(members));
    CHECK(ReadSub(members).status().code() == StatusCode::kInvalidArgument);
  }
  CHECK_FALSE(Read("[]").ok());
  CHECK_FALSE(Read(R"({"start":"1h-ago","queries":[null]})").ok());
  CHECK_FALSE(Read(R"({"start":"1h-ago","queries":[],"options":[]})").ok());
  CHECK(Read(R"({"start":"1h-ago"})").status().code() == StatusCode::kUnsupported);
  CHECK(Read("{}").status().code() == StatusCode::kUnsupported);
  CHECK(ReadSub(R"("filters":[null])").status().code() == StatusCode::kUnsupported);
  CHECK(Read(R"({"start":"1h-ago","queries":[]})")->queries.empty());
}

TEST_CASE("last-point bodies refuse unknown keys") {
  auto read = [](std::string_view text) { return ReadLastPointQuery(*ParseJson(text, nullptr)); };
  query::LastPointQuery query = *read(
      R"({"queries":[{"metric":"m","tags":{"host":"a"}},{"tsuids":["01"]}],"resolveNames":"true","backScan":"3"})");
  CHECK(query.queries.size() == 2);
  CHECK(query.resolve_names);
  CHECK(query.back_scan_hours == 3);
  CHECK(read("{}")->queries.empty());
  CHECK_FALSE(read(R"({"queries":[],"zz":1})").ok());
  CHECK_FALSE(read(R"({"queries":[{"metric":"m","zz":1}]})").ok());
  CHECK_FALSE(read(R"({"queries":[],"backScan":"x"})").ok());
}

}  // namespace
}  // namespace hg::http
