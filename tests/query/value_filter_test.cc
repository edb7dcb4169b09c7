// Points whose values are not admitted are treated as if they did not exist.
#include "query/plan/value_filter.h"

#include <doctest/doctest.h>

#include <bit>
#include <cstdint>
#include <limits>
#include <string>
#include <utility>
#include <vector>

#include "query/rows/series_set.h"
#include "query/rows/special_points.h"
#include "storage/model/special_double.h"
#include "tests/query/columns.h"
#include "tests/query/engine_fixture.h"
#include "tests/support/fake_watch.h"

namespace hg::query {
namespace {

constexpr int64_t kFilterHour = 1'500'008'400;

ValueFilter Of(std::string_view text) {
  const auto filter = ValueFilter::Parse(text);
  REQUIRE(filter.ok());
  return *filter;
}

SubQuery OfValues(const std::string& aggregator, const std::string& values,
                  const std::string& downsample = "") {
  SubQuery query = EngineFixture::Ask(aggregator, "m");
  query.value_filter = values;
  if (!downsample.empty()) query.downsample = downsample;
  return query;
}

/// Returns rows of one series with the given statistics. Their points have the values 0 and 90.
class StatisticsScan : public PointScan {
 public:
  explicit StatisticsScan(std::vector<RowStatistics> rows) : rows_(std::move(rows)) {}
  Result<bool> Next(RowHour* row) override {
    if (next_ == rows_.size()) return false;
    *row = {};
    row->key = row->tsuid = ByteView("\0\0\1\0\0\1\0\0\1", 9);
    row->base = static_cast<uint32_t>(kFilterHour + static_cast<int64_t>(next_) * 3600);
    row->statistics = &rows_[next_++];
    return true;
  }
  Status Load(RowHour* row) override {
    ++loads;
    row->statistics = nullptr;
    row->offset_ms = offsets_;
    row->value = values_;
    return {};
  }
  size_t loads = 0;

