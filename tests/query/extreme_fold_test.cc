// The maximum of many series is found without reading most of them. Results must not differ.
#include "query/rows/extreme_fold.h"

#include <doctest/doctest.h>
#include <malloc.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <functional>
#include <limits>
#include <memory>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include "query/engine.h"
#include "query/plan/filter.h"
#include "query/plan/validate.h"
#include "query/rows/bucket_cache.h"
#include "query/sub_query_run.h"
#include "storage/codec/row_key.h"
#include "storage/engine/embedded.h"
#include "storage/points/points.h"
#include "tests/query/columns.h"
#include "tests/query/same_answers.h"
#include "tests/storage/engine/temp_folder.h"
#include "tests/support/fake_watch.h"

namespace hg::query {
namespace {

constexpr int64_t kStart = 1'700'006'400;
constexpr int kFoldHosts = 64, kFoldHours = 5, kStep = 10;
constexpr int64_t kMinuteMs = 60'000;

PointColumns Buckets(int64_t first_ms, std::initializer_list<double> values) {
  PointColumns out;
  out.all_double = true;
  for (const double v : values) {
    out.time_ms.push_back(first_ms + kMinuteMs * static_cast<int64_t>(out.time_ms.size()));
    out.bits.push_back(std::bit_cast<uint64_t>(v));
  }
  return out;
}

/// Passes all calls to another point store. Scans return every point if `every` is true. Otherwise
/// they are normal scans whose rows are counted.
class Watched : public Points {
 public:
  Watched(Points& points, bool every) : points_(points), every_(every) {}
  [[nodiscard]] const KeyLayout& layout() const override { return points_.layout(); }
  Result<SeriesNumber> Register(ByteView tsuid) override { return points_.Register(tsuid); }
  Result<LogPosition> Append(std::span<const PointEntry> batch) override {
    return points_.Append(batch);
  }
  void Commit(LogPosition position, std::function<void(Status)> done) override {
    points_.Commit(position, std::move(done));
  }
  Result<std::unique_ptr<PointScan>> Scan(const PointScanSpec& spec,
                                          const ReconcileOptions& options) override {
    PointScanSpec own = spec;
    own.statistics = spec.statistics && !every_;
    ASSIGN_OR_RETURN(auto scan, points_.Scan(own, options));
    return std::unique_ptr<PointScan>(new Counted(std::move(scan), this));
  }
  Status DeleteRows(const PointScanSpec& spec) override { return points_.DeleteRows(spec); }
  Status ListSeries(ByteView metric, const SeriesMatcher& matcher, RequestContext* watch,
                    const std::function<bool(ByteView tsuid)>& visit) override {
    return points_.ListSeries(metric, matcher, watch, visit);
  }
  [[nodiscard]] bool ListsFromIndex() const override { return points_.ListsFromIndex(); }

  size_t read = 0;                     // rows whose points were read
  size_t again = 0;                    // series that were requested again
  std::function<void()> before_again;  // called before a series is requested again; may be empty

 private:
  class Counted : public PointScan {
   public:
    Counted(std::unique_ptr<PointScan> scan, Watched* of) : scan_(std::move(scan)), of_(*of) {}
    Result<bool> Next(RowHour* row) override {
      auto more = scan_->Next(row);
      if (more.ok() && *more && row->statistics == nullptr) ++of_.read;
      return more;
    }
    Status Load(RowHour* row) override {
      ++of_.read;
      return scan_->Load(row);
    }
    [[nodiscard]] uint64_t RowsExpected() const override { return scan_->RowsExpected(); }
    [[nodiscard]] bool RepeatsSeries() const override {
      return !of_.every_ && scan_->RepeatsSeries();
    }
    void RepeatSeries() override {
      ++of_.again;
      if (of_.before_again) of_.before_again();
      scan_->RepeatSeries();
    }
    [[nodiscard]] uint32_t StepMs() const override { return scan_->StepMs(); }

