#include "uid/annotations.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "storage/codec/row_key.h"
#include "storage/for_each_row.h"
#include "tests/support/fake_watch.h"
#include "tests/support/model_store.h"

namespace hg::uid {
namespace {

const std::string kSeries = "000001000001000001";

/// A data table in the model, and annotations over it.
struct AnnotationsFixture {
  explicit AnnotationsFixture(AnnotationsOptions options = {}) : annotations(store, options) {
    REQUIRE(store.CreateTable({options.table, {{"t"}}, true}).ok());
  }

  /// Returns "row qualifier value" for every cell, in hexadecimal except for the value.
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
    const auto written = annotations.Write(request, false, unlimited);
    REQUIRE_MESSAGE(written.ok(), written.status().ToString());
    REQUIRE(written->has_value());
  }

  /// Remembers the largest number of changes in one mutation.
  struct CountingStore : ModelStore {
    std::vector<Status> MutateRows(const std::string& table,
                                   const std::vector<RowMutation>& rows) override {
      for (const RowMutation& row : rows) most_changes = std::max(most_changes, row.changes.size());
      return ModelStore::MutateRows(table, rows);
    }
    size_t most_changes = 0;
  };
  CountingStore store;
  Annotations annotations;
};

TEST_CASE("an annotation above 64 KiB is refused, and the stored one stays") {
  AnnotationsFixture f;
  FakeWatch watch;
  codec::Annotation annotation;
  annotation.start_time = 1700000000;
  annotation.description = "short";
  REQUIRE(f.annotations.Write(annotation, false, watch).ok());
  annotation.notes = std::string(kAnnotationBytesMax, 'x');
  const auto written = f.annotations.Write(annotation, false, watch);
  CHECK(written.status().code() == StatusCode::kInvalidArgument);
  CHECK(written.status().message().find("at most 65536") != std::string::npos);
  const auto stored = f.annotations.Find("", 1700000000, watch);
  REQUIRE(stored.ok());
  CHECK(stored->description == "short");
  CHECK(stored->notes.empty());
}

TEST_CASE("an annotation whose texts are too long is refused before anything is read or copied") {
  AnnotationsFixture f;
  codec::Annotation annotation;
  annotation.start_time = 1700000000;
  const auto refused = [&] {
    FakeWatch watch;
    const Status status = f.annotations.Write(annotation, false, watch).status();
    return status.code() == StatusCode::kInvalidArgument && watch.steps == 0;
  };
  annotation.notes = std::string(kAnnotationBytesMax + 1, 'x');
  CHECK(refused());
  annotation.notes.clear();
  annotation.custom.emplace()["key"] = std::string(kAnnotationBytesMax, 'x');
  CHECK(refused());
}

TEST_CASE(
    "annotations are in the rows of their series, and global annotations in rows of their own") {
  AnnotationsFixture f;
  f.Write(kSeries, 1369141261, "local");
  f.Write("", 1369141261, "global");
  const std::vector<std::string> expected = {
      R"(000000519B6FD0 01003D {"startTime":1369141261,"endTime":0,"description":"global","notes":"","custom":null})",
      R"(000001519B6FD0000001000001 01003D {"tsuid":"000001000001000001","startTime":1369141261,"endTime":0,"description":"local","notes":"","custom":null})"};
  CHECK(f.Cells() == expected);
}

TEST_CASE(
    "the row of an annotation begins with the salt of its series, and that of a global one "
    "with 0") {
  AnnotationsOptions options;
  options.layout.salt_width = 1;
  AnnotationsFixture f(options);
  f.Write(kSeries, 1369141261, "local");
  f.Write("", 1369141261, "global");
  const std::vector<std::string> cells = f.Cells();
  REQUIRE(cells.size() == 2);
  CHECK(cells[0].starts_with("00000000519B6FD0 "));
  CHECK(cells[1].starts_with("08000001519B6FD0000001000001 "));
}

TEST_CASE(
    "equal times in seconds and milliseconds identify one annotation, which keeps the start "
    "as first written") {
  AnnotationsFixture f;
  f.Write(kSeries, 1369141261, "first");
  f.Write(kSeries, 1369141261000, "second");
  REQUIRE(f.Cells().size() == 1);
  const auto found = f.annotations.Find(kSeries, 1369141261000, unlimited);
  REQUIRE(found.ok());
  CHECK(found->start_time == 1369141261);
  CHECK(found->description == "second");
}

TEST_CASE("a write keeps omitted fields of the stored annotation, and a replacement resets them") {
  AnnotationsFixture f;
  codec::Annotation request;
  request.tsuid = kSeries;
  request.start_time = 1700000101;
  request.description = "pump off";
  request.custom.emplace()["owner"] = "ops";
  REQUIRE(f.annotations.Write(request, false, unlimited).ok());

  codec::Annotation more;
  more.tsuid = kSeries;
  more.start_time = 1700000101;
  more.notes = "more";
  auto merged = f.annotations.Write(more, false, unlimited);
  REQUIRE(merged.ok());
  REQUIRE(merged->has_value());
  CHECK((*merged)->description == "pump off");
  CHECK((*merged)->notes == "more");
  CHECK((*merged)->custom == request.custom);

  auto replaced = f.annotations.Write(more, true, unlimited);
  REQUIRE(replaced.ok());
  CHECK((*replaced)->description.empty());
  CHECK_FALSE((*replaced)->custom.has_value());
}

TEST_CASE("a request without content changes nothing") {
  AnnotationsFixture f;
  codec::Annotation request;
  request.start_time = 1700000101;
  const auto written = f.annotations.Write(request, true, unlimited);
  REQUIRE(written.ok());
  CHECK_FALSE(written->has_value());
  CHECK(f.Cells().empty());
}

TEST_CASE("invalid annotations are refused") {
  AnnotationsFixture f;
  codec::Annotation request;
  request.description = "x";
  CHECK(f.annotations.Write(request, false, unlimited).status().message() ==
        "The start timestamp has not been set");
  request.start_time = 1700000149;
  request.tsuid = "xyz";
  CHECK(f.annotations.Write(request, false, unlimited).status().message() ==
        "contains illegal character for hexBinary: 0xyz");
  for (const char* tsuid : {"000001", "000001000001", "1000001000001000001"}) {
    request.tsuid = tsuid;
    CHECK(f.annotations.Write(request, false, unlimited).status().code() ==
          StatusCode::kInvalidArgument);
  }
  request.tsuid = "0001";
  CHECK(f.annotations.Write(request, false, unlimited).status().code() == StatusCode::kUnsupported);
  CHECK(f.annotations.Find(kSeries, 1700000149, unlimited).status().code() ==
        StatusCode::kNotFound);
}

TEST_CASE("an annotation after 2106 is refused, because it would be found at an earlier time") {
  AnnotationsFixture f;
  codec::Annotation request;
  request.tsuid = kSeries;
  request.description = "x";
  for (const int64_t time : {INT64_C(4'294'967'296'000), INT64_C(5'994'967'296'000), INT64_MAX}) {
    request.start_time = time;
    const Status status = f.annotations.Write(request, false, unlimited).status();
    CHECK(status.code() == StatusCode::kInvalidArgument);
    CHECK(status.message().find(std::to_string(time)) != std::string_view::npos);
  }
  CHECK(f.Cells().empty());
  request.start_time = 4'294'967'295'000;
  CHECK(f.annotations.Write(request, false, unlimited).ok());
}

TEST_CASE("TSUIDs with incomplete pairs have no annotations") {
  AnnotationsFixture f;
  const std::string odd = "000001000001";
  CHECK(f.annotations.Find(odd, 1700000149, unlimited).status().code() == StatusCode::kNotFound);
  CHECK(f.annotations.Delete(odd, 1700000149, unlimited).ok());
  CHECK(*f.annotations.DeleteRange({odd}, 1, 1700000149000, unlimited) == 0);
  CHECK(f.annotations.DeleteRange({"000001"}, 1, 2, unlimited).status().code() ==
        StatusCode::kInvalidArgument);
}

TEST_CASE("a deleted annotation is gone, and deleting it again succeeds") {
  AnnotationsFixture f;
  f.Write(kSeries, 1700000101, "x");
  f.store.most_changes = 0;
  CHECK(f.annotations.Delete(kSeries, 1700000101, unlimited).ok());
  CHECK(f.store.most_changes == 1);
  f.store.most_changes = 0;
  CHECK(f.annotations.Delete(kSeries, 1700000101, unlimited).ok());
  CHECK(f.store.most_changes == 0);  // a write would create the series
  CHECK(f.Cells().empty());
}

std::vector<std::string> Descriptions(const Result<std::vector<codec::Annotation>>& found) {
  REQUIRE(found.ok());
  std::vector<std::string> out;
  for (const auto& annotation : *found) out.push_back(annotation.description);
  return out;
}

TEST_CASE(
    "global annotations are listed from their start to the last hour of the range, unless "
    "they end later") {
  AnnotationsFixture f;
  f.Write("", 1700000111, "open");
  f.Write("", 1700000121, "span", 1700000151);
  f.Write("", 1700000150, "later, same hour");
  f.Write("", 1700003700, "next hour");
  f.Write(kSeries, 1700000111, "of a series");
  using Names = std::vector<std::string>;
  CHECK(Descriptions(f.annotations.Globals(1700000101, 1700000201, unlimited)) ==
        Names{"open", "span", "later, same hour"});
  CHECK(Descriptions(f.annotations.Globals(1700000112, 1700000120, unlimited)) ==
        Names{"later, same hour"});
  CHECK(Descriptions(f.annotations.Globals(1700000111, 1700003700, unlimited)) ==
        Names{"open", "span", "later, same hour", "next hour"});
  CHECK(Descriptions(f.annotations.Globals(1600000000, 1600000100, unlimited)).empty());
  CHECK(f.annotations.Globals(2, 1, unlimited).status().code() == StatusCode::kInvalidArgument);
}

TEST_CASE(
    "a range delete deletes annotations of the given series or global ones, including both ends") {
  AnnotationsOptions options;
  SUBCASE("without salt") {}
  SUBCASE("salted") { options.layout.salt_width = 1; }
  AnnotationsFixture f(options);
  for (const std::string& owner : {kSeries, std::string("000001000001000002"), std::string()}) {
    f.Write(owner, 1700000101, "a");
    f.Write(owner, 1700000106, "b");
    f.Write(owner, 1700003606, "c");
  }
  CHECK(*f.annotations.DeleteRange({kSeries}, 1700000101000, 1700000106000, unlimited) == 2);
  CHECK(*f.annotations.DeleteRange({kSeries}, 1700000101000, 1700000106000, unlimited) == 0);
  CHECK(*f.annotations.DeleteRange({""}, 1700000102000, 1700003606000, unlimited) == 2);
  CHECK(f.Cells().size() == 5);
  CHECK(f.annotations.Find(kSeries, 1700003606, unlimited).ok());
  CHECK(f.annotations.Find("000001000001000002", 1700000101, unlimited).ok());
  CHECK(f.annotations.Find("", 1700000101, unlimited).ok());
}

std::string Tsuid(int host) {
  Bytes tsuid("\0\0\1\0\0\1", 6);
  AppendBig(&tsuid, static_cast<uint64_t>(host), 3);
  return ToHexUpper(tsuid);
}

TEST_CASE("A range delete of many series reads each row of their metric once") {
  AnnotationsFixture f;
  constexpr int kSeriesCount = 300;
  for (int host = 1; host <= kSeriesCount; ++host) f.Write(Tsuid(host), 1700000101, "x");
  std::vector<std::string> tsuids;
  for (int host = 1; host <= kSeriesCount; ++host) tsuids.push_back(Tsuid(2 * host));
  tsuids.push_back(Tsuid(2));  // the annotation of a repeated TSUID counts twice
  FakeWatch watch;
  CHECK(*f.annotations.DeleteRange(tsuids, 1, 1800000000000, watch) == kSeriesCount / 2 + 1);
  CHECK(f.Cells().size() == kSeriesCount / 2);
  CHECK(watch.steps < kSeriesCount * 1000);
  CHECK(watch.bytes == 0);
}

TEST_CASE("A range delete ends when its request is ended") {
  AnnotationsFixture f;
  for (int host = 1; host <= 300; ++host) f.Write(Tsuid(host), 1700000101, "x");
  std::vector<std::string> tsuids(1000, Tsuid(9999));
  FakeWatch watch;
  watch.steps_max = 2000;
  CHECK(f.annotations.DeleteRange(tsuids, 1, 1800000000000, watch).status().code() ==
        StatusCode::kDeadlineExceeded);
  CHECK(f.Cells().size() == 300);
}

TEST_CASE(
    "A range delete changes at most a thousand columns at once, so that writers need not wait") {
  AnnotationsFixture f;
  RowMutation row{codec::MakeGlobalRowKey(KeyLayout(), 1699999200), {}};
  for (uint64_t second = 0; second < 2500; ++second) {
    Bytes qualifier(1, '\1');
    AppendBig(&qualifier, second, 2);
    row.changes.push_back(PutCell("t", qualifier, "{}"));
  }
  REQUIRE(f.store.Mutate("tsdb", {row}).ok());
  f.store.most_changes = 0;
  CHECK(*f.annotations.DeleteRange({""}, 1699999200000, 1700002799000, unlimited) == 2500);
  CHECK(f.store.most_changes == 1000);
  CHECK(f.Cells().empty());
}

TEST_CASE("A range delete with an invalid TSUID deletes nothing") {
  AnnotationsFixture f;
  f.Write(kSeries, 1700000101, "x");
  CHECK(f.annotations.DeleteRange({kSeries, "zz"}, 1, 1800000000000, unlimited).status().code() ==
        StatusCode::kInvalidArgument);
  CHECK(f.Cells().size() == 1);
}

TEST_CASE("Global annotations are charged before they are listed") {
  AnnotationsFixture f;
  for (int i = 1; i <= 500; ++i) f.Write("", 1700000000 + 7 * i, std::string(200, 'x'));
  FakeWatch watch;
  REQUIRE(f.annotations.Globals(1700000000, 1700010000, watch)->size() == 500);
  CHECK(watch.bytes > 500 * 200);  // the list is charged
  FakeWatch small;
  small.bytes_max = 100'000;
  CHECK(f.annotations.Globals(1700000000, 1700010000, small).status().code() ==
        StatusCode::kLimitExceeded);
  FakeWatch short_of_time;
  short_of_time.steps_max = 10'000;
  CHECK(f.annotations.Globals(1700000000, 1700010000, short_of_time).status().code() ==
        StatusCode::kDeadlineExceeded);
}

TEST_CASE(
    "a range delete does not find an annotation whose start in seconds is divisible by 1000") {
  AnnotationsFixture f;
  f.Write("", 1700001000, "quirk");
  CHECK(*f.annotations.DeleteRange({""}, 1700001000000, 1700001000000, unlimited) == 0);
  CHECK(f.annotations.Find("", 1700001000, unlimited).ok());
}

TEST_CASE(
    "with use_otsdb_timestamp annotation cells have the start of the annotation as their time") {
  AnnotationsOptions options;
  options.use_otsdb_timestamp = true;
  AnnotationsFixture f(options);
  f.Write("", 1700000101, "x");
  const auto row = f.store.Get("tsdb", std::string("\0\0\0\x65\x53\xed\xe0", 7));
  REQUIRE(row.ok());
  REQUIRE(row->cells.size() == 1);
  CHECK(row->cells[0].timestamp_ms == 1700000101000);
}

}  // namespace
}  // namespace hg::uid
