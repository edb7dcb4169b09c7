#include "tsd/ingest/ingest.h"

#include <doctest/doctest.h>

#include "tests/http/edge_fixture.h"

namespace hg::tsd {
namespace {

using http::EdgeFixture;

struct Named {
  std::vector<TagText> tags;
  NamedPoint point;

  Named(std::string_view metric, std::vector<TagText> the_tags, std::string_view spelling = {})
      : tags(std::move(the_tags)) {
    point.metric = metric;
    point.tags = tags;
    point.time.raw = 1700000000;
    point.value = PointValue::Int(1);
    if (!spelling.empty()) point.spelling = {Dialect::kJson, metric, spelling};
  }
};

Status Store(EdgeFixture& edge, const Named& named) {
  std::vector<Status> verdicts;
  edge.ingest.AppendNamed({&named.point, 1}, &verdicts);
  REQUIRE(verdicts.size() == 1);
  return verdicts[0];
}

bool KnownSpelling(EdgeFixture& edge, std::string_view metric, std::string_view tags) {
  SpelledPoint point;
  point.series = {Dialect::kJson, metric, tags};
  point.time.raw = 1700000001;
  point.value = PointValue::Int(1);
  const auto appended = edge.ingest.AppendSpelled({&point, 1});
  REQUIRE(appended.ok());
  return appended->known;
}

}  // namespace

TEST_CASE("a point by name makes its spelling known, and both reach one series") {
  EdgeFixture edge;
  CHECK_FALSE(KnownSpelling(edge, "m", "{x}"));
  REQUIRE(Store(edge, Named("m", {{"b", "2"}, {"a", "1"}}, "{x}")).ok());
  REQUIRE(KnownSpelling(edge, "m", "{x}"));
  const auto cells = edge.Cells();
  REQUIRE(cells.size() == 2);
  CHECK(cells[0].substr(0, cells[0].find(' ')) == cells[1].substr(0, cells[1].find(' ')));
}

TEST_CASE("the row key sorts tags by id, not by name or by arrival") {
  EdgeFixture edge;
  REQUIRE(Store(edge, Named("m", {{"b", "2"}, {"a", "1"}})).ok());
  REQUIRE(Store(edge, Named("m", {{"a", "1"}, {"b", "2"}})).ok());
  // b got id 1, a id 2; one row.
  REQUIRE(edge.Cells().size() == 1);
  CHECK(edge.Cells()[0].starts_with("0000016553ede0000001000001000002000002 "));
}

TEST_CASE("a refused point leaves no spelling and no id behind") {
  EdgeFixture edge;
  const Status status = Store(edge, Named("m", {{"a", "b!"}}, "{x}"));
  CHECK(status.code() == StatusCode::kInvalidArgument);
  CHECK_FALSE(KnownSpelling(edge, "m", "{x}"));
  CHECK(edge.Ids().empty());
}

TEST_CASE("names are created only where that is allowed, metric first") {
  IngestOptions options;
  options.auto_create_tagvs = false;
  EdgeFixture edge(options);
  Status status = Store(edge, Named("m", {{"a", "b"}}));
  CHECK(status.code() == StatusCode::kNotFound);
  CHECK(status.message() == "No such name for 'metrics': 'm'");
  CHECK(edge.Ids().empty());
  REQUIRE(edge.names.FindOrAssign(UidKind::kMetric, "m").ok());
  status = Store(edge, Named("m", {{"a", "b"}}));
  CHECK(status.message() == "No such name for 'tagv': 'b'");
  CHECK(edge.names.Find(UidKind::kTagk, "a").ok());
}

TEST_CASE("the number of tags has its limit") {
  IngestOptions options = EdgeFixture::AllAutomatic();
  options.max_tags = 1;
  EdgeFixture edge(options);
  CHECK(Store(edge, Named("m", {{"a", "1"}})).ok());
  CHECK(Store(edge, Named("m", {{"a", "1"}, {"b", "2"}})).message() ==
        "Too many tags: 2 maximum allowed: 1, tags: {a=1, b=2}");
  CHECK(Store(edge, Named("m", {})).message() == "Need at least one tag (metric=m, tags={})");
}

TEST_CASE("a renamed metric's old spelling is not trusted once that was told") {
  EdgeFixture edge;
  REQUIRE(Store(edge, Named("m", {{"a", "1"}}, "{x}")).ok());
  REQUIRE(edge.names.Rename(UidKind::kMetric, "m", "n").ok());
  edge.ingest.ForgetSpellings();
  CHECK_FALSE(KnownSpelling(edge, "m", "{x}"));
  REQUIRE(Store(edge, Named("m", {{"a", "1"}}, "{x}")).ok());
  const auto id = edge.names.Find(UidKind::kMetric, "m");
  REQUIRE(id.ok());
  CHECK(ToHex(*id) == "000002");
}

TEST_CASE("of a batch the good points are stored, and a store that refuses refuses those") {
  EdgeFixture edge;
  const Named good("m", {{"a", "1"}}), bad("m!", {{"a", "1"}});
  const NamedPoint points[] = {good.point, bad.point};
  std::vector<Status> verdicts;
  edge.points.RefuseAppends(1);
  edge.ingest.AppendNamed(points, &verdicts);
  REQUIRE(verdicts.size() == 2);
  CHECK(verdicts[0].code() == StatusCode::kBusy);
  CHECK(verdicts[1].code() == StatusCode::kInvalidArgument);
  edge.ingest.AppendNamed(points, &verdicts);
  CHECK(verdicts[0].ok());
  CHECK(edge.Cells().size() == 1);
}

}  // namespace hg::tsd