   private:
    const std::unique_ptr<PointScan> scan_;
    Watched& of_;
  };
  Points& points_;
  const bool every_;
};

class FoldFixture {
 public:
  FoldFixture() {
    EmbeddedOptions options;
    options.path = folder_.path();
    options.background = false;
    auto opened = Embedded::Open(options);
    REQUIRE(opened.ok());
    store = std::move(*opened);
    names = std::make_unique<uid::Names>(store->cells(), uid::NamesOptions());
    folded_points = std::make_unique<Watched>(store->points(), false);
    every_point = std::make_unique<Watched>(store->points(), true);
    Options query_options;
    query_options.timezone = "UTC";
    const auto engine = [&](Points& points, std::shared_ptr<BucketCache> cache = nullptr) {
      return std::make_unique<Engine>(points, *names, store->cells(), SystemClock(), query_options,
                                      std::move(cache));
    };
    folded = engine(*folded_points);
    in_parts = engine(store->points());
    whole = engine(*every_point);
    for (int host = 0; host < kFoldHosts; ++host) {
      Bytes name = Id(UidKind::kTagk, "host");
      name += Id(UidKind::kTagv, "h" + std::to_string(host));
      tsuids.push_back(codec::MakeTsuid(Id(UidKind::kMetric, "m"), {name}));
    }
  }

  Bytes Id(UidKind kind, const std::string& name) { return *names->FindOrAssign(kind, name); }

  void Put(int host, int64_t offset_s, const PointValue& value) {
    const PointEntry entry =
        MakePointEntry(*store->points().Register(tsuids[static_cast<size_t>(host)]),
                       Timestamp{kStart + offset_s}, value);
    REQUIRE(store->points().Append({&entry, 1}).ok());
  }
  void PutInt(int host, int64_t offset_s, int64_t value) {
    Put(host, offset_s, PointValue::Int(value));
  }

  /// One point per step, with varying values.
  void Write(int host, int64_t from_s, int64_t until_s, int64_t step_s = kStep) {
    for (int64_t at = from_s; at < until_s; at += step_s) {
      const double wave = 50 * std::sin(static_cast<double>(at) / 2000 + host);
      const auto number = static_cast<int64_t>(wave) + static_cast<int64_t>(random() % 40) - 20;
      Put(host, at,
          host % 8 == 1 ? PointValue::Double(static_cast<double>(number) / 7)
                        : PointValue::Int(number));
    }
  }

  void DeleteHost(int host) {
    PointScanSpec spec;
    spec.metric = Id(UidKind::kMetric, "m");
    spec.matcher.tsuids = {tsuids[static_cast<size_t>(host)]};
    spec.rows = {static_cast<uint32_t>(kStart), static_cast<uint64_t>(kStart + kFoldHours * 3600)};
    REQUIRE(store->points().DeleteRows(spec).ok());
  }

  void ToFiles() {
    REQUIRE(store->cells().Flush().ok());
    REQUIRE(store->cells().Compact().ok());  // with statistics of rows
  }

  static SubQuery Ask(const std::string& aggregator, const std::string& downsample) {
    SubQuery query;
    query.aggregator = aggregator;
    query.metric = "m";
    query.downsample = downsample;
    return query;
  }

  static Result<Answer> Run(Engine& engine, const SubQuery& query, int64_t start_s = 0,
                            int64_t end_s = kFoldHours * 3600 - 1, bool trim = true) {
    Request request;
    request.start = std::to_string(kStart + start_s);
    request.end = std::to_string(kStart + end_s);
    request.queries = {query};
    ASSIGN_OR_RETURN(ValidQuery valid, engine.Validate(request, RequestContext::Unlimited()));
    return engine.Run(valid, {.trim = trim});
  }

  void CheckAll(const SubQuery& query, int64_t start_s = 0, int64_t end_s = kFoldHours * 3600 - 1,
                bool trim = true) {
    const Result<Answer> expected = Run(*whole, query, start_s, end_s, trim);
    for (Engine* engine : {folded.get(), in_parts.get()}) {
      const Result<Answer> answer = Run(*engine, query, start_s, end_s, trim);
      REQUIRE(answer.status().ToString() == expected.status().ToString());
      if (answer.ok()) CheckSame(*answer, *expected);
    }
  }

