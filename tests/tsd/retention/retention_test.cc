#include "tsd/retention/retention.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <new>

#include "tests/query/engine_fixture.h"

namespace hg::tsd {
namespace {

using query::EngineFixture;

constexpr int64_t kDay = 86'400;
// The time of the fixture's clock: 1,600 s after the start of an hour.
constexpr int64_t kNow = 1'500'010'000;

class RetentionFixture : public EngineFixture {
 public:
  Status Round(const std::string& rules) {
    Result<std::vector<RetentionRule>> read = ParseRetentionRules(rules);
    REQUIRE(read.ok());
    Retention retention(points, names, clock, {std::move(*read), 3600, UtcOptions()});
    return retention.Round();
  }
  /// Returns the times of the points of a metric, in seconds before now.
  std::string Ages(const std::string& metric) {
    const Result<query::Answer> answer = Run(Ask("none", metric), 1, kNow);
    if (!answer.ok()) return answer.status().ToString();
    std::string out;
    for (const query::Group& group : answer->groups) {
      out += out.empty() ? "" : "|";
      out += group.tags[0].second;
      for (size_t i = 0; i < group.points.size(); ++i)
        out += " " + std::to_string(kNow - group.points.time_ms[i] / 1000);
    }
    return out;
  }
};

TEST_CASE_FIXTURE(RetentionFixture, "whole hours older than the rule are deleted") {
  Put("m", {{"host", "a"}}, kNow - 3 * kDay, 1);
  // This point is in the hour before the first hour that remains.
  Put("m", {{"host", "a"}}, kNow - kDay - 3000, 2);
  Put("m", {{"host", "a"}}, kNow - kDay - 60, 3);
  Put("m", {{"host", "a"}}, kNow - kDay + 60, 4);
  CHECK(Round(R"([{"metric":"m","keep":"1d"}])").ok());
  CHECK(Ages("m") == "a 86460 86340");
}

TEST_CASE_FIXTURE(RetentionFixture,
                  "a rule applies to its metric or to all metrics with its prefix") {
  for (const char* metric : {"sys.cpu", "sys.disk", "system", "app"})
    Put(metric, {{"host", "a"}}, kNow - 2 * kDay, 1);
  CHECK(Round(R"([{"metric":"sys.cpu","keep":"1d"}])").ok());
  CHECK(Ages("sys.cpu") == "");
  CHECK(Ages("sys.disk") == "a 172800");
  CHECK(Round(R"([{"metric":"sys.*","keep":"1d"}])").ok());
  CHECK(Ages("sys.disk") == "");
  CHECK(Ages("system") == "a 172800");
  CHECK(Round(R"([{"metric":"*","keep":"1d"}])").ok());
  CHECK(Ages("system") == "");
  CHECK(Ages("app") == "");
}

TEST_CASE_FIXTURE(RetentionFixture,
                  "a rule with a prefix also applies to names with letters beyond Latin-1") {
  for (const char* metric : {"sys.cpu", "sys.温度"})
    Put(metric, {{"host", "a"}}, kNow - 2 * kDay, 1);
  CHECK(Round(R"([{"metric":"sys.*","keep":"1d"}])").ok());
  CHECK(Ages("sys.cpu") == "");
  CHECK(Ages("sys.温度") == "");
}

TEST_CASE_FIXTURE(RetentionFixture, "a rule with a star applies to names beyond ISO-8859-1") {
  for (const char* metric : {"温度", "sys"}) Put(metric, {{"host", "a"}}, kNow - 2 * kDay, 1);
  CHECK(Round(R"([{"metric":"*","keep":"1d"}])").ok());
  CHECK(Ages("温度") == "");
  CHECK(Ages("sys") == "");
}

TEST_CASE_FIXTURE(
    RetentionFixture,
    "a rule with a star applies to no metric that this process knows by another name") {
  Put("sys.a", {{"host", "a"}}, kNow - 2 * kDay, 1);
  uid::Names other(store, {});
  REQUIRE(other.Rename(UidKind::kMetric, "sys.a", "app.a").ok());
  (void)Round(R"([{"metric":"app.*","keep":"1d"}])");
  CHECK(Ages("sys.a") == "a 172800");
}

TEST_CASE_FIXTURE(RetentionFixture, "tags select series, by names and by patterns") {
  for (const char* host : {"web1", "web2", "db"}) Put("m", {{"host", host}}, kNow - 2 * kDay, 1);
  CHECK(Round(R"([{"metric":"m","tags":{"host":"web2"},"keep":"1d"}])").ok());
  CHECK(Ages("m") == "web1 172800|db 172800");
  CHECK(Round(R"([{"metric":"m","tags":{"host":"web*"},"keep":"1d"}])").ok());
  CHECK(Ages("m") == "db 172800");
  CHECK(Round(R"r([{"metric":"m","tags":{"host":"regexp(x.*)"},"keep":"1d"}])r").ok());
  CHECK(Ages("m") == "db 172800");
}

TEST_CASE_FIXTURE(
    RetentionFixture,
    "if several retention rules apply, the one with the shortest time counts, in any order") {
  Put("m", {{"host", "a"}}, kNow - 2 * kDay, 1);
  Put("m", {{"host", "b"}}, kNow - 2 * kDay, 1);
  CHECK(
      Round(R"([{"metric":"m","tags":{"host":"a"},"keep":"1d"},{"metric":"m","keep":"3d"}])").ok());
  CHECK(Ages("m") == "b 172800");
}

TEST_CASE_FIXTURE(RetentionFixture, "retention rules with unknown names delete nothing") {
  Put("m", {{"host", "a"}}, kNow - 2 * kDay, 1);
  CHECK(Round(R"([{"metric":"n","keep":"1d"},{"metric":"m","tags":{"host":"x"},"keep":"1d"},
                  {"metric":"m","tags":{"owner":"*"},"keep":"1d"}])")
            .ok());
  CHECK(Ages("m") == "a 172800");
}

TEST_CASE_FIXTURE(RetentionFixture, "an unknown name does not affect the other names of its rule") {
  for (const char* host : {"a", "b"}) Put("m", {{"host", host}}, kNow - 2 * kDay, 1);
  CHECK(Round(R"([{"metric":"m","tags":{"host":"a|nobody"},"keep":"1d"}])").ok());
  CHECK(Ages("m") == "b 172800");
}

TEST_CASE_FIXTURE(RetentionFixture, "a rule with tags selects any number of series") {
  constexpr int kSeries = 9'000;  // more than are deleted together
  for (int i = 0; i < kSeries; ++i)
    Put("m", {{"host", (i % 2 == 0 ? "old" : "new") + std::to_string(i)}}, kNow - 2 * kDay, 1);
  CHECK(Round(R"([{"metric":"m","tags":{"host":"old*"},"keep":"1d"}])").ok());
  const std::string ages = Ages("m");
  CHECK(ages.find("old") == std::string::npos);
  CHECK(std::count(ages.begin(), ages.end(), '|') == kSeries / 2 - 1);
}

TEST_CASE_FIXTURE(RetentionFixture, "late points are deleted by the next round of retention") {
  Put("m", {{"host", "a"}}, kNow, 1);
  Retention retention(
      points, names, clock,
      {*ParseRetentionRules(R"([{"metric":"m","keep":"1d"}])"), 3600, UtcOptions()});
  CHECK(retention.Round().ok());
  Put("m", {{"host", "a"}}, kNow - 2 * kDay, 1);
  CHECK(Ages("m") == "a 172800 0");
  CHECK(retention.Round().ok());
  CHECK(Ages("m") == "a 0");
  CHECK(retention.Stats().rounds == 2);
}

TEST_CASE_FIXTURE(RetentionFixture, "retention deletes only hours whose rollups are complete") {
  Put("m", {{"host", "a"}}, kNow - 4 * kDay, 1);
  Put("m", {{"host", "a"}}, kNow - 2 * kDay, 1);
  RetentionOptions options{*ParseRetentionRules(R"([{"metric":"m","keep":"1d"}])"), 3600,
                           UtcOptions()};
  Result<uint32_t> allowed = 0U;
  uint32_t asked = 0;
  options.may_delete = [&](const Bytes& metric, uint32_t end_s) {
    CHECK(metric == Id(UidKind::kMetric, "m"));
    asked = end_s;
    return allowed;
  };
  Retention retention(points, names, clock, options);
  CHECK(retention.Round().ok());
  CHECK(Ages("m") == "a 345600 172800");
  CHECK(int64_t{asked} == kNow - kNow % 3600 - kDay);
  allowed = static_cast<uint32_t>(kNow - 3 * kDay);
  CHECK(retention.Round().ok());
  CHECK(Ages("m") == "a 172800");
  allowed = Status::IoError("the table cannot be read");
  CHECK_FALSE(retention.Round().ok());
  CHECK(Ages("m") == "a 172800");
}

TEST_CASE_FIXTURE(RetentionFixture, "a round of retention that was stopped deletes nothing more") {
  Put("m", {{"host", "a"}}, kNow - 2 * kDay, 1);
  Retention retention(
      points, names, clock,
      {*ParseRetentionRules(R"([{"metric":"m","keep":"1d"}])"), 3600, UtcOptions()});
  retention.Stop();
  CHECK(retention.Round().code() == StatusCode::kUnavailable);
  CHECK(Ages("m") == "a 172800");
}

TEST_CASE_FIXTURE(
    RetentionFixture,
    "a metric that fails for lack of memory is counted, and the next ones are processed") {
  for (const char* metric : {"a", "b"}) Put(metric, {{"host", "a"}}, kNow - 2 * kDay, 1);
  bool starves = true;
  Retention retention(points, names, clock,
                      {.rules = *ParseRetentionRules(R"([{"metric":"*","keep":"1d"}])"),
                       .query = UtcOptions(),
                       .may_delete = [&](const Bytes&, uint32_t end_s) -> Result<uint32_t> {
                         if (std::exchange(starves, false)) throw std::bad_alloc();
                         return end_s;
                       }});
  CHECK(retention.Round().code() == StatusCode::kUnavailable);
  CHECK(retention.Stats().failures == 1);
  CHECK(Ages("a") == "a 172800");
  CHECK(Ages("b").empty());
  CHECK(retention.Round().ok());
  CHECK(Ages("a").empty());
}

TEST_CASE("an invalid rule is refused with its number and the reason") {
  const auto refusal = [](const char* rules) {
    const auto read = ParseRetentionRules(rules);
    return std::string(read.status().message());
  };
  const auto says = [&](const char* rules, const char* part) {
    return refusal(rules).find(part) != std::string::npos;
  };
  CHECK(says("{}", "an array"));
  CHECK(says("[", "at byte"));
  CHECK(says(R"([{"metric":"m","keep":"1d"},{"metric":"m"}])", "rule 2"));
  CHECK(says(R"([{"keep":"1d"}])", "\"metric\""));
  CHECK(says(R"([{"metric":"m","keep":"30m"}])", "30m"));
  CHECK(says(R"([{"metric":"m","keep":"soon"}])", "soon"));
  CHECK(says(R"([{"metric":"m","keep":"1d","tag":{"host":"a"}}])", "\"tag\""));
  CHECK(says(R"([{"metric":"m","keep":"1d","tags":{"host":1}}])", "\"host\""));
  CHECK(says(R"([{"metric":"m","keep":"1d","tags":{"host":"regexp(["}}])", "rule 1"));
  CHECK(says(R"([{"metric":"m*x","keep":"1d"}])", "star"));
  CHECK(says(R"([{"metric":"m","keep":"1d","tags":{"host":"a","host":"b"}}])", "twice"));
  CHECK(says(R"([{"metric":"m","keep":"1d","keep":"2d"}])", "twice"));
  CHECK(says(R"([{"metric":"sys.温*","keep":"1d"}])", "\"sys.温*\""));
  CHECK(refusal(R"([{"metric":"sys.温","keep":"1d"},{"metric":"é*","keep":"1d"}])").empty());
  CHECK(refusal("[]").empty());
}

}  // namespace
}  // namespace hg::tsd
