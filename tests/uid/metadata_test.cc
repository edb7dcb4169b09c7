#include "uid/metadata.h"

#include <doctest/doctest.h>

#include <cmath>
#include <string>

#include "storage/model/number_text.h"
#include "storage/model/utf8.h"
#include "tests/support/fake_watch.h"
#include "tests/support/manual_clock.h"
#include "tests/support/model_store.h"
#include "uid/metadata_json.h"
#include "uid/tree.h"

namespace hg::uid {
namespace {

const Bytes kOne("\0\0\1", 3);
const Bytes kSeriesId("\0\0\1\0\0\1\0\0\1", 9);

/// metric room.temp, tag host=a, each with id 1.
struct MetadataFixture {
  MetadataFixture() : names(store, {}), metadata(store, names, {}) {
    REQUIRE(store.CreateTable({"tsdb-uid", {{"id"}, {"name"}}, false}).ok());
    REQUIRE(store.CreateTable({"tsdb-meta", {{"name"}}, false}).ok());
    REQUIRE(names.FindOrAssign(UidKind::kMetric, "room.temp").ok());
    REQUIRE(names.FindOrAssign(UidKind::kTagk, "host").ok());
    REQUIRE(names.FindOrAssign(UidKind::kTagv, "a").ok());
  }

  std::string Cell(const std::string& table, const Bytes& row, const Bytes& qualifier) {
    const Result<Row> found = store.Get(table, row, "name", {qualifier});
    REQUIRE(found.ok());
    return found->empty() ? "" : found->cells.front().value;
  }