  /// Passes `work` a single sub-query that is charged to the watch and not opened yet.
  template <typename Work>
  void Alone(const SubQuery& query, int64_t end_s, FakeWatch* watch, const Work& work) {
    Request request;
    request.start = std::to_string(kStart);
    request.end = std::to_string(kStart + end_s);
    request.queries = {query};
    const Result<ValidQuery> valid = whole->Validate(request, RequestContext::Unlimited());
    REQUIRE(valid.ok());
    Options options;
    options.timezone = "UTC";
    LimitsFile limits("", 0, SystemClock());
    WorkerPool pool(1, 10);
    ResolvedFilters filters;
    const RunContext context{*valid, options, store->points(),  *names,  SystemClock(),
                             limits, true,    OnFailure::kFail, *watch,  store->cells(),
                             pool,   0,       filters,          nullptr, nullptr};
    SubQueryRun run(context, 0);
    work(run);
  }

  /// The number of rows that were read for the result.
  size_t ReadFor(const SubQuery& query, int64_t start_s = 0,
                 int64_t end_s = kFoldHours * 3600 - 1) {
    const size_t before = folded_points->read;
    REQUIRE(Run(*folded, query, start_s, end_s).ok());
    return folded_points->read - before;
  }

  std::mt19937_64 random{3};
  std::unique_ptr<Embedded> store;
  std::unique_ptr<uid::Names> names;
  std::unique_ptr<Watched> folded_points, every_point;
  std::unique_ptr<Engine> folded, in_parts, whole;
  std::vector<Bytes> tsuids;

