// Old hours are cached as buckets. Results must not differ from those without the cache.

#include "query/rows/bucket_cache.h"

#include <doctest/doctest.h>

#include <atomic>
#include <bit>
#include <memory>
#include <random>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "query/engine.h"
#include "query/plan/filter.h"
#include "query/plan/validate.h"
#include "query/sub_query_run.h"
#include "storage/codec/annotation.h"
#include "storage/codec/histogram.h"
#include "storage/codec/row_key.h"
#include "storage/engine/embedded.h"
#include "tests/fault/starve.h"
#include "tests/query/same_answers.h"
#include "tests/storage/engine/temp_folder.h"
#include "tests/support/cpu_time.h"
#include "tests/support/fake_watch.h"
#include "tests/support/manual_clock.h"

namespace hg::query {
namespace {

constexpr int64_t kStart = 1'700'006'400;
constexpr int64_t kHour = 3600;
constexpr int kHosts = 40, kHours = 9;
constexpr int64_t kNow = kStart + kHours * kHour + 20 * 60;  // kHours of them are old

class Fixture {
 public:
  explicit Fixture(KeyLayout layout = {}) {
    EmbeddedOptions options;
    options.path = folder_.path();
    options.layout = layout;
    options.background = false;
    auto opened = Embedded::Open(options, PosixFileSystem(), clock);
    REQUIRE(opened.ok());
    store = std::move(*opened);
    names = std::make_unique<uid::Names>(store->cells(), uid::NamesOptions());
    plain = MakeEngine(0);
    cached = MakeEngine(8 << 20);
  }

  std::unique_ptr<Engine> MakeEngine(int64_t cache_bytes_max, int64_t cells_max = 0) {
    Options options;
    options.timezone = "UTC";
    options.cells_max = cells_max;
    std::shared_ptr<BucketCache> cache;
    if (cache_bytes_max > 0) cache = BucketCache::Make(cache_bytes_max, store->watched(), clock);
    return std::make_unique<Engine>(store->points(), *names, store->cells(), clock, options, cache);
  }

  Bytes Id(UidKind kind, const std::string& name) { return *names->FindOrAssign(kind, name); }

  Bytes TsuidOf(const std::string& metric, int host) {
    Bytes dc = Id(UidKind::kTagk, "dc");
    dc += Id(UidKind::kTagv, "dc" + std::to_string(host % 3));
    Bytes name = Id(UidKind::kTagk, "host");
    name += Id(UidKind::kTagv, "h" + std::to_string(host));
    return codec::MakeTsuid(Id(UidKind::kMetric, metric), {dc, name});
  }

  // Points of one host have one type and width, so the same time overwrites.
  Status Put(int host, int64_t time_s, int value, const std::string& metric = "m") {
    const PointValue number =
        host % 2 == 0 ? PointValue::Double(value / 7.0) : PointValue::Int(value % 100);
    const PointEntry entry =
        MakePointEntry(*store->points().Register(TsuidOf(metric, host)), Timestamp{time_s}, number);
    return store->points().Append({&entry, 1}).status();
  }

  void Fill(int hosts = kHosts, int64_t step_s = 97) {
    for (int host = 0; host < hosts; ++host) {
      for (int64_t at = host; at < kNow - kStart; at += step_s + host)
        REQUIRE(Put(host, kStart + at, Random(1000)).ok());
    }
  }

  Bytes Key(int host, int64_t time_s) {
    return codec::MakeRowKey(store->points().layout(), TsuidOf("m", host),
                             static_cast<uint32_t>(time_s - time_s % kHour));
  }
  void Change(const Bytes& key, const CellChange& change) {
    REQUIRE(store->cells().Mutate("tsdb", {{key, {change}}}).ok());
  }
  void Note(int host, int64_t time_s) {
    codec::Annotation note;
    note.tsuid = ToHexUpper(TsuidOf("m", host));
    note.start_time = time_s;
    note.description = "note " + std::to_string(Random(1000));
    const codec::AnnotationPlace place = codec::PlaceAnnotation(note.start_time);
    Change(Key(host, place.base), PutCell("t", place.qualifier, codec::EncodeAnnotation(note)));
  }
  void PutHistogram(int host, int64_t time_s) {
    Change(Key(host, time_s), PutCell("t", codec::HistogramQualifier(Timestamp{time_s}),
                                      *codec::EncodeSimpleHistogram({0, {{0, 1, 5}}, 0, 0})));
  }
  void DeleteHours(int64_t from_s, int64_t hours) {
    PointScanSpec spec;
    spec.metric = Id(UidKind::kMetric, "m");
    spec.rows.begin = static_cast<uint32_t>(from_s - from_s % kHour);
    spec.rows.end = spec.rows.begin + static_cast<uint64_t>(hours * kHour);
    REQUIRE(store->points().DeleteRows(spec).ok());
  }

