#include "tsd/tools/query_words.h"

#include <doctest/doctest.h>

namespace hg::tsd {
namespace {

constexpr int64_t kNowMs = 1'700'000'000'000;

Result<WordQueries> ParseWords(const std::vector<std::string>& words) {
  return ParseQueryWords(words, kNowMs, query::TimeZone());
}

TEST_CASE("times are truncated to seconds, and the end may be missing") {
  const auto queries = ParseWords({"1699999200500", "sum", "m"});
  REQUIRE(queries.ok());
  CHECK(queries->start_s == 1699999200);
  CHECK_FALSE(queries->end_s);
  CHECK(ParseWords({"1h-ago", "sum", "m"})->start_s == 1'700'000'000 - 3600);
}

TEST_CASE("the second of more than three words is the end time if it looks like a time") {
  CHECK(*ParseWords({"1", "2", "sum", "m"})->end_s == 2);
  CHECK(*ParseWords({"1", "2023/11/14-22:00", "sum", "m"})->end_s == 1699999200);
  CHECK(*ParseWords({"1", "1m-ago", "sum", "m"})->end_s == 1'700'000'000 - 60);
  CHECK_FALSE(ParseWords({"1", "sum", "m", "host=a"})->end_s);
  CHECK_FALSE(ParseWords({"1", "2", "sum"}).ok());
}

TEST_CASE("an end must be after the start, in seconds") {
  CHECK_FALSE(ParseWords({"2", "1", "sum", "m"}).ok());
  CHECK_FALSE(ParseWords({"2", "2", "sum", "m"}).ok());
  CHECK_FALSE(ParseWords({"1699999200", "1699999200999", "sum", "m"}).ok());
  CHECK(ParseWords({"1699999200", "1699999201000", "sum", "m"}).ok());
}

TEST_CASE("plot options after the times are skipped") {
  const auto queries = ParseWords({"1", "+wxh=1x1", "+nokey", "sum", "m"});
  REQUIRE(queries.ok());
  CHECK(queries->queries.at(0).metric == "m");
}

TEST_CASE(
    "a query is an aggregator, rate, downsampling, a metric and tags; several follow each other") {
  const auto queries = ParseWords({"1", "2", "sum", "rate", "counter,10,", "downsample", "600",
                                   "max", "m", "a=1", "b=*", "avg", "rate", "n"});
  REQUIRE(queries.ok());
  REQUIRE(queries->queries.size() == 2);
  const WordQuery& first = queries->queries[0];
  CHECK(first.aggregator == "sum");
  CHECK(first.rate_options->counter);
  CHECK(first.rate_options->counter_max == 10);
  CHECK(first.rate_options->reset_value == 0);
  CHECK(first.downsample == "600ms-max");
  CHECK(first.tags == std::vector<std::pair<std::string, std::string>>{{"a", "1"}, {"b", "*"}});
  CHECK(queries->queries[1].rate);
  CHECK_FALSE(queries->queries[1].rate_options);
  CHECK(queries->queries[1].metric == "n");
}

TEST_CASE("invalid queries are refused") {
  for (const std::vector<std::string>& words :
       std::vector<std::vector<std::string>>{{"notadate", "sum", "m"},
                                             {"1", "nosuch", "m"},
                                             {"1", "sum", "rate"},
                                             {"1", "sum", "rate", "counter,x", "m"},
                                             {"1", "sum", "downsample", "x", "sum", "m"},
                                             {"1", "sum", "downsample", "0", "sum", "m"},
                                             {"1", "sum", "downsample", "60", "nosuch", "m"},
                                             {"1", "sum", "m", "a=1", "a=2"},
                                             {"1", "sum", "m", "a="},
                                             {"1", "sum", "m", "avg"}}) {
    CAPTURE(words.back());
    CHECK(ParseWords(words).status().code() == StatusCode::kInvalidArgument);
  }
}

}  // namespace
}  // namespace hg::tsd
