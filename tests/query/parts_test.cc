// A long scan is divided into parts that several threads read. Results must not differ.

#include <doctest/doctest.h>

#include <algorithm>
#include <limits>
#include <memory>
#include <optional>
#include <random>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "query/engine.h"
#include "query/plan/filter.h"
#include "query/plan/validate.h"
#include "storage/codec/annotation.h"
#include "storage/codec/row_key.h"
#include "storage/engine/embedded.h"
#include "storage/points/points.h"
#include "tests/query/same_answers.h"
#include "tests/storage/engine/temp_folder.h"

namespace hg::query {
namespace {

constexpr int64_t kPartsStart = 1'700'006'400;
constexpr int kHosts = 60, kHours = 6;

/// Passes all calls to another point store. Its scans cannot be divided and return every point.
class WholeScans : public Points {
 public:
  explicit WholeScans(Points& points) : points_(points) {}
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
    PointScanSpec every = spec;
    every.statistics = false;
    ASSIGN_OR_RETURN(auto scan, points_.Scan(every, options));
    CHECK(scan->RowsExpected() >= 256);  // enough to be divided
    return std::unique_ptr<PointScan>(new Whole(std::move(scan)));
  }
  Status DeleteRows(const PointScanSpec& spec) override { return points_.DeleteRows(spec); }
  Status ListSeries(ByteView metric, const SeriesMatcher& matcher, RequestContext* watch,
                    const std::function<bool(ByteView tsuid)>& visit) override {
    return points_.ListSeries(metric, matcher, watch, visit);
  }
  [[nodiscard]] bool ListsFromIndex() const override { return points_.ListsFromIndex(); }

 private:
  class Whole : public PointScan {
   public:
    explicit Whole(std::unique_ptr<PointScan> scan) : scan_(std::move(scan)) {}
    Result<bool> Next(RowHour* row) override { return scan_->Next(row); }

   private:
    const std::unique_ptr<PointScan> scan_;
  };
  Points& points_;
};

class PartsFixture {
 public:
  explicit PartsFixture(KeyLayout layout = {}) {
    EmbeddedOptions options;
    options.path = folder_.path();
    options.layout = layout;
    options.background = false;
    auto opened = Embedded::Open(options);
    REQUIRE(opened.ok());
    store = std::move(*opened);
    names = std::make_unique<uid::Names>(store->cells(), uid::NamesOptions());
    Options query_options;
    query_options.timezone = "UTC";
    in_parts = std::make_unique<Engine>(store->points(), *names, store->cells(), SystemClock(),
                                        query_options);
    whole_points = std::make_unique<WholeScans>(store->points());
    whole = std::make_unique<Engine>(*whole_points, *names, store->cells(), SystemClock(),
                                     query_options);
    for (int host = 0; host < kHosts; ++host) {
      Bytes dc = Id(UidKind::kTagk, "dc");
      dc += Id(UidKind::kTagv, "dc" + std::to_string(host % 3));
      Bytes name = Id(UidKind::kTagk, "host");
      name += Id(UidKind::kTagv, "h" + std::to_string(host));
      tsuids.push_back(codec::MakeTsuid(Id(UidKind::kMetric, "m"), {dc, name}));
    }
    // Some rows are in files, some in memory, and some in both.
    Write(0, kHours * 3600 / 2);
    REQUIRE(store->cells().Flush().ok());
    REQUIRE(store->cells().Compact().ok());  // with statistics of rows
    Write(kHours * 3600 / 3, kHours * 3600);
    Note(7, 5000, "one");
    Note(51, 20000, "two");
  }

  Bytes Id(UidKind kind, const std::string& name) { return *names->FindOrAssign(kind, name); }

  void Put(int host, int64_t offset_s, const PointValue& value) {
    const PointEntry entry =
        MakePointEntry(*store->points().Register(tsuids[static_cast<size_t>(host)]),
                       Timestamp{kPartsStart + offset_s}, value);
    REQUIRE(store->points().Append({&entry, 1}).ok());
  }