  static SubQuery Ask(const std::string& aggregator, const std::string& downsample,
                      const char* type = "", const char* tagk = "", const char* filter = "",
                      bool group_by = false) {
    SubQuery query;
    query.aggregator = aggregator;
    query.metric = "m";
    if (!downsample.empty()) query.downsample = downsample;
    if (type[0] != '\0') query.filters.push_back({type, tagk, filter, group_by});
    return query;
  }

  static Result<Answer> Run(Engine& engine, const SubQuery& query, int64_t start_s, int64_t end_s,
                            RunningRequest* running = nullptr) {
    Request request;
    request.start = std::to_string(start_s);
    request.end = std::to_string(end_s);
    request.queries.push_back(query);
    ASSIGN_OR_RETURN(ValidQuery valid, engine.Validate(request, RequestContext::Unlimited()));
    return engine.Run(valid, {.request = running});
  }

  /// Runs the query with and without the cache. The results must be equal.
  void Compare(const SubQuery& query, int64_t start_s = kStart, int64_t end_s = kNow) {
    const Result<Answer> a = Run(*cached, query, start_s, end_s);
    const Result<Answer> b = Run(*plain, query, start_s, end_s);
    REQUIRE(a.status().ToString() == b.status().ToString());
    if (a.ok()) CheckSame(*a, *b);
  }

  /// Runs the query three times. The first run has to read most rows and caches nothing, the second
  /// one caches all old hours, and the third one finds them.
  void CheckGreatestKeptFromSecondOn() {
    const SubQuery query = Ask("max", "1m-max");
    Compare(query);
    CHECK(Stats().hours == 0);
    Compare(query);
    CHECK(Stats().hours == kHours);
    Compare(query);
    CHECK(Stats().hits == kHours);
  }
  [[nodiscard]] BucketCacheStats Stats() const { return cached->cache()->Stats(); }
  int Random(int below) { return static_cast<int>(random() % static_cast<unsigned>(below)); }

  std::mt19937 random{7};
  ManualClock clock{kNow * 1000};

 private:
  TempFolder folder_;

 public:
  std::unique_ptr<Embedded> store;
  std::unique_ptr<uid::Names> names;
  std::unique_ptr<Engine> plain, cached;
};

class SaltedFixture : public Fixture {
 public:
  SaltedFixture() : Fixture({.salt_width = 1, .salt_buckets = 4}) {}
};

class History {
 public:
  explicit History(Fixture& on) : on_(on) {}

