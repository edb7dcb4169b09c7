#include "uid/annotations.h"

#include <doctest/doctest.h>

#include <string>
#include <vector>

#include "storage/for_each_row.h"
#include "tests/support/model_store.h"

namespace hg::uid {
namespace {

const std::string kSeries = "000001000001000001";

/// A data table of the model, and annotations over it.
struct Fixture {
  explicit Fixture(AnnotationsOptions options = {}) : annotations(store, options) {
    REQUIRE(store.CreateTable({options.table, {{"t"}}, true}).ok());
  }

  /// "row qualifier value" of every cell, in hexadecimal but for the value.
  std::vector<std::string> Cells() {
    ScanSpec spec;
    spec.table = "tsdb";
    std::vector<std::string> lines;
    const Status scanned = ForEachRow(store, spec, [&](const Row& row) {
      for (const Cell& cell : row.cells)
        lines.push_back(ToHexUpper(row.key) + " " + ToHexUpper(cell.qualifier) + " " + cell.value);
      return Status();
    });
    REQUIRE(scanned.ok());
    return lines;
  }

  void Write(const std::string& tsuid, int64_t start, const std::string& description,
             int64_t end = 0) {
    codec::Annotation request;
    request.tsuid = tsuid;
    request.start_time = start;
    request.end_time = end;
    request.description = description;
    const auto written = annotations.Write(request, false);
    REQUIRE_MESSAGE(written.ok(), written.status().ToString());
    REQUIRE(written->has_value());
  }