 private:
  const std::vector<RowStatistics> rows_;
  const std::vector<uint32_t> offsets_{0, 1000};
  const std::vector<uint64_t> values_{0, 90};
  size_t next_ = 0;
};

struct Stored : EngineFixture {
  Stored() {
    for (int64_t i = 0; i < 6; ++i) Put("m", {{"host", "a"}}, kFilterHour + i * 10, i * 10);
    Put("m", {{"host", "b"}}, kFilterHour, PointValue::Double(4.5));
    Put("m", {{"host", "b"}}, kFilterHour + 10, 5);
  }
  std::string Text(const SubQuery& query) {
    return EngineFixture::Text(query, kFilterHour, kFilterHour + 3599);
  }
};

}  // namespace

TEST_CASE("queries skip the NaN of doubles, but not that of floats, infinities and integers") {
  const auto bits = [](double value) { return std::bit_cast<uint64_t>(value); };
  const double float_nan = std::numeric_limits<float>::quiet_NaN();
  const std::vector<uint32_t> offsets = {0, 10, 20, 30, 40, 50, 60};
  const std::vector<uint64_t> values = {bits(1),        kStaleMarkerBits,
                                        kNormalNanBits, bits(float_nan),
                                        kInfinityBits,  kInfinityBits | uint64_t{1} << 63,
                                        bits(-0.0)};
  RowHour row;
  row.offset_ms = offsets;
  row.value = values;
  KeptPoints kept;
  CHECK_FALSE(PassOverSpecials(&row, &kept));  // as integers
  CHECK(row.value.size() == 7);
  SUBCASE("doubles") { row.all_double = true; }
  const std::vector<uint8_t> kinds = {1, 1, 1, 1, 1, 1, 0};
  SUBCASE("and integers") { row.is_double = kinds; }
  if (!row.all_double && row.is_double.empty()) return;
  CHECK(PassOverSpecials(&row, &kept));
  CHECK(std::vector(row.offset_ms.begin(), row.offset_ms.end()) ==
        std::vector<uint32_t>{0, 30, 40, 50, 60});
  CHECK(row.value.size() == 5);
  CHECK(row.double_at(4) == row.all_double);
  CHECK_FALSE(PassOverSpecials(&row, &kept));
}

TEST_CASE("each comparison works for integers and doubles") {
  struct Case {
    const char* text;
    bool below, same, above;
  };
  for (const Case& c : {Case{">90", false, false, true}, Case{" >= 90 ", false, true, true},
                        Case{"< 90", true, false, false}, Case{"<=9e1", true, true, false},
                        Case{"==90.0", false, true, false}, Case{"!=90", true, false, true}}) {
    CAPTURE(c.text);
    const ValueFilter filter = Of(c.text);
    CHECK(filter.Admits(int64_t{89}) == c.below);
    CHECK(filter.Admits(int64_t{90}) == c.same);
    CHECK(filter.Admits(int64_t{91}) == c.above);
    CHECK(filter.Admits(89.9) == c.below);
    CHECK(filter.Admits(90.0) == c.same);
    CHECK(filter.Admits(90.1) == c.above);
  }
}

TEST_CASE("integers are compared exactly, even with numbers out of their range") {
  constexpr int64_t kMost = std::numeric_limits<int64_t>::max();
  constexpr int64_t kLeast = std::numeric_limits<int64_t>::min();
  CHECK_FALSE(Of("> 9007199254740993").Admits(int64_t{9007199254740993}));
  CHECK(Of("> 9007199254740993").Admits(int64_t{9007199254740994}));
  CHECK_FALSE(Of("== 9007199254740993").Admits(int64_t{9007199254740992}));
  CHECK(Of("< 9223372036854775808").Admits(kMost));
  CHECK_FALSE(Of(">= 9223372036854775808").Admits(kMost));
  CHECK(Of("> -1e300").Admits(kLeast));
  CHECK(Of(">= -9223372036854775808").Admits(kLeast));
  CHECK(Of("> 2.5").Admits(int64_t{3}));
  CHECK_FALSE(Of(">= 2.5").Admits(int64_t{2}));
  CHECK_FALSE(Of("== 2.5").Admits(int64_t{2}));
}

TEST_CASE("NaN differs from every number") {
  const double nan = std::numeric_limits<double>::quiet_NaN();
  CHECK(Of("!= 1").Admits(nan));
  for (const char* text : {"> 1", ">= 1", "< 1", "<= 1", "== 1"}) CHECK_FALSE(Of(text).Admits(nan));
}

TEST_CASE("invalid value filters are refused, and the error contains them") {
  for (const char* text : {"", "90", "=90", ">", "> ", "> x", ">> 1", "> 1 2", "> nan", "< inf",
                           "> 1e999", "=> 1", ">=90%"}) {
    CAPTURE(text);
    const auto filter = ValueFilter::Parse(text);
    REQUIRE_FALSE(filter.ok());
    CHECK(filter.status().code() == StatusCode::kInvalidArgument);
    CHECK(filter.status().message().find("'" + std::string(text) + "'") != std::string::npos);
  }
}

TEST_CASE("row statistics and points agree on whether some or all points of a row are admitted") {
  for (const char* sign : {">", ">=", "<", "<=", "==", "!="}) {
    for (const char* number : {"0", "2", "2.5", "5", "7", "-1"}) {
      const ValueFilter filter = Of(std::string(sign) + number);
      for (int64_t least : {0, 2, 5}) {
        for (int64_t most : {2, 5, 6}) {
          if (most < least) continue;
          bool some = false, all = true;
          for (int64_t v = least; v <= most; ++v) {
            some = some || filter.Admits(v);
            all = all && filter.Admits(v);
          }
          CAPTURE(sign);
          CAPTURE(number);
          CAPTURE(least);
          CAPTURE(most);
          const RowStatistics ints =
              StatisticsFrom(static_cast<double>(least), static_cast<double>(most));
          const RowStatistics doubles =
              StatisticsFrom(static_cast<double>(least), static_cast<double>(most), true);
          if (some) CHECK(filter.AdmitsSome(ints));
          if (some) CHECK(filter.AdmitsSome(doubles));
          if (filter.AdmitsAll(ints)) CHECK(all);
          if (filter.AdmitsAll(doubles)) CHECK(all);
        }
      }
    }
  }
  CHECK_FALSE(Of("> 90").AdmitsSome(StatisticsFrom(0, 90)));
  CHECK_FALSE(Of("< 0").AdmitsSome(StatisticsFrom(0, 90, true)));
  CHECK_FALSE(Of("== 91").AdmitsSome(StatisticsFrom(0, 90)));
  CHECK_FALSE(Of("!= 5").AdmitsSome(StatisticsFrom(5, 5)));
  CHECK(Of(">= 0").AdmitsAll(StatisticsFrom(0, 90)));
  CHECK(Of("!= 91").AdmitsAll(StatisticsFrom(0, 90, true)));
  CHECK(Of("== 5").AdmitsAll(StatisticsFrom(5, 5)));
}

TEST_CASE("a row keeps its admitted points, of any type") {
  const std::vector<uint32_t> offsets{0, 1, 2, 3};
  const std::vector<uint64_t> bits{7, std::bit_cast<uint64_t>(1.5), 1,
                                   std::bit_cast<uint64_t>(9.5)};
  const std::vector<uint8_t> kinds{0, 1, 0, 1};
  RowHour row;
  row.offset_ms = offsets;
  row.value = bits;
  row.is_double = kinds;
  KeptPoints kept;
  Of("> 5").Apply(&row, &kept);
  REQUIRE(row.value.size() == 2);
  CHECK(row.offset_ms[0] == 0);
  CHECK(row.offset_ms[1] == 3);
  CHECK(row.value[1] == bits[3]);
  CHECK_FALSE(row.double_at(0));
  CHECK(row.double_at(1));
  for (const char* text : {">= 2.5", ">= 3", "!= 1", "> 1", "< 1", "<= 1", "== 1"}) {
    CAPTURE(text);
    for (const bool doubles : {false, true}) {
      std::vector<uint64_t> alike;
      for (const int64_t v : {7, 1, 2, 9}) {
        alike.push_back(doubles ? std::bit_cast<uint64_t>(static_cast<double>(v))
                                : static_cast<uint64_t>(v));
      }
      RowHour uniform;
      uniform.offset_ms = offsets;
      uniform.value = alike;
      uniform.all_double = doubles;
      std::vector<uint64_t> expected;
      const ValueFilter filter = Of(text);
      for (const uint64_t b : alike) {
        if (doubles ? filter.Admits(std::bit_cast<double>(b))
                    : filter.Admits(static_cast<int64_t>(b)))
          expected.push_back(b);
      }
      filter.Apply(&uniform, &kept);
      CHECK(std::vector<uint64_t>(uniform.value.begin(), uniform.value.end()) == expected);
      CHECK(uniform.offset_ms.size() == expected.size());
    }
  }
}

TEST_CASE("rows are loaded only if their statistics do not decide") {
  FakeWatch watch;
  const KeyLayout layout;
  const ValueFilter filter = Of("> 80");
  RowStatistics all = StatisticsFrom(90, 90);
  all.count = 2;
  for (const bool downsampled : {false, true}) {
    StatisticsScan scan({StatisticsFrom(0, 80), StatisticsFrom(0, 90), StatisticsFrom(-5, 7), all});
    const DownsampleSpec spec = *ParseDownsample("1h-max");
    const BucketGrid grid(spec, {kFilterHour / 1000, kFilterHour / 1000 + 5 * 3600},
                          kFilterHour * 1000, (kFilterHour + 5 * 3600) * 1000);
    SeriesSet set(layout, downsampled ? &grid : nullptr, nullptr, &watch);
    set.WantValues(&filter);
    LimitCounter counter({}, watch);
    REQUIRE(set.Read(&scan, &counter).ok());
    REQUIRE(set.Finish().ok());
    REQUIRE(set.series().size() == 1);
    CHECK(set.rows_admitted() == 2);
    CHECK(scan.loads == (downsampled ? 1 : 2));
    CHECK(set.series()[0].points.time_ms.front() ==
          (kFilterHour + 3600) * 1000 + (downsampled ? 0 : 1000));
  }
}

TEST_CASE_FIXTURE(Stored, "values are filtered before downsampling, rate and aggregation") {
  CHECK(Text(OfValues("none", "> 30")) == "host=a 1500008440:40 1500008450:50");
  CHECK(Text(OfValues("sum", ">= 5", "1m-count")) == "/host 1500008400:6.0");
  CHECK(Text(OfValues("max", "< 40", "1m-max")) == "/host 1500008400:30.0");
  SubQuery rate = OfValues("none", ">= 30");
  rate.rate = true;
  CHECK(Text(rate) == "host=a 1500008440:1.0 1500008450:1.0");
}

TEST_CASE_FIXTURE(Stored, "a series without admitted values is not in the result") {
  SubQuery query = OfValues("none", "> 4.4");
  query.filters.push_back({"literal_or", "host", "b", true});
  CHECK(Text(query) == "host=b 1500008400:4.5 1500008410:5");
  query.value_filter = "> 5";
  CHECK(Text(query).empty());
}

TEST_CASE_FIXTURE(Stored, "sub-queries that cannot be filtered by value are refused by name") {
  CHECK(Text(OfValues("sum", "about 5")).find("'about 5'") != std::string::npos);
  SubQuery histograms = OfValues("sum", "> 7");
  histograms.percentiles = {{50}};
  CHECK(Text(histograms).find("'> 7'") != std::string::npos);
}

TEST_CASE_FIXTURE(Stored, "a delete query with a value filter is refused") {
  Request request;
  request.start = std::to_string(kFilterHour);
  request.queries = {OfValues("none", "> 4.4")};
  REQUIRE(engine.Validate(request, RequestContext::Unlimited()).ok());
  request.delete_rows = true;
  const Status refused = engine.Validate(request, RequestContext::Unlimited()).status();
  CHECK(refused.code() == StatusCode::kInvalidArgument);
  CHECK(refused.message().find("'> 4.4'") != std::string::npos);
}

}  // namespace hg::query