  ManualClock clock{1700000000000};
  ModelStore store{clock};
  Names names;
  Metadata metadata;
};

TEST_CASE("an id without stored metadata has a UIDMeta with default values") {
  MetadataFixture f;
  const Result<UidMeta> meta = f.metadata.FindUid(UidKind::kTagk, kOne, unlimited);
  REQUIRE(meta.ok());
  CHECK(meta->name == "host");
  CHECK(meta->created == 0);
  CHECK(meta->notes == "");
  CHECK_FALSE(meta->custom.has_value());
  CHECK(f.metadata.FindUid(UidKind::kTagk, Bytes("\0\0\2", 3), unlimited).status().code() ==
        StatusCode::kNotFound);
  CHECK(f.metadata.FindUid(UidKind::kTagk, "x", unlimited).status().code() ==
        StatusCode::kInvalidArgument);
}

TEST_CASE("the metadata objects of the names of a series are charged before they are collected") {
  MetadataFixture f;
  UidMeta key;
  key.kind = UidKind::kTagk;
  key.id = kOne;
  key.notes = std::string(20'000, 'x');
  REQUIRE(f.metadata.WriteUid(key, false, unlimited).ok());
  TsMeta request;
  request.tsuid = kOne;
  for (int pair = 0; pair < 1000; ++pair) request.tsuid += kOne + kOne;
  request.display_name = "x";
  FakeWatch watch;
  watch.bytes_max = 1 << 20;
  CHECK(f.metadata.WriteSeries(request, false, watch).status().code() ==
        StatusCode::kLimitExceeded);
  CHECK(watch.bytes_most <= watch.bytes_max);
}

TEST_CASE(
    "the given fields of a UIDMeta are stored in a fixed order and merged with the stored ones") {
  MetadataFixture f;
  UidMeta request;
  request.id = kOne;
  request.display_name = "Room temperature";
  request.custom = MetaFields{{"owner", "ops"}, {"a", "1"}, {"b", "2"}};
  REQUIRE(f.metadata.WriteUid(request, false, unlimited).ok());
  CHECK(
      f.Cell("tsdb-uid", kOne, "metric_meta") ==
      R"({"type":"METRIC","displayName":"Room temperature","description":"","notes":"","created":0,)"
      R"("custom":{"owner":"ops","a":"1","b":"2"}})");

  UidMeta more;
  more.id = kOne;
  more.notes = std::nullopt;
  more.created = 1600000000;
  auto written = f.metadata.WriteUid(more, false, unlimited);
  REQUIRE(written.ok());
  REQUIRE(written->has_value());
  CHECK((*written)->display_name == "Room temperature");
  CHECK((*written)->custom == request.custom);
  CHECK(f.metadata.FindUid(UidKind::kMetric, kOne, unlimited)->notes == std::nullopt);

  UidMeta other;
  other.id = kOne;
  other.description = "only this";
  REQUIRE(f.metadata.WriteUid(other, true, unlimited).ok());
  CHECK(
      f.Cell("tsdb-uid", kOne, "metric_meta") ==
      R"({"type":"METRIC","displayName":"","description":"only this","notes":"","created":1600000000,"custom":null})");

  REQUIRE(f.metadata.DeleteUid(UidKind::kMetric, kOne, unlimited).ok());
  CHECK(f.Cell("tsdb-uid", kOne, "metric_meta").empty());
  CHECK(f.names.NameOf(UidKind::kMetric, kOne).ok());
}

TEST_CASE("a metadata object larger than the limit is refused, and the stored one stays") {
  MetadataFixture f;
  UidMeta request;
  request.id = kOne;
  request.notes = std::string(kObjectBytesMax / 2, 'n');
  REQUIRE(f.metadata.WriteUid(request, false, unlimited).ok());
  UidMeta more;
  more.id = kOne;
  more.description = request.notes;
  const Status refused = f.metadata.WriteUid(more, false, unlimited).status();
  CHECK(refused.code() == StatusCode::kLimitExceeded);
  CHECK(refused.message().find(std::to_string(kObjectBytesMax)) != std::string::npos);
  CHECK(f.metadata.FindUid(UidKind::kMetric, kOne, unlimited)->description == "");

  TsMeta series;
  series.tsuid = kSeriesId;
  series.notes = std::string(kObjectBytesMax, 'n');
  CHECK(f.metadata.CreateSeries(series, unlimited).status().code() == StatusCode::kLimitExceeded);
  series.notes = "short";
  REQUIRE(f.metadata.CreateSeries(series, unlimited).ok());
  series.notes = std::string(kObjectBytesMax, 'n');
  CHECK(f.metadata.WriteSeries(series, false, unlimited).status().code() ==
        StatusCode::kLimitExceeded);
  CHECK(f.metadata.FindSeries(kSeriesId, unlimited)->notes == "short");

  FakeWatch watch;  // texts that are too long are refused before anything is read or copied
  more.custom = MetaFields{{"key", std::string(kObjectBytesMax, 'n')}};
  CHECK_FALSE(f.metadata.WriteUid(more, false, watch).ok());
  series.units = std::string(kObjectBytesMax, 'n') + "n";
  CHECK_FALSE(f.metadata.WriteSeries(series, false, watch).ok());
  CHECK_FALSE(f.metadata.CreateSeries(series, watch).ok());
  CHECK(watch.steps == 0);
}

TEST_CASE("a metadata request without fields writes nothing") {
  MetadataFixture f;
  UidMeta request;
  request.id = kOne;
  CHECK_FALSE(f.metadata.WriteUid(request, true, unlimited)->has_value());
  CHECK(f.Cell("tsdb-uid", kOne, "metric_meta").empty());
  TsMeta series;
  series.tsuid = kSeriesId;
  CHECK_FALSE(f.metadata.WriteSeries(series, true, unlimited)->has_value());
}

TEST_CASE("the TSMeta of a series is created, found with its ids, merged and replaced") {
  MetadataFixture f;
  TsMeta request;
  request.tsuid = kSeriesId;
  request.display_name = "Cpu";
  request.max = 100;
  request.max_said = true;
  request.min = -0.5;
  request.min_said = true;
  CHECK(f.metadata.WriteSeries(request, false, unlimited).status().code() == StatusCode::kNotFound);
  CHECK(f.metadata.FindSeries(kSeriesId, unlimited).status().code() == StatusCode::kNotFound);

  const Result<TsMeta> created = f.metadata.CreateSeries(request, unlimited);
  REQUIRE_MESSAGE(created.ok(), created.status().ToString());
  CHECK(created->metric.name == "room.temp");
  REQUIRE(created->tags.size() == 2);
  CHECK(created->tags[0].name == "host");
  CHECK(created->tags[1].name == "a");
  CHECK(created->total_points == 0);
  CHECK(created->last_received == 1700000000);
  CHECK(
      f.Cell("tsdb-meta", kSeriesId, "ts_meta") ==
      R"({"tsuid":"000001000001000001","displayName":"Cpu","description":"","notes":"","created":0,"custom":null,)"
      R"("units":"","dataType":"","retention":0,"max":100.0,"min":-0.5})");

  TsMeta more;
  more.tsuid = kSeriesId;
  more.units = "%";
  more.max_said = true;  // sets `max` to NaN
  auto written = f.metadata.WriteSeries(more, false, unlimited);
  REQUIRE(written.ok());
  CHECK((*written)->display_name == "Cpu");
  CHECK((*written)->units == "%");
  CHECK(std::isnan((*written)->max));
  CHECK((*written)->min == -0.5);

  TsMeta other;
  other.tsuid = kSeriesId;
  other.retention = 30;
  REQUIRE(f.metadata.WriteSeries(other, true, unlimited).ok());
  const Result<TsMeta> replaced = f.metadata.FindSeries(kSeriesId, unlimited);
  CHECK(replaced->display_name == "");
  CHECK(replaced->retention == 30);
  CHECK(std::isnan(replaced->min));

  REQUIRE(f.metadata.DeleteSeries(kSeriesId, unlimited).ok());
  CHECK(f.metadata.FindSeries(kSeriesId, unlimited).status().code() == StatusCode::kNotFound);
  CHECK(f.Cell("tsdb-meta", kSeriesId, "ts_ctr") == Bytes(8, '\0'));
}

TEST_CASE(
    "the TSMeta of series are listed by metric and tags, and a series with only a counter "
    "has none") {
  MetadataFixture f;
  TsMeta request;
  request.tsuid = kSeriesId;
  request.notes = "x";
  REQUIRE(f.metadata.CreateSeries(request, unlimited).ok());
  REQUIRE(f.store.Increment("tsdb-meta", Bytes("\0\0\1\0\0\1\0\0\2", 9), "name", "ts_ctr", 1).ok());
  const auto count = [&](const Bytes& metric, const std::vector<Bytes>& pairs) {
    size_t visited = 0;
    const auto visit = [&](const TsMeta&) { return ++visited, Status(); };
    REQUIRE(f.metadata.VisitSeries(metric, pairs, visit, unlimited).ok());
    return visited;
  };
  CHECK(count(kOne, {}) == 1);
  CHECK(count(kOne, {kOne + kOne}) == 1);
  CHECK(count(kOne, {kOne + Bytes("\0\0\2", 3)}) == 0);
  CHECK(count(Bytes("\0\0\2", 3), {}) == 0);
}

TEST_CASE("a series with an id whose name was deleted is not listed, and the others are") {
  MetadataFixture f;
  REQUIRE(f.names.FindOrAssign(UidKind::kTagv, "b").ok());
  for (const Bytes& tsuid : {kSeriesId, Bytes("\0\0\1\0\0\1\0\0\2", 9)}) {
    TsMeta request;
    request.tsuid = tsuid;
    REQUIRE(f.metadata.CreateSeries(request, unlimited).ok());
  }
  REQUIRE(f.names.Delete(UidKind::kTagv, "a").ok());
  std::vector<std::string> listed;
  const auto visit = [&](const TsMeta& meta) {
    listed.push_back(meta.tags.at(1).name);
    return Status();
  };
  CHECK(f.metadata.VisitSeries(kOne, {}, visit, unlimited).ok());
  CHECK(listed == std::vector<std::string>{"b"});
  CHECK(f.metadata.FindSeries(kSeriesId, unlimited).status().code() == StatusCode::kCorruption);
}

TEST_CASE("the TSMeta of a series cannot be written if one of its ids has no name") {
  MetadataFixture f;
  TsMeta request;
  request.tsuid = Bytes("\0\0\1\0\0\1\0\0\x09", 9);
  request.notes = "x";
  CHECK(f.metadata.CreateSeries(request, unlimited).status().code() == StatusCode::kCorruption);
  CHECK(f.metadata.WriteSeries(request, false, unlimited).status().code() ==
        StatusCode::kCorruption);
}

TEST_CASE("texts of stored objects are decoded to UTF-8, even if their escapes are invalid") {
  UidMeta meta;
  REQUIRE(DecodeUidMeta(R"({"description":"x\udc00","custom":{"k\udc00":"v"}})", &meta).ok());
  CHECK(IsUtf8(*meta.description));
  CHECK(IsUtf8((*meta.custom)[0].first));
  Tree tree;
  REQUIRE(DecodeTree(R"({"name":"x\udc00"})", &tree).ok());
  CHECK(IsUtf8(tree.name));
}

TEST_CASE("damaged stored objects are distinguished from valid ones") {
  UidMeta meta;
  CHECK(DecodeUidMeta("{", &meta).code() == StatusCode::kCorruption);
  CHECK(DecodeUidMeta("[]", &meta).code() == StatusCode::kCorruption);
  CHECK(DecodeUidMeta(R"({"notes":5})", &meta).code() == StatusCode::kCorruption);
  CHECK(DecodeUidMeta(R"({"unknown":[1]})", &meta).ok());
  TsMeta series;
  CHECK(DecodeTsMeta(R"({"retention":"x"})", &series).code() == StatusCode::kCorruption);
  CHECK(DecodeTsMeta(R"({"max":1.0E10,"min":"NaN"})", &series).ok());
  CHECK(series.max == 1e10);
  CHECK(std::isnan(series.min));
}

TEST_CASE("the bounds of stored series metadata may be infinite or NaN") {
  for (const double bound : {HUGE_VAL, -HUGE_VAL, std::nan("")}) {
    TsMeta series, read;
    series.max = bound;
    REQUIRE(DecodeTsMeta(EncodeTsMeta(series), &read).ok());
    CHECK(JavaDouble(read.max) == JavaDouble(bound));
  }
}

}  // namespace
}  // namespace hg::uid