  ModelStore store;
  Annotations annotations;
};

TEST_CASE("annotations lie beside the points of their series, global ones in rows of their own") {
  Fixture f;
  f.Write(kSeries, 1369141261, "local");
  f.Write("", 1369141261, "global");
  const std::vector<std::string> expected = {
      R"(000000519B6FD0 01003D {"startTime":1369141261,"endTime":0,"description":"global","notes":"","custom":null})",
      R"(000001519B6FD0000001000001 01003D {"tsuid":"000001000001000001","startTime":1369141261,"endTime":0,"description":"local","notes":"","custom":null})"};
  CHECK(f.Cells() == expected);
}

TEST_CASE("a salted series has its bucket in front, a global annotation zero") {
  AnnotationsOptions options;
  options.layout.salt_width = 1;
  Fixture f(options);
  f.Write(kSeries, 1369141261, "local");
  f.Write("", 1369141261, "global");
  const std::vector<std::string> cells = f.Cells();
  REQUIRE(cells.size() == 2);
  CHECK(cells[0].starts_with("00000000519B6FD0 "));
  CHECK(cells[1].starts_with("08000001519B6FD0000001000001 "));
}

TEST_CASE("a second and its milliseconds are one annotation, which keeps its earlier start") {
  Fixture f;
  f.Write(kSeries, 1369141261, "first");
  f.Write(kSeries, 1369141261000, "second");
  REQUIRE(f.Cells().size() == 1);
  const auto found = f.annotations.Find(kSeries, 1369141261000);
  REQUIRE(found.ok());
  CHECK(found->start_time == 1369141261);
  CHECK(found->description == "second");
}

TEST_CASE("a write keeps what it does not say, a replacement does not") {
  Fixture f;
  codec::Annotation request;
  request.tsuid = kSeries;
  request.start_time = 1700000101;
  request.description = "pump off";
  request.custom.emplace()["owner"] = "ops";
  REQUIRE(f.annotations.Write(request, false).ok());

  codec::Annotation more;
  more.tsuid = kSeries;
  more.start_time = 1700000101;
  more.notes = "more";
  auto merged = f.annotations.Write(more, false);
  REQUIRE(merged.ok());
  REQUIRE(merged->has_value());
  CHECK((*merged)->description == "pump off");
  CHECK((*merged)->notes == "more");
  CHECK((*merged)->custom == request.custom);

  auto replaced = f.annotations.Write(more, true);
  REQUIRE(replaced.ok());
  CHECK((*replaced)->description.empty());
  CHECK_FALSE((*replaced)->custom.has_value());
}

TEST_CASE("a request without content changes nothing") {
  Fixture f;
  codec::Annotation request;
  request.start_time = 1700000101;
  const auto written = f.annotations.Write(request, true);
  REQUIRE(written.ok());
  CHECK_FALSE(written->has_value());
  CHECK(f.Cells().empty());
}

TEST_CASE("what cannot be is refused") {
  Fixture f;
  codec::Annotation request;
  request.description = "x";
  CHECK(f.annotations.Write(request, false).status().message() ==
        "The start timestamp has not been set");
  request.start_time = 1700000149;
  request.tsuid = "xyz";
  CHECK(f.annotations.Write(request, false).status().message() ==
        "contains illegal character for hexBinary: 0xyz");
  for (const char* tsuid : {"000001", "000001000001", "1000001000001000001"}) {
    request.tsuid = tsuid;
    CHECK(f.annotations.Write(request, false).status().code() == StatusCode::kInvalidArgument);
  }
  request.tsuid = "0001";
  CHECK(f.annotations.Write(request, false).status().code() == StatusCode::kUnsupported);
  CHECK(f.annotations.Find(kSeries, 1700000149).status().code() == StatusCode::kNotFound);
}

TEST_CASE("TSUIDs of pairs that are not whole have no annotations") {
  Fixture f;
  const std::string odd = "000001000001";
  CHECK(f.annotations.Find(odd, 1700000149).status().code() == StatusCode::kNotFound);
  CHECK(f.annotations.Delete(odd, 1700000149).ok());
  CHECK(*f.annotations.DeleteRange(odd, 1, 1700000149000) == 0);
  CHECK(f.annotations.DeleteRange("000001", 1, 2).status().code() == StatusCode::kInvalidArgument);
}

TEST_CASE("a deleted annotation is gone, and deleting it again is fine") {
  Fixture f;
  f.Write(kSeries, 1700000101, "x");
  CHECK(f.annotations.Delete(kSeries, 1700000101).ok());
  CHECK(f.annotations.Delete(kSeries, 1700000101).ok());
  CHECK(f.Cells().empty());
}

std::vector<std::string> Descriptions(const Result<std::vector<codec::Annotation>>& found) {
  REQUIRE(found.ok());
  std::vector<std::string> out;
  for (const auto& annotation : *found) out.push_back(annotation.description);
  return out;
}

TEST_CASE("global annotations are listed by start and by their end, hour by hour") {
  Fixture f;
  f.Write("", 1700000111, "open");
  f.Write("", 1700000121, "span", 1700000151);
  f.Write("", 1700000150, "later, same hour");
  f.Write("", 1700003700, "next hour");
  f.Write(kSeries, 1700000111, "of a series");
  using Names = std::vector<std::string>;
  CHECK(Descriptions(f.annotations.Globals(1700000101, 1700000201)) ==
        Names{"open", "span", "later, same hour"});
  CHECK(Descriptions(f.annotations.Globals(1700000112, 1700000120)) == Names{"later, same hour"});
  CHECK(Descriptions(f.annotations.Globals(1700000111, 1700003700)) ==
        Names{"open", "span", "later, same hour", "next hour"});
  CHECK(Descriptions(f.annotations.Globals(1600000000, 1600000100)).empty());
  CHECK(f.annotations.Globals(2, 1).status().code() == StatusCode::kInvalidArgument);
}

TEST_CASE("a range delete takes the series or the global ones inside, both ends included") {
  AnnotationsOptions options;
  SUBCASE("without salt") {}
  SUBCASE("salted") { options.layout.salt_width = 1; }
  Fixture f(options);
  for (const std::string& owner : {kSeries, std::string("000001000001000002"), std::string()}) {
    f.Write(owner, 1700000101, "a");
    f.Write(owner, 1700000106, "b");
    f.Write(owner, 1700003606, "c");
  }
  CHECK(*f.annotations.DeleteRange(kSeries, 1700000101000, 1700000106000) == 2);
  CHECK(*f.annotations.DeleteRange(kSeries, 1700000101000, 1700000106000) == 0);
  CHECK(*f.annotations.DeleteRange("", 1700000102000, 1700003606000) == 2);
  CHECK(f.Cells().size() == 5);
  CHECK(f.annotations.Find(kSeries, 1700003606).ok());
  CHECK(f.annotations.Find("000001000001000002", 1700000101).ok());
  CHECK(f.annotations.Find("", 1700000101).ok());
}

TEST_CASE("a range delete does not find a start divisible by 1000") {
  Fixture f;
  f.Write("", 1700001000, "quirk");
  CHECK(*f.annotations.DeleteRange("", 1700001000000, 1700001000000) == 0);
  CHECK(f.annotations.Find("", 1700001000).ok());
}

TEST_CASE("cells carry the data's time if that is wished") {
  AnnotationsOptions options;
  options.use_otsdb_timestamp = true;
  Fixture f(options);
  f.Write("", 1700000101, "x");
  const auto row = f.store.Get("tsdb", std::string("\0\0\0\x65\x53\xed\xe0", 7));
  REQUIRE(row.ok());
  REQUIRE(row->cells.size() == 1);
  CHECK(row->cells[0].timestamp_ms == 1700000101000);
}

}  // namespace
}  // namespace hg::uid