  void Write(int64_t from_s, int64_t until_s) {
    for (int host = 0; host < kHosts; ++host) {
      const uint64_t step_max =
          host % 3 == 0
              ? 40
              : 400;  // so that every third host has enough points in an hour for row statistics
      for (int64_t at = from_s; at < until_s; at += 1 + static_cast<int64_t>(random() % step_max)) {
        const auto number = static_cast<int64_t>(random() % 10'000) - 3000;
        // Doubles for some hosts always and for the others sometimes, and late points for a few.
        const bool is_double = host % 2 == 0 || random() % 64 == 0;
        const int64_t late = host % 5 == 0 ? static_cast<int64_t>(random() % 300) : 0;
        const int64_t when = std::max(from_s, at - late);
        if (!written_[host].insert(when).second) continue;
        Put(host, when,
            is_double ? PointValue::Double(static_cast<double>(number) / 7)
                      : PointValue::Int(number));
      }
    }
  }

  void Note(int host, int64_t offset_s, const std::string& text) {
    const Bytes& tsuid = tsuids[static_cast<size_t>(host)];
    codec::Annotation note;
    note.tsuid = ToHexUpper(tsuid);
    note.start_time = kPartsStart + offset_s;
    note.description = text;
    const codec::AnnotationPlace place = codec::PlaceAnnotation(note.start_time);
    Bytes key;
    codec::AppendRowKey(store->points().layout(), tsuid, place.base, &key);
    const CellChange put{
        CellChange::Kind::kPut, "t", place.qualifier, codec::EncodeAnnotation(note), {}};
    REQUIRE(store->cells().Mutate("tsdb", {{key, {put}}}).ok());
  }

  static SubQuery Ask(const std::string& aggregator, const char* downsample, const char* type,
                      const char* tagk, const char* filter, bool group_by) {
    SubQuery query;
    query.aggregator = aggregator;
    query.metric = "m";
    if (downsample[0] != '\0') query.downsample = downsample;
    if (type[0] != '\0') query.filters.push_back({type, tagk, filter, group_by});
    return query;
  }

  static Result<Answer> Run(Engine& engine, const SubQuery& query, int64_t start_s = 0,
                            size_t times = 1, RunningRequest* running = nullptr) {
    Request request;
    request.start = std::to_string(kPartsStart + start_s);
    request.end = std::to_string(kPartsStart + kHours * 3600 - 1);
    for (size_t i = 1; i <= times; ++i) {
      // Each sub-query differs from the others, because equal sub-queries are evaluated only once.
      request.queries.push_back(query);
      const size_t minutes = query.downsample ? 60 + i : i;  // at least an hour, if it is used
      if (i > 1) request.queries.back().downsample = std::to_string(minutes) + "m-sum";
    }
    ASSIGN_OR_RETURN(ValidQuery valid, engine.Validate(request, RequestContext::Unlimited()));
    return engine.Run(valid, {.request = running});
  }

  std::mt19937_64 random{3};
  std::unique_ptr<Embedded> store;
  std::unique_ptr<uid::Names> names;
  std::unique_ptr<Engine> in_parts, whole;
  std::unique_ptr<WholeScans> whole_points;
  std::vector<Bytes> tsuids;

 private:
  TempFolder folder_;
  std::set<int64_t> written_[kHosts];
};

class SaltedPartsFixture : public PartsFixture {
 public:
  SaltedPartsFixture() : PartsFixture({.salt_width = 1, .salt_buckets = 4}) {}
};

}  // namespace

TEST_CASE_FIXTURE(PartsFixture, "a scan in parts gives the same result as one scan, bit for bit") {
  struct Filter {
    const char *type, *tagk, *text;
  };
  const Filter filters[] = {{"", "", ""},
                            {"wildcard", "host", "*"},
                            {"wildcard", "host", "h*"},
                            {"regexp", "host", "h[0-4].*"},
                            {"literal_or", "dc", "dc0|dc1"}};
  size_t points = 0;
  size_t notes = 0;
  for (const char* aggregator : {"sum", "avg", "max", "dev", "none", "zimsum"}) {
    for (const char* downsample : {"", "1h-avg", "7m-sum", "10m-max-nan", "1h-p95", "0all-count"}) {
      for (const Filter& filter : filters) {
        for (const bool rate : {false, true}) {
          CAPTURE(aggregator);
          CAPTURE(downsample);
          CAPTURE(filter.text);
          SubQuery query = Ask(aggregator, downsample, filter.type, filter.tagk, filter.text, rate);
          query.rate = rate;
          const Result<Answer> a = Run(*in_parts, query);
          const Result<Answer> b = Run(*whole, query);
          REQUIRE(a.ok());
          REQUIRE(b.ok());
          CheckSame(*a, *b);
          points += a->queries[0].stats.points_before;
          for (const Group& group : a->groups) notes += group.annotations.size();
        }
      }
    }
  }
  CHECK(points > 1'000'000);
  CHECK(notes > 100);
}

TEST_CASE_FIXTURE(
    SaltedPartsFixture,
    "a scan in parts also gives the same result if a row has the salt of another bucket") {
  Bytes key = codec::MakeRowKey(store->points().layout(), tsuids[2], kPartsStart + 3600);
  key[0] = static_cast<char>((key[0] + 1) % 4);
  const CellChange put{CellChange::Kind::kPut, "t", Bytes("\0\0", 2), Bytes("\5", 1), {}};
  REQUIRE(store->cells().Mutate("tsdb", {{key, {put}}}).ok());
  for (const char* downsample : {"", "7m-sum", "0all-count"}) {
    CAPTURE(downsample);
    const SubQuery query = Ask("none", downsample, "", "", "", false);
    const Result<Answer> a = Run(*in_parts, query);
    const Result<Answer> b = Run(*whole, query);
    REQUIRE(a.ok());
    REQUIRE(b.ok());
    CheckSame(*a, *b);
    CHECK(a->groups.size() == kHosts);
  }
}

TEST_CASE_FIXTURE(PartsFixture,
                  "a query that will read many rows in parts does not start on an event loop") {
  const SubQuery few = Ask("sum", "", "literal_or", "host", "h1|h2|h3|h4", false);
  const SubQuery many = Ask("sum", "", "wildcard", "host", "*", false);
  REQUIRE(Run(*in_parts, many).ok());  // from here on the file blocks are in memory
  const auto refused = [&](const SubQuery& query, size_t times) {
    const auto running = in_parts->running().Begin("", {});
    running->TryOnLoop(UINT64_MAX);
    const bool answered = Run(*in_parts, query, 0, times, running.get()).ok();
    CHECK(answered != running->refused());
    return running->refused();
  };
  CHECK_FALSE(refused(few, 1));
  CHECK_FALSE(refused(few, 4));
  CHECK(refused(few, 20));
  CHECK(refused(many, 1));

  // Rows are read quickly by their statistics.
  SubQuery by_hours = few;
  by_hours.downsample = "1h-sum";
  CHECK(refused(by_hours, 20));
  REQUIRE(store->cells().Flush().ok());
  REQUIRE(store->cells().Compact().ok());
  REQUIRE(Run(*in_parts, many).ok());
  CHECK_FALSE(refused(by_hours, 20));
  CHECK(refused(by_hours, 40));
}

TEST_CASE_FIXTURE(PartsFixture, "row statistics give the same results as the points, bit for bit") {
  REQUIRE(store->cells().Flush().ok());
  REQUIRE(store->cells().Compact().ok());
  PointScanSpec scanned;
  scanned.metric = Id(UidKind::kMetric, "m");
  scanned.rows = {0, UINT32_MAX};
  scanned.statistics = true;
  const auto scan = store->points().Scan(scanned, {});
  REQUIRE(scan.ok());
  size_t with = 0;
  for (RowHour row; *(*scan)->Next(&row);) with += row.statistics != nullptr;
  CHECK(with >= 60);
  for (const char* function : {"sum", "avg", "min", "max", "count", "zimsum", "mimmin", "mimmax",
                               "pfsum", "first", "last", "dev", "median", "squareSum"}) {
    for (const char* interval : {"1h", "2h", "90m", "1d", "0all", "1dc"}) {
      for (const int64_t start_s : {0, 1, 1800}) {
        CAPTURE(function);
        CAPTURE(interval);
        CAPTURE(start_s);
        const std::string downsample = std::string(interval) + "-" + function;
        const SubQuery query = Ask("none", downsample.c_str(), "", "", "", false);
        const Result<Answer> a = Run(*in_parts, query, start_s);
        const Result<Answer> b = Run(*whole, query, start_s);
        REQUIRE(a.ok());
        REQUIRE(b.ok());
        CheckSame(*a, *b);
      }
    }
  }
}

TEST_CASE_FIXTURE(PartsFixture, "statistics of several hours at once equal those of single rows") {
  REQUIRE(store->cells().Flush().ok());
  REQUIRE(store->cells().Compact().ok());
  Put(11, 3 * 3600, PointValue::Int(1));  // one of its rows is also in memory
  struct Row {
    Bytes tsuid;
    uint32_t base;
    std::optional<RowStatistics> statistics;
    bool operator==(const Row&) const = default;
  };
  PointScanSpec spec;
  spec.metric = Id(UidKind::kMetric, "m");
  spec.statistics = spec.objects = true;
  size_t ahead = 0;
  const auto read = [&](bool at_once) {
    std::vector<Row> rows;
    const auto scan = store->points().Scan(spec, {});
    REQUIRE(scan.ok());
    for (RowHour row; *(*scan)->Next(&row);) {
      rows.push_back({Bytes(row.tsuid), row.base, {}});
      if (row.statistics == nullptr) continue;
      rows.back().statistics = *row.statistics;
      if (!at_once) continue;
      const Bytes tsuid(row.tsuid);
      const auto hours = (*scan)->StatisticsAhead();
      const auto taken = hours.first(random() % (hours.size() + 1));
      for (const HourStatistics& hour : taken) rows.push_back({tsuid, hour.base, hour.statistics});
      (*scan)->Pass(taken.size());
      ahead += taken.size();
    }
    return rows;
  };
  const std::vector<Bytes> some = {tsuids[9], tsuids[11], tsuids[12], tsuids[51]};
  constexpr auto kBegin = static_cast<uint32_t>(kPartsStart),
                 kCount = static_cast<uint32_t>(kHours);
  for (uint32_t from = 0; from < kCount; ++from) {
    for (uint32_t until = from + 1; until <= kCount; ++until) {
      spec.rows = {kBegin + from * kRowSpan, kBegin + until * kRowSpan};
      for (const bool all : {false, true}) {
        spec.matcher.tsuids = all ? std::vector<Bytes>() : some;
        std::sort(spec.matcher.tsuids.begin(), spec.matcher.tsuids.end());
        const std::vector<Row> expected = read(false);
        CHECK(expected.size() >= until - from);
        CHECK(read(true) == expected);
      }
    }
  }
  CHECK(ahead > 100);
}

TEST_CASE_FIXTURE(PartsFixture,
                  "filters by value give the same result with and without row statistics") {
  REQUIRE(store->cells().Flush().ok());
  REQUIRE(store->cells().Compact().ok());
  for (const char* values : {"> 100", "<= 100", "!= 5", "== 7", "> 6990", "<= -2999", "> 1e9"}) {
    for (const char* downsample : {"", "1h-sum", "90m-p95", "0all-count"}) {
      for (const char* aggregator : {"none", "max"}) {
        CAPTURE(values);
        CAPTURE(downsample);
        SubQuery query = Ask(aggregator, downsample, "", "", "", false);
        query.value_filter = values;
        const Result<Answer> a = Run(*in_parts, query);
        const Result<Answer> b = Run(*whole, query);
        REQUIRE(a.ok());
        REQUIRE(b.ok());
        CheckSame(*a, *b);
      }
    }
  }
}

TEST_CASE_FIXTURE(
    PartsFixture,
    "hundreds of groups equal those of single queries, and the first failing group is reported") {
  constexpr size_t kMany = 600;
  const Bytes tagk = Id(UidKind::kTagk, "host");
  for (size_t i = 0; i < kMany; ++i) {
    const Bytes pair = tagk + Id(UidKind::kTagv, "w" + std::to_string(i));
    tsuids.push_back(codec::MakeTsuid(Id(UidKind::kMetric, "wide"), {pair}));
    const auto at = static_cast<int64_t>(i);
    Put(static_cast<int>(tsuids.size() - 1), at, PointValue::Int(at));
    Put(static_cast<int>(tsuids.size() - 1), at + 60, PointValue::Double(0.5));
  }
  SubQuery query = Ask("sum", "", "wildcard", "host", "*", true);
  query.metric = "wide";
  const Result<Answer> all = Run(*in_parts, query);
  REQUIRE(all.ok());
  REQUIRE(all->groups.size() == kMany);
  uint64_t emitted = 0;
  for (size_t i = 0; i < kMany; ++i) {
    SubQuery one = Ask("sum", "", "literal_or", "host", ("w" + std::to_string(i)).c_str(), true);
    one.metric = "wide";
    const Result<Answer> alone = Run(*in_parts, one);
    REQUIRE(alone.ok());
    REQUIRE(alone->groups.size() == 1);
    CHECK(all->groups[i].tags == alone->groups[0].tags);
    CHECK(all->groups[i].points.time_ms == alone->groups[0].points.time_ms);
    CHECK(all->groups[i].points.bits == alone->groups[0].points.bits);
    emitted += alone->queries[0].stats.emitted_points;
  }
  CHECK(all->queries[0].stats.emitted_points == emitted);

  const size_t first = tsuids.size() - kMany;
  for (const size_t host : {550, 299, 300}) {
    Put(static_cast<int>(first + host), 5000 + static_cast<int64_t>(host),
        PointValue::Double(std::numeric_limits<double>::infinity()));
  }
  const Result<Answer> failed = Run(*in_parts, query);
  REQUIRE_FALSE(failed.ok());
  CHECK(failed.status().message().ends_with(std::to_string((kPartsStart + 5299) * 1000)));
}

TEST_CASE_FIXTURE(PartsFixture, "sub-queries of one request give the same results as single ones") {
  // Filters shared by neighbours, separate filters, filters decided by names, explicit tags,
  // TSUIDs.
  const FilterSpec few{"literal_or", "host", "h1|h2|h3|h4|h8|h9|h17", false};
  const FilterSpec grouped{"literal_or", "host", "h1|h2|h3|h4|h8|h9|h17", true};
  const FilterSpec by_name{"regexp", "host", "h[12].*", true};
  const FilterSpec dc{"literal_or", "dc", "dc0|dc1", false};
  const std::vector<std::vector<FilterSpec>> filters = {
      {few}, {few}, {grouped}, {few, dc}, {by_name}, {by_name, dc}, {}};
  size_t shared = 0;
  for (int round = 0; round < 60; ++round) {
    Request request;
    request.start = std::to_string(kPartsStart + 600);
    request.end = std::to_string(kPartsStart + kHours * 3600 - 1);
    for (int i = 0; i < 8; ++i) {
      SubQuery query = Ask(i % 2 == 0 ? "max" : "sum", (std::to_string(i + 1) + "m-max").c_str(),
                           "", "", "", false);
      query.filters = filters[round % 3 == 0 ? 0 : random() % filters.size()];
      query.explicit_tags = random() % 4 == 0;
      if (random() % 8 == 0) query.tsuids = {ToHexUpper(tsuids[5]), ToHexUpper(tsuids[50])};
      request.queries.push_back(query);
    }
    const auto valid = in_parts->Validate(request, RequestContext::Unlimited());
    REQUIRE(valid.ok());
    const auto together = in_parts->Run(*valid, {});
    REQUIRE(together.ok());
    REQUIRE(together->queries.size() == request.queries.size());
    for (size_t i = 0; i < request.queries.size(); ++i) {
      CAPTURE(round);
      CAPTURE(i);
      shared += i > 0 && valid->queries[i].filters == valid->queries[i - 1].filters ? 1 : 0;
      Request one = request;
      one.queries = {request.queries[i]};
      auto alone = in_parts->Run(*in_parts->Validate(one, RequestContext::Unlimited()), {});
      REQUIRE(alone.ok());
      Answer of_it;
      for (const Group& group : together->groups) {
        if (group.query_index == i) of_it.groups.push_back(group);
      }
      of_it.queries.push_back(together->queries[i]);
      CheckSame(of_it, *alone);
      CHECK(of_it.queries[0].filter_keys == alone->queries[0].filter_keys);
    }
  }
  CHECK(shared > 100);
}

TEST_CASE_FIXTURE(PartsFixture,
                  "a query in parts, too, fails with the error of the first unreadable row") {
  // Each of these series has two values of different widths at one time. The series belong to
  // different parts.
  for (const int host : {55, 31, 12}) {
    Put(host, 7777, PointValue::Int(1));
    Put(host, 7777, PointValue::Int(70'000));
    const SubQuery query = Ask("sum", "1h-avg", "wildcard", "host", "*", true);
    const Result<Answer> a = Run(*in_parts, query);
    const Result<Answer> b = Run(*whole, query);
    REQUIRE_FALSE(a.ok());
    CHECK(a.status().ToString() == b.status().ToString());
  }
}

}  // namespace hg::query