  /// Current and late points, deletes, new names, and other changes of old hours.
  void Step() {
    const int host = on_.Random(kHosts);
    const int64_t now_s = on_.clock.NowMs() / 1000;
    const int64_t some_time = kStart + on_.Random(static_cast<int>(now_s - kStart));
    switch (on_.Random(16)) {
      case 0:
        on_.clock.AdvanceMs(on_.Random(600'000));
        return;
      case 1:
        on_.Note(host, some_time);
        return;
      case 2:
        on_.Change(on_.Key(host, some_time), {CellChange::Kind::kDeleteFamily, "t", {}, {}, {}});
        return;
      case 3:
        on_.PutHistogram(host, some_time);
        return;
      case 4:
        if (on_.Random(4) == 0) on_.DeleteHours(some_time, 1 + on_.Random(2));
        return;
      case 5:
        if (on_.Random(3) == 0) REQUIRE(on_.store->cells().Flush().ok());
        if (on_.Random(3) == 0) REQUIRE(on_.store->cells().Compact().ok());
        return;
      case 6:  // a point of a series that may be new
        REQUIRE(on_.Put(kHosts + on_.Random(10), some_time, on_.Random(1000)).ok());
        return;
      case 7: {
        const std::string name = "h" + std::to_string(host);
        (void)on_.names->Rename(UidKind::kTagv, name, "x" + name);
        (void)on_.names->Rename(UidKind::kTagv, "x" + std::to_string(on_.Random(kHosts)), name);
        return;
      }
      case 8:
        REQUIRE(on_.Put(host, some_time, on_.Random(1000), "another").ok());
        return;
      case 9:
        for (int i = 0; i < 30; ++i)
          REQUIRE(on_.Put(on_.Random(kHosts), now_s - on_.Random(4000), on_.Random(1000)).ok());
        return;
      case 10:
        if (on_.Random(3) == 0) PutStray(on_.Key(host, some_time));
        return;
      case 11:
        for (const Bytes& key : strays_)
          on_.Change(key, {CellChange::Kind::kDeleteFamily, "t", {}, {}, {}});
        strays_.clear();
        return;
      default:
        REQUIRE(on_.Put(host, some_time, on_.Random(1000)).ok());
    }
  }

  void AskSome() {
    static constexpr const char* kDownsample[] = {
        "1m-avg",   "1m-avg-nan", "5m-max-zero", "20m-p95",     "1h-first", "30s-count",
        "10m-last", "1h-dev",     "15m-sum",     "2m-min-null", "20m-max",  "7m-sum"};
    static constexpr const char* kAggregators[] = {"sum", "avg", "none", "zimsum", "dev", "max"};
    struct Filter {
      const char *type, *tagk, *text;
    };
    static constexpr Filter kFilters[] = {{"", "", ""},
                                          {"wildcard", "host", "*"},
                                          {"wildcard", "host", "h1*"},
                                          {"literal_or", "dc", "dc0|dc2"}};
    const int64_t now_s = on_.clock.NowMs() / 1000;
    const Filter& filter = kFilters[on_.Random(4)];
    SubQuery query = Fixture::Ask(kAggregators[on_.Random(6)], kDownsample[on_.Random(12)],
                                  filter.type, filter.tagk, filter.text, on_.Random(2) == 0);
    query.rate = on_.Random(3) == 0;
    CAPTURE(*query.downsample);
    CAPTURE(filter.text);
    const int64_t hours = 3 + on_.Random(6);
    const int64_t until = now_s - (on_.Random(3) == 0 ? on_.Random(4) * kHour : 0);
    on_.Compare(query, until - hours * kHour - on_.Random(100), until);
  }

 private:
  /// Stores a second row of a series in an hour: with the salt of another bucket, or with a base
  /// half an hour later.
  void PutStray(Bytes key) {
    const KeyLayout& layout = on_.store->points().layout();
    if (layout.salt_width > 0 && on_.Random(2) == 0) {
      key[0] = static_cast<char>((key[0] + 1) % layout.salt_buckets);
    } else {
      const auto base = static_cast<size_t>(layout.salt_width + layout.metric_width);
      codec::SetRowKeyBase(layout, ReadBig32(key.data() + base) + 1800, &key);
    }
    on_.Change(key, PutCell("t", Bytes("\x10\0", 2), Bytes("\5", 1)));
    strays_.push_back(std::move(key));
  }

  Fixture& on_;
  std::vector<Bytes> strays_;
};

void CheckHistory(Fixture& on, int steps) {
  on.Fill();
  History history(on);
  for (int i = 0; i < steps; ++i) {
    CAPTURE(i);
    history.Step();
    history.AskSome();
    if (i % 4 == 0) history.AskSome();
  }
  const BucketCacheStats stats = on.Stats();
  CHECK(stats.hits > 100);
  CHECK(stats.stale > 10);
  CHECK(stats.hours > 0);
}

}  // namespace

TEST_CASE_FIXTURE(Fixture, "after any change, results equal those without the cache, bit for bit") {
  CheckHistory(*this, 600);
}

TEST_CASE_FIXTURE(SaltedFixture,
                  "results also equal those without the cache if series are salted") {
  CheckHistory(*this, 300);
}

TEST_CASE_FIXTURE(Fixture, "a second query reads the newest hours only") {
  Fill();
  const SubQuery query = Ask("sum", "1m-avg", "wildcard", "host", "h*", true);
  Compare(query);
  CHECK(Stats().hits == 0);
  CHECK(Stats().misses == kHours);
  CHECK(Stats().hours == kHours);
  Compare(query);
  CHECK(Stats().hits == kHours);
  CHECK(Stats().misses == kHours);
  clock.AdvanceMs(kHour * 1000);  // the next hour is old now and is not cached yet
  Compare(query, kStart + 2 * kHour, kNow + kHour);
  CHECK(Stats().hits == 2 * kHours - 2);
  CHECK(Stats().misses == kHours + 1);
  Compare(query, kStart + 3 * kHour, kStart + 5 * kHour - 120);  // nothing remains to be read
  CHECK(Stats().hits == 2 * kHours);
}

TEST_CASE_FIXTURE(Fixture, "fill policies, rates and groups are applied after the cache") {
  Fill();
  Compare(Ask("sum", "5m-avg"));
  for (const char* downsample : {"5m-avg-nan", "5m-avg-zero", "5m-avg-null", "300s-avg"})
    Compare(Ask("max", downsample));
  SubQuery rate = Ask("none", "5m-avg");
  rate.rate = true;
  Compare(rate);
  CHECK(Stats().misses == kHours);
  CHECK(Stats().hits == 5 * kHours);
}

TEST_CASE_FIXTURE(Fixture, "maxima of maxima are cached once most rows had to be read") {
  Fill();
  CheckGreatestKeptFromSecondOn();
  CHECK(Stats().misses == kHours);
}

TEST_CASE_FIXTURE(Fixture,
                  "maxima are also cached if rows were skipped first and had to be read later") {
  for (int host = 0; host < kHosts; ++host) {
    for (int64_t at = 0; at < kNow - kStart; at += 20) {
      const int64_t in_last =
          at - (kHours - 1) * kHour;  // time since the start of the last old hour
      if (in_last >= 600 && in_last < 900) continue;
      REQUIRE(Put(host, kStart + at, host == 0 ? 1000 : 1 + Random(90)).ok());
    }
  }
  REQUIRE(store->cells().Flush().ok());
  REQUIRE(store->cells().Compact().ok());  // the scan also returns statistics of rows
  CheckGreatestKeptFromSecondOn();
}

TEST_CASE_FIXTURE(
    Fixture, "maxima are also cached if a zero of the other sign made all rows be read again") {
  Fill(3, 20);
  const PointEntry zero = MakePointEntry(*store->points().Register(TsuidOf("m", kHosts)),
                                         Timestamp{kStart + 5 * kHour}, PointValue::Double(-0.0));
  REQUIRE(store->points().Append({&zero, 1}).ok());
  CheckGreatestKeptFromSecondOn();
}

TEST_CASE_FIXTURE(Fixture, "a late point is in the next result") {
  Fill();
  const SubQuery query = Ask("zimsum", "1m-count");
  const auto count = [&] {
    double sum = 0;
    const Result<Answer> answer = Run(*cached, query, kStart, kNow);
    REQUIRE(answer.ok());
    for (const uint64_t bits : answer->groups.at(0).points.bits) sum += std::bit_cast<double>(bits);
    return sum;
  };
  const double before = count();
  CHECK(count() == before);
  CHECK(Put(0, kStart + 3 * kHour + 1, 5).ok());
  CHECK(count() == before + 1);
  CHECK(Stats().stale == 1);
  CHECK(Stats().hits == kHours + 3);   // the earlier ones are still valid
  CHECK(Put(99, kStart + 1, 5).ok());  // of a new series
  CHECK(count() == before + 2);
  Compare(query);
}

TEST_CASE_FIXTURE(Fixture, "points of another metric do not invalidate cached hours") {
  Fill();
  const SubQuery query = Ask("sum", "1m-avg");
  Compare(query);
  CHECK(Put(0, kStart + 5, 5, "another").ok());
  Compare(query);
  CHECK(Stats().hits == kHours);
}

TEST_CASE_FIXTURE(Fixture, "queries that buckets of hours cannot answer are not cached") {
  Fill();
  for (const char* downsample : {"", "1h-sum", "2h-p95", "7m-avg", "0all-sum", "1dc-sum"})
    Compare(Ask("sum", downsample));
  SubQuery values = Ask("sum", "1m-avg");
  values.value_filter = "> 5";
  Compare(values);
  SubQuery histograms = Ask("sum", "1m-sum");
  histograms.percentiles = {50.0};
  PutHistogram(1, kStart + 5);
  Compare(histograms);
  CHECK(Stats().hits + Stats().misses == 0);
  const auto limited = MakeEngine(8 << 20, 1'000'000);
  CHECK(Run(*limited, Ask("sum", "1m-avg"), kStart, kNow).ok());
  CHECK(limited->cache()->Stats().misses == 0);
}

TEST_CASE_FIXTURE(Fixture, "nothing is cached if the table has a TTL") {
  Fill();
  const SubQuery query = Ask("sum", "1m-avg");
  const auto set_ttl = [this](int64_t ttl_s) {
    TableDescriptor table = *store->cells().DescribeTable("tsdb");
    table.families[0].ttl_s = ttl_s;
    REQUIRE(store->cells().AlterTable(table).ok());
  };
  Compare(query);
  set_ttl(4 * kHour);
  Compare(query);
  clock.AdvanceMs(kHour * 1000);
  Compare(query, kStart, kNow + kHour);
  REQUIRE(store->cells().Compact().ok());  // removes the expired points
  set_ttl(kTtlForever);
  Compare(query, kStart, kNow + kHour);
  CHECK(Stats().hits == 0);
}

TEST_CASE_FIXTURE(
    Fixture,
    "a point beyond the end of its row's hour is in the same bucket as without the cache") {
  Fill();
  const Bytes qualifier("\xE7\x40", 2);  // 3700 s after the base, one byte
  const SubQuery query = Ask("none", "1m-sum");
  Compare(query);
  Change(Key(1, kStart + 2 * kHour), PutCell("t", qualifier, Bytes("\5", 1)));
  Compare(query);
  Compare(query);
  Compare(query, kStart + 3 * kHour, kNow);
}

TEST_CASE_FIXTURE(Fixture, "a row that cannot be read fails each query that reads it") {
  Fill();
  const SubQuery query = Ask("sum", "1m-sum");
  Compare(query);
  // The same time with two widths.
  Change(Key(1, kStart + 4 * kHour), PutCell("t", Bytes("\0\x20", 2), Bytes("\5", 1)));
  Change(Key(1, kStart + 4 * kHour), PutCell("t", Bytes("\0\x21", 2), Bytes("\0\6", 2)));
  CHECK_FALSE(Run(*cached, query, kStart, kNow).ok());
  Compare(query);
  DeleteHours(kStart + 4 * kHour, 1);
  CHECK(Run(*cached, query, kStart, kNow).ok());
  Compare(query);
  // A key that does not belong to a series.
  Change(Key(1, kStart + 5 * kHour) + "x", PutCell("t", Bytes("\0\0", 2), Bytes("\5", 1)));
  CHECK_FALSE(Run(*cached, query, kStart, kNow).ok());
  Compare(query);
}

TEST_CASE_FIXTURE(Fixture, "the cache stays within its size") {
  Fill();
  constexpr int64_t kBytes = 200'000;
  cached = MakeEngine(kBytes);
  const char* const functions[] = {"avg", "sum", "min", "max", "count", "first", "last", "dev"};
  for (int round = 0; round < 2; ++round) {
    for (const char* function : functions) {
      Compare(Ask("none", std::string("5m-") + function));
      CHECK(Stats().bytes <= kBytes);
    }
  }
  CHECK(Stats().evicted > 0);
  CHECK(Stats().hours > 0);
  Compare(Ask("none", "5m-dev"));
  CHECK(Stats().hits > 0);
  cached = MakeEngine(1);  // there is no memory for any entry
  Compare(Ask("none", "5m-dev"));
  CHECK(Stats().hours == 0);
  CHECK(Stats().bytes == 0);
}

TEST_CASE_FIXTURE(Fixture, "an hour with two rows of one series bypasses the cache") {
  Fill(3);
  const SubQuery query = Ask("none", "1m-sum");
  const Bytes key = codec::MakeRowKey(store->points().layout(), TsuidOf("m", 1), kStart + 1800);
  Change(key, PutCell("t", Bytes("\x10\0", 2), Bytes("\5", 1)));
  Compare(query);
  Compare(query);
  CHECK(Stats().hours == 0);
  Compare(query, kStart + 2 * kHour);  // a query that does not read the row
  CHECK(Stats().hours == kHours - 2);
}

TEST_CASE_FIXTURE(Fixture,
                  "a sub-query with too many buckets caches its first hours and evicts "
                  "no hours of other queries") {
  Fill();
  cached = MakeEngine(100'000);
  const SubQuery small = Ask("none", "5m-dev"), large = Ask("none", "1m-dev");
  const auto hits = [&](const SubQuery& query) {
    const uint64_t before = Stats().hits;
    Compare(query);
    return Stats().hits - before;
  };
  CHECK(hits(small) == 0);
  CHECK(hits(large) == 0);
  CHECK(hits(large) > 0);
  CHECK(hits(large) > 0);
  CHECK(hits(small) > 0);
  CHECK(Stats().evicted == 0);
}

struct ManySeries : Fixture {
  static constexpr int kSeries = 300, kFound = 3;
  ManySeries() {
    for (int host = 0; host < kSeries; ++host) {
      for (int hour = 0; hour < kFound; ++hour)
        REQUIRE(Put(host, kStart + hour * kHour + host, 1).ok());
    }
  }
  Result<Answer> Ask3(const SubQuery& query) { return Run(*cached, query, kStart, kEnd); }
  static constexpr int64_t kEnd = kStart + kFound * kHour - 120;  // nothing remains to be read
};

TEST_CASE_FIXTURE(ManySeries, "many cached rows are not put together on an event loop") {
  const SubQuery many = Ask("none", "1m-sum");
  const SubQuery few = Ask("none", "1m-sum", "literal_or", "host", "h1|h2");
  const auto refused = [&](const SubQuery& query) {
    REQUIRE(Ask3(query).ok());
    const auto running = cached->running().Begin("", {});
    running->TryOnLoop(UINT64_MAX);
    const bool answered = Run(*cached, query, kStart, kEnd, running.get()).ok();
    CHECK(answered != running->refused());
    return running->refused();
  };
  CHECK_FALSE(refused(few));
  CHECK(refused(many));
  CHECK(Stats().hits == 2 * kFound);
}

TEST_CASE_FIXTURE(ManySeries,
                  "a request that has ended is noticed before its cached series are put together") {
  Options options;
  options.timezone = "UTC";
  const auto cache = BucketCache::Make(8 << 20, store->watched(), clock);
  cached = std::make_unique<Engine>(store->points(), *names, store->cells(), clock, options, cache);
  REQUIRE(Ask3(Ask("none", "1m-sum")).ok());
  Request request;
  request.start = std::to_string(kStart);
  request.end = std::to_string(kEnd);
  request.queries.push_back(Ask("none", "1m-sum"));
  const Result<ValidQuery> valid = cached->Validate(request, RequestContext::Unlimited());
  REQUIRE(valid.ok());
  LimitsFile limits("", 0, clock);
  FakeWatch watch;
  WorkerPool pool(1, 10);
  ResolvedFilters filters;
  const RunContext context{*valid, options, store->points(),  *names,      clock,
                           limits, true,    OnFailure::kFail, watch,       store->cells(),
                           pool,   1,       filters,          cache.get(), nullptr};
  SubQueryRun run(context, 0);
  REQUIRE(run.Open().ok());
  CHECK(cache->Stats().hits == kFound);
  watch.steps = 0;
  watch.steps_max = 0;
  CHECK(run.Run().code() == StatusCode::kDeadlineExceeded);
  CHECK(watch.steps == kSeries);
}

TEST_CASE_FIXTURE(Fixture, "a long cache key is looked up once for all hours of a query") {
  const auto cache = BucketCache::Make(64 << 20, store->watched(), clock);
  constexpr size_t kHours = 1000;
  const Bytes shape(4 << 20, 'a');  // the TSUIDs of some hundred thousand series
  const double cpu_s = CpuSecondsOf([&] {
    std::vector<BucketCache::NewHour> hours;
    for (size_t i = 0; i < kHours; ++i)
      hours.push_back(
          {0, BucketHour(static_cast<uint32_t>(kStart + static_cast<int64_t>(i) * kHour))});
    cache->Keep(shape, std::move(hours));
  });
  CHECK(cache->Stats().hours == kHours);
  CHECK(cpu_s < 0.5);  // one look-up for each hour took several seconds
}

TEST_CASE_FIXTURE(Fixture, "if there is no memory to cache an hour, the cache stays unchanged") {
  constexpr int64_t kBytes = 8000;
  const auto cache = BucketCache::Make(kBytes, store->watched(), clock);
  const auto keep = [&](const Bytes& shape, int64_t base_s) {
    bool failed = true;
    for (int64_t n = 0; failed; ++n) {
      CAPTURE(n);
      const BucketCacheStats before = cache->Stats();
      const bool ok = Starve(n, &failed, [&] {
        std::vector<BucketCache::NewHour> hours;
        hours.push_back({0, BucketHour(static_cast<uint32_t>(base_s))});
        cache->Keep(shape, std::move(hours));
        return Status();
      });
      CHECK(ok != failed);
      if (ok) break;
      CHECK(cache->Stats().hours == before.hours);
      CHECK(cache->Stats().bytes == before.bytes);
    }
  };
  const Bytes metric(3, '\1');
  const auto found = [&](const Bytes& shape, int64_t base_s) {
    const auto begin = static_cast<uint32_t>(base_s);
    return cache->Find(shape, metric, {begin, uint64_t{begin} + kHour}).found.size();
  };
  const Bytes first(100, 'a'), second(100, 'b');
  keep(first, kStart);
  keep(first, kStart + kHour);
  CHECK(cache->Stats().hours == 2);
  keep(first, kStart);  // the same hour again
  CHECK(cache->Stats().hours == 2);
  CHECK(found(first, kStart) == 1);
  CHECK(found(first, kStart + kHour) == 1);
  for (int i = 0; i < 100; ++i) keep(second, kStart + (i % 50) * kHour);
  CHECK(cache->Stats().evicted > 0);
  CHECK(cache->Stats().bytes <= kBytes);
  CHECK(found(first, kStart) == 0);
}

TEST_CASE_FIXTURE(Fixture, "a query does not fail because the cache has no memory") {
  Fill(3);
  const SubQuery query = Ask("none", "1m-sum");
  int without = 0;
  bool failed = true;
  for (int64_t n = 0; failed; ++n) {
    REQUIRE(Put(0, kStart + 1, static_cast<int>(n % 1000)).ok());  // everything must be read again
    const bool ok = Starve(n, &failed, [&] { return Run(*cached, query, kStart, kNow).status(); });
    without += ok && failed ? 1 : 0;
  }
  CHECK(without > 10);
  Compare(query);
}

// Each reader sees the writes acknowledged before its query, while other writers add late points to
// the same hours.
TEST_CASE_FIXTURE(
    Fixture, "a query finds all points acknowledged before it, while other writers add points") {
  constexpr int kWriters = 2, kReaders = 2, kPoints = 300;
  std::atomic<int> acknowledged[kWriters] = {};
  std::atomic<int> writing{kWriters}, asked{0};
  std::vector<std::thread> threads;
  for (int w = 0; w < kWriters; ++w) {
    const SeriesNumber series = *store->points().Register(TsuidOf("m", w));
    threads.emplace_back([&, w, series] {
      while (asked == 0)
        std::this_thread::yield();  // so that a cached result exists that could become stale
      for (int i = 0; i < kPoints; ++i) {
        const int64_t time_s = kStart + (i % kHours) * kHour + i;
        const PointEntry entry = MakePointEntry(series, Timestamp{time_s}, PointValue::Int(1));
        CHECK(store->points().Append({&entry, 1}).ok());
        acknowledged[w] = i + 1;
      }
      --writing;
    });
  }
  for (int r = 0; r < kReaders; ++r) {
    threads.emplace_back([&] {
      for (bool last = false; !last;) {
        last = writing == 0;
        const int least = acknowledged[0] + acknowledged[1];
        const Result<Answer> answer = Run(*cached, Ask("zimsum", "1m-count"), kStart, kNow);
        double points = 0;
        if (answer.ok() && !answer->groups.empty()) {
          for (const uint64_t bits : answer->groups[0].points.bits)
            points += std::bit_cast<double>(bits);
        }
        CHECK(answer.ok());
        CHECK(points >= least);
        if (last) CHECK(points == kWriters * kPoints);
        ++asked;
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  CHECK(Stats().stale > 0);
}

}  // namespace hg::query