 private:
  TempFolder folder_;
};

}  // namespace

TEST_CASE("a row is needed while one of its hour's buckets is below the row's maximum") {
  constexpr int64_t kBase = kStart * 1000;
  ExtremeFold fold(Function::kMax, kMinuteMs, kBase, kBase + 3 * kMinuteMs - 1);
  CHECK(fold.Needs(kBase, StatisticsFrom(1, 2)));
  fold.Take(Buckets(kBase, {5, 7}));
  CHECK(fold.Needs(kBase, StatisticsFrom(1, 2)));
  fold.Take(Buckets(kBase + kMinuteMs, {3, 6}));
  CHECK_FALSE(fold.Needs(kBase, StatisticsFrom(1, 5)));
  CHECK(fold.Needs(kBase, StatisticsFrom(1, 5.5)));
  CHECK_FALSE(
      fold.Needs(kBase + 3'600'000, StatisticsFrom(1, 100)));  // this hour is not in the result
  CHECK_FALSE(fold.Needs(kBase - 3'600'000, StatisticsFrom(1, 100)));
  const auto runs = fold.Runs();
  REQUIRE(runs.size() == 1);
  CHECK(runs[0].time_ms == Buckets(kBase, {0, 0, 0}).time_ms);
  CHECK(runs[0].bits == Buckets(kBase, {5, 7, 6}).bits);
}

TEST_CASE("the fold of minima keeps the lower values, and minutes without points stay absent") {
  constexpr int64_t kBase = kStart * 1000;
  ExtremeFold fold(Function::kMin, kMinuteMs, kBase + 1, kBase + 7'200'000);
  fold.Take(Buckets(kBase, {-9, 4, 3}));
  fold.Take(Buckets(kBase, {1, 2}));
  fold.Take(Buckets(kBase + 5 * kMinuteMs, {std::numeric_limits<double>::quiet_NaN(), 0}));
  CHECK(fold.Needs(kBase, StatisticsFrom(100, 200)));  // minutes without a bucket
  const auto runs = fold.Runs();
  REQUIRE(runs.size() == 2);
  CHECK(runs[0].bits == Buckets(kBase + kMinuteMs, {2, 3}).bits);
  CHECK(runs[0].time_ms.front() == kBase + kMinuteMs);
  CHECK(std::isnan(std::bit_cast<double>(runs[1].bits[0])));
  CHECK(runs[1].bits[1] == 0);
}

TEST_CASE("the floor of an hour is the minimum of its buckets, whatever rows were added") {
  constexpr int64_t kBase = kStart * 1000, kHourMs = 3'600'000;
  // The last ten buckets of an hour and the first ten of the next hour.
  constexpr int64_t kFirst = 50, kBuckets = 20;
  std::mt19937 random{11};
  const auto below = [&](int n) { return static_cast<int>(random() % static_cast<unsigned>(n)); };
  for (int round = 0; round < 200; ++round) {
    CAPTURE(round);
    ExtremeFold fold(Function::kMax, kMinuteMs, kBase + kFirst * kMinuteMs,
                     kBase + (kFirst + kBuckets) * kMinuteMs - 1);
    std::vector<double> most(kBuckets, -std::numeric_limits<double>::infinity());
    for (int step = 0; step < 100; ++step) {
      const int64_t from = below(kBuckets);
      const int64_t until = std::min<int64_t>(kBuckets, from + 1 + below(4));
      PointColumns buckets;
      buckets.all_double = true;
      for (int64_t i = from; i < until; ++i) {
        const double value = below(20) == 0 ? std::numeric_limits<double>::quiet_NaN() : below(50);
        buckets.time_ms.push_back(kBase + (kFirst + i) * kMinuteMs);
        buckets.bits.push_back(std::bit_cast<uint64_t>(value));
        double& at = most[static_cast<size_t>(i)];
        if (value > at) at = value;
      }
      fold.Take(buckets);
      const double first = *std::min_element(most.begin(), most.begin() + 10);
      const double second = *std::min_element(most.begin() + 10, most.end());
      const double some = below(50);
      REQUIRE(fold.Needs(kBase, StatisticsFrom(0, some)) == (some > first));
      REQUIRE(fold.Needs(kBase + kHourMs, StatisticsFrom(0, some)) == (some > second));
    }
  }
}

TEST_CASE_FIXTURE(FoldFixture, "buckets are counted as work, and are not created for few rows") {
  for (int host = 0; host < kFoldHosts; ++host) PutInt(host, host, host);
  constexpr int64_t kDay = 24 * 3600;
  const auto opened = [&](const char* downsample, int64_t end_s, FakeWatch* watch) {
    Alone(Ask("max", downsample), end_s, watch, [](SubQueryRun& run) {
      REQUIRE(run.Open().ok());
      REQUIRE(run.Run().ok());
      CHECK(run.groups().at(0).points.size() > 0);
    });
  };
  FakeWatch minutes, seconds, many;
  opened("1m-max", kDay - 1, &minutes);
  opened("1s-max", kDay - 1, &seconds);
  CHECK(seconds.steps > minutes.steps + (kDay - kDay / 60) / 8 - 1000);
  CHECK(seconds.bytes_most > kDay * 20);
  opened("1ms-max", 1000, &many);  // a million for these 64 rows
  CHECK(many.bytes_most < 2'000'000);
  CheckAll(Ask("max", "1s-max"), 0, kDay - 1);
  CheckAll(Ask("max", "1ms-max"), 0, 1000);
}

TEST_CASE_FIXTURE(FoldFixture, "a sub-query with complete groups holds no memory of the fold") {
  for (int host = 0; host < kFoldHosts; ++host) PutInt(host, host, host);
  const auto in_use = [] {
    const struct mallinfo2 info = mallinfo2();
    return static_cast<int64_t>(info.uordblks + info.hblkhd);
  };
  constexpr int64_t kDay = 24 * 3600;
  for (int round = 0; round < 2; ++round) {  // the first round fills caches
    FakeWatch watch;
    Alone(Ask("max", "1s-max"), kDay - 1, &watch, [&](SubQueryRun& run) {
      const int64_t before = in_use();
      REQUIRE(run.Run().ok());
      CHECK(watch.bytes_most > kDay * 20);
      CHECK(watch.bytes < kDay * 4);
      if (round > 0) CHECK(in_use() - before < kDay * 4);
    });
  }
}

TEST_CASE_FIXTURE(FoldFixture, "most rows of many series need not be read") {
  for (int host = 0; host < kFoldHosts; ++host) {
    for (int64_t at = 0; at < kFoldHours * 3600; at += kStep) {
      // The first host always has the maximum, the last one the minimum.
      PutInt(host, at, 1000 - host * 10 + static_cast<int64_t>(random() % 8));
    }
  }
  ToFiles();
  CHECK(ReadFor(Ask("max", "1m-max")) == kFoldHours);
  CHECK(ReadFor(Ask("mimmax", "5m-mimmax")) == kFoldHours);
  CHECK(ReadFor(Ask("min", "1m-min")) == kFoldHosts * kFoldHours);
  CHECK(ReadFor(Ask("max", "1m-max"), 4000, 4299) == 1);
  CHECK(ReadFor(Ask("max", "1m-min")) == kFoldHosts * kFoldHours);
  CHECK(ReadFor(Ask("max", "1h-max")) == 0);
  for (const char* downsample : {"1m-max", "10s-max", "30m-max", "7m-max", "1m-max-nan"}) {
    for (const char* aggregator : {"max", "mimmax", "min", "none"}) {
      CAPTURE(downsample);
      CAPTURE(aggregator);
      CheckAll(Ask(aggregator, downsample));
      CheckAll(Ask(aggregator, downsample), 1234, 9876);
      CheckAll(Ask(aggregator, downsample), 1234, 9876, false);
      CheckAll(Ask(aggregator, downsample), 4000, 4299);
    }
  }
}

TEST_CASE_FIXTURE(FoldFixture, "gaps outside the requested time do not make a series be read") {
  constexpr int64_t kBegin = 3600, kEnd = 4 * 3600;
  for (int host = 0; host < kFoldHosts; ++host) {
    PutInt(host, 100 + host, 5000);
    for (int64_t at = kBegin; at < kEnd; at += kStep) {
      PutInt(host, at, 1000 - host * 10 + static_cast<int64_t>(random() % 8));
    }
    PutInt(host, kEnd + 900 + host, 5000);
  }
  for (const bool files : {true, false}) {
    if (files) ToFiles();
    CAPTURE(files);
    for (const int64_t start_s : {kBegin, kBegin + 30, kBegin + 1234}) {
      for (const int64_t end_s : {kEnd - 1, kEnd - 60, kEnd - 61, kEnd + 30, kEnd - 1234}) {
        CAPTURE(start_s);
        CAPTURE(end_s);
        CheckAll(Ask("max", "1m-max"), start_s, end_s);
        CheckAll(Ask("max", "7m-max"), start_s, end_s);
        CheckAll(Ask("max", "10m-max"), start_s, end_s, false);
      }
    }
    if (files) {
      // The query reads the first row of each series, because its single point has no step. It also
      // reads the other rows of the series with the maximum.
      CHECK(ReadFor(Ask("max", "1m-max"), kBegin, kEnd - 1) == kFoldHosts + 3);
      for (int host = 0; host < kFoldHosts; ++host) PutInt(host, kEnd + 2000, 6000);
    }
  }
}

TEST_CASE_FIXTURE(FoldFixture,
                  "series with gaps, with points in part of the time, or with "
                  "irregular intervals give correct results") {
  for (int host = 0; host < kFoldHosts; ++host) {
    const int64_t end = kFoldHours * 3600;
    switch (host % 16) {
      case 3:  // missing for a while
        Write(host, 0, 4000 + host * 40);
        Write(host, 5000 + host * 40, end);
        break;
      case 5:
        Write(host, 3600 * (host % 4) + host, end);
        break;
      case 7:
        Write(host, 0, 3600 * (1 + host % 4) + host * 10);
        break;
      case 9:  // whole hours are missing
        Write(host, 0, 3600);
        Write(host, 3600 * 3, end);
        break;
      case 11:
        Write(host, 0, end, 33);
        break;
      case 13:  // points in some buckets only
        Write(host, 0, 3600);
        Write(host, 3600, end, 150);
        break;
      default:
        Write(host, 0, end);
    }
  }
  for (const bool files : {false, true}) {
    if (files) ToFiles();
    for (const char* function : {"max", "min", "mimmax", "mimmin"}) {
      for (const char* interval : {"1m", "20s", "5m", "45s", "10s", "1h"}) {
        const SubQuery query = Ask(function, std::string(interval) + "-" + function);
        CAPTURE(files);
        CAPTURE(function);
        CAPTURE(interval);
        CheckAll(query);
        CheckAll(query, 1777, 3600 * 4 + 100);
        CheckAll(query, 1777, 3600 * 4 + 100, false);
        CheckAll(query, 7300, 7400);
      }
    }
    SubQuery some = Ask("max", "1m-max");
    some.filters.push_back({"regexp", "host", "h[1-4].*", false});
    CheckAll(some);
    some.filters.Edit()[0].group_by = true;
    CheckAll(some);
    SubQuery rate = Ask("max", "1m-max");
    rate.rate = true;
    CheckAll(rate);
  }
  CHECK(folded_points->again > 100);
  CHECK(ReadFor(Ask("max", "1m-max")) < kFoldHosts * kFoldHours);
}

TEST_CASE_FIXTURE(FoldFixture,
                  "rows that are deleted before they are read again are not in the result") {
  for (int64_t at = 0; at < 3600; at += kStep) PutInt(0, at, 100);
  PutInt(0, 3600 + 1800, 100);  // a gap
  folded_points->before_again = [this] { DeleteHost(0); };
  const Result<Answer> answer = Run(*folded, Ask("max", "1m-max"), 0, 7199);
  REQUIRE(answer.ok());
  CHECK(folded_points->again == 1);
  for (const Group& group : answer->groups) CHECK(group.points.size() == 0);
}

TEST_CASE_FIXTURE(FoldFixture, "rows after deleted ones are still in the result") {
  for (int64_t at = 0; at < 2 * 3600; at += kStep) PutInt(0, at, 100);
  PutInt(0, 2 * 3600 + 1800, 100);  // a gap
  for (int64_t at = 0; at < kFoldHours * 3600; at += kStep) PutInt(1, at, 7);
  folded_points->before_again = [this] { DeleteHost(0); };
  const Result<Answer> answer = Run(*folded, Ask("max", "1m-max"));
  REQUIRE(answer.ok());
  CHECK(folded_points->again == 1);
  REQUIRE(answer->queries.size() == 1);
  CHECK(answer->queries[0].stats.rows_before == 3 + kFoldHours);
  CHECK(answer->queries[0].stats.rows_after == 3 + kFoldHours);
}

TEST_CASE_FIXTURE(FoldFixture, "newer points in memory, zeros of both signs and NaN are handled") {
  for (int host = 0; host < kFoldHosts; ++host) Write(host, 0, kFoldHours * 3600);
  ToFiles();
  const auto check = [&] {
    for (const char* function : {"max", "min", "mimmax"}) {
      CAPTURE(function);
      const SubQuery query = Ask(function, std::string("1m-") + function);
      CheckAll(query, 0, kFoldHours * 3600 + 3599);
      CheckAll(query, 3600, 7199);
    }
  };
  PutInt(40, 5005, 10'000);
  check();
  constexpr int64_t kLater = kFoldHours * 3600;
  for (int host = 0; host < kFoldHosts; ++host) {
    const PointValue zero =
        host % 3 == 0 ? PointValue::Int(0) : PointValue::Double(host % 3 == 1 ? -0.0 : 0.0);
    for (int64_t at = kLater; at < kLater + 60; at += kStep) Put(host, at, zero);
  }
  check();
  for (int host = 0; host < kFoldHosts; ++host) {
    for (int64_t at = kLater + 60; at < kLater + 180; at += kStep) {
      Put(host, at, PointValue::Double(std::numeric_limits<double>::quiet_NaN()));
    }
  }
  check();
  Put(9, 9005, PointValue::Double(-std::numeric_limits<double>::infinity()));
  check();
  Put(10, 9105, PointValue::Double(std::numeric_limits<double>::infinity()));
  check();
}

}  // namespace hg::query
