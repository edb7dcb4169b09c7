// Series in mapped files: the registry finds them as it finds series in memory, and their memory is
// free. Also run with the thread sanitizer (./test --tsan).

#include "storage/engine/mapped_series.h"

#include <doctest/doctest.h>

#include <atomic>
#include <random>
#include <set>
#include <thread>
#include <vector>

#include "storage/engine/registry.h"
#include "storage/points/match_series.h"
#include "tests/fault/faulty_file.h"
#include "tests/storage/engine/count_points.h"
#include "tests/storage/engine/engine_rig.h"
#include "tests/support/fake_watch.h"
#include "tests/support/sanitizer.h"

namespace hg::engine {
namespace {

const KeyLayout kLayout;
constexpr uint32_t kSeries = Registry::kMappedTogether + 1000;
constexpr uint32_t kSampled =
    kThreadSanitizer ? 16 : 1;  // one in so many series is looked up alone

Bytes Id(uint32_t number) {
  Bytes id;
  AppendBig(&id, number, 3);
  return id;
}

/// Each series has a value of its own, so that there are many different tag pairs. Some ids are
/// ids of a metric and of tags. Sometimes a key occurs twice.
Bytes TsuidOf(uint32_t number) {
  Bytes tsuid = Id(1 + number % 7) + Id(1) + Id(number);
  for (uint32_t tag = 0; tag < number % 3; ++tag) {
    tsuid += Id(2 + number % 2) + Id(number * (tag + 7) % 90);
  }
  return tsuid;
}

std::vector<Bytes> Tsuids(uint32_t count) {
  std::vector<Bytes> all;
  for (uint32_t number = 0; number < count; ++number) all.push_back(TsuidOf(number));
  return all;
}

NumberSet SetOf(const std::vector<uint32_t>& numbers) {
  NumberSet set(kSeries);
  for (const uint32_t number : numbers) set.Add(number);
  return set;
}

/// A registry whose series can be moved to mapped files and forgotten.
struct Subject {
  explicit Subject(const std::vector<Bytes>& tsuids) {
    const std::vector<ByteView> views(tsuids.begin(), tsuids.end());
    registry.AddAll(views);
  }
  Status Map(const NumberSet& forgotten) {
    auto mapped = registry.MapSeries(disk, "d", registry.size(), *registry.Forgotten(),
                                     [] { return Status(); });
    RETURN_IF_ERROR(mapped.status());
    auto lookups = registry.NewLookups(forgotten, std::move(*mapped));
    registry.AddTo(0, registry.size(), forgotten, lookups.get());
    registry.Forget(std::move(lookups), forgotten);
    return {};
  }
  [[nodiscard]] std::vector<uint32_t> Match(ByteView metric, const SeriesMatcher& matcher) const {
    MemoryTally memory(nullptr);
    return registry.Match(metric, matcher, &memory)->numbers;
  }

  FaultyFileSystem disk{1};
  Registry registry{kLayout};
};

SeriesMatcher OneOf(const Bytes& tagk, std::vector<Bytes> values) {
  SeriesMatcher matcher;
  matcher.clauses.push_back({tagk, TagClause::Kind::kOneOf, std::move(values)});
  return matcher;
}

TEST_CASE("series in mapped files are found by number, TSUID, metric and tags") {
  const auto tsuids = Tsuids(kSeries);
  Subject subject(tsuids);
  const Registry& registry = subject.registry;
  const size_t bytes = registry.bytes();
  std::vector<uint32_t> gone;
  for (uint32_t number = 0; number < kSeries; number += 11) gone.push_back(number);
  const NumberSet forgotten = SetOf(gone);
  REQUIRE(subject.Map(forgotten).ok());
  CHECK(registry.mapped().end == Registry::kMappedTogether);
  CHECK(registry.mapped().ranges.size() == 1);
  CHECK(registry.mapped_bytes() > 0);
  CHECK(registry.bytes() < bytes / 20);
  CHECK(registry.size() == kSeries);
  CHECK(registry.forgotten_count() == gone.size());

  const std::vector<ByteView> views(tsuids.begin(), tsuids.end());
  std::vector<uint32_t> numbers(kSeries);
  CHECK_FALSE(registry.FindAll(views, numbers.data()));
  uint32_t wrong = 0;
  for (uint32_t number = 0; number < kSeries; ++number) {
    const bool live = !forgotten.Has(number);
    if (numbers[number] != (live ? number : Registry::kUnknown)) ++wrong;
    if (registry.TsuidOf(number) != (live ? tsuids[number] : Bytes())) ++wrong;
  }
  // Most of the tag pairs have a list of their own, and some of these have the same hash.
  for (uint32_t number = 0; number < kSeries; number += kSampled) {
    const auto found = subject.Match({}, OneOf(Id(1), {Id(number)}));
    if (forgotten.Has(number) ? !found.empty() : found != std::vector{number}) ++wrong;
  }
  CHECK(wrong == 0);
  CHECK_FALSE(registry.Find(Id(1) + Id(1) + Id(kSeries)));
  CHECK(registry.Metrics().size() == 7);
}

TEST_CASE("matches in mapped files are those in memory") {
  const auto tsuids = Tsuids(kSeries);
  Subject subject(tsuids), memory(tsuids);
  std::vector<uint32_t> gone;
  for (uint32_t number = 5; number < kSeries; number += 7) gone.push_back(number);
  const NumberSet forgotten = SetOf(gone);
  REQUIRE(subject.Map(forgotten).ok());
  std::minstd_rand random(3);
  size_t found = 0;
  for (int round = 0; round < 60; ++round) {
    SeriesMatcher matcher;
    for (uint32_t tagk = 1; tagk <= 4; ++tagk) {
      if (random() % 2 == 0) continue;
      TagClause& clause = matcher.clauses.emplace_back();
      clause.tagk = Id(tagk);
      clause.kind = static_cast<TagClause::Kind>(random() % 3);
      std::set<Bytes> values;
      const size_t count = clause.kind == TagClause::Kind::kOneOf ? 1 + random() % 40 : 0;
      for (size_t v = 0; v < count; ++v) values.insert(Id(random() % 90));
      clause.values.assign(values.begin(), values.end());
    }
    matcher.exact_tags = random() % 4 == 0;
    if (random() % 4 == 0) {
      for (int n = 0; n < 50; ++n) matcher.tsuids.push_back(TsuidOf(random() % (2 * kSeries)));
      std::sort(matcher.tsuids.begin(), matcher.tsuids.end());
    }
    const Bytes metric = random() % 3 == 0 ? Bytes() : Id(1 + random() % 8);
    std::vector<uint32_t> expected = memory.Match(metric, matcher);
    std::erase_if(expected, [&](uint32_t number) { return forgotten.Has(number); });
    REQUIRE(subject.Match(metric, matcher) == expected);
    found += expected.size();
  }
  CHECK(found > 1000);
}

TEST_CASE("a series that comes back after its number in a file was forgotten has its new number") {
  const auto tsuids = Tsuids(kSeries);
  Subject subject(tsuids);
  Registry& registry = subject.registry;
  REQUIRE(subject.Map({}).ok());
  REQUIRE(subject.Map(SetOf({3})).ok());
  CHECK_FALSE(registry.Find(tsuids[3]));
  registry.Add(tsuids[3]);
  CHECK(registry.Find(tsuids[3]) == kSeries);
  CHECK(subject.Match({}, OneOf(Id(1), {Id(3)})) == std::vector<uint32_t>{kSeries});
  // At a start, the newer number counts.
  const std::vector<ByteView> again = {tsuids[4], {}, tsuids[5], tsuids[5]};
  registry.LoadAll(again);
  CHECK(registry.Find(tsuids[4]) == kSeries + 1);
  CHECK(registry.Find(tsuids[5]) == kSeries + 4);
  CHECK(registry.TsuidOf(4).empty());
  CHECK(registry.TsuidOf(5).empty());
  CHECK(registry.forgotten_count() == 1 + 1 + 1 + 2);
  CHECK(subject.Match({}, OneOf(Id(1), {Id(4)})) == std::vector<uint32_t>{kSeries + 1});
}

// Files have up to 262,144 series.
TEST_CASE("the count of a metric has its series in files and in memory that are not forgotten") {
  Subject subject(Tsuids(kSeries));
  std::vector<uint32_t> gone;
  for (uint32_t number = 0; number < kSeries; number += 5) gone.push_back(number);
  for (const bool mapped : {false, true}) {
    if (mapped) REQUIRE(subject.Map(SetOf(gone)).ok());
    for (const uint32_t metric : {1U, 7U, 8U}) {
      CAPTURE(mapped);
      CAPTURE(metric);
      const auto count = subject.registry.Count(Id(metric), nullptr);
      REQUIRE(count.ok());
      CHECK(*count == subject.Match(Id(metric), {}).size());
      CHECK((*count > 0) == (metric <= 7));
    }
  }
  FakeWatch watch;
  CHECK(subject.registry.Count(Id(1), &watch).ok());
  watch.checks_max = 0;
  CHECK(subject.registry.Count(Id(1), &watch).status().code() == StatusCode::kDeadlineExceeded);
}

TEST_CASE("a metric in files is listed as long as one of its series is not forgotten") {
  Subject subject(Tsuids(kSeries));
  REQUIRE(subject.Map(NumberSet()).ok());
  std::vector<uint32_t> of_metric;
  for (uint32_t number = 0; number < kSeries; number += 7) of_metric.push_back(number);
  const NumberSet all = SetOf(of_metric);
  of_metric.pop_back();  // This series gets a row before the other series are forgotten.
  Registry& registry = subject.registry;
  registry.Forget(registry.NewLookups(all, registry.mapped()), SetOf(of_metric));
  CHECK(registry.Metrics().size() == 7);
  REQUIRE(subject.Map(all).ok());
  REQUIRE(subject.Map(all).ok());
  CHECK(registry.Metrics().size() == 6);
}

TEST_CASE("a small last file is written again with more series, and a forgotten file is left out") {
  Subject subject(Tsuids(Registry::kMappedTogether));
  Registry& registry = subject.registry;
  REQUIRE(subject.Map({}).ok());
  const uint32_t end = MappedSeries::kSeriesMax + Registry::kMappedTogether;
  std::vector<Bytes> more;
  for (uint32_t number = registry.size(); number < end; ++number) more.push_back(TsuidOf(number));
  const std::vector<ByteView> views(more.begin(), more.end());
  registry.AddAll(std::span(views).first(MappedSeries::kBlockSeries));
  REQUIRE(subject.Map({}).ok());
  CHECK(registry.mapped().end == Registry::kMappedTogether);  // too few series
  registry.AddAll(std::span(views).subspan(MappedSeries::kBlockSeries));
  REQUIRE(subject.Map({}).ok());
  REQUIRE(registry.mapped().ranges.size() == 2);
  CHECK(registry.mapped().ranges[0]->end() - registry.mapped().ranges[0]->begin() <=
        MappedSeries::kSeriesMax);
  CHECK(registry.mapped().end == end);
  for (uint32_t number = 0; number < end; number += 97) {
    REQUIRE(registry.Find(TsuidOf(number)) == number);
  }
  NumberSet first(end);
  for (uint32_t number = 0; number < registry.mapped().ranges[0]->end(); ++number) {
    first.Add(number);
  }
  REQUIRE(subject.Map(first).ok());
  REQUIRE(subject.Map(first).ok());
  CHECK(registry.mapped().ranges.size() == 1);
  CHECK(registry.TsuidOf(0).empty());
  CHECK(registry.Find(TsuidOf(end - 1)) == end - 1);
}

TEST_CASE("on an event loop, only few series in files are examined") {
  Subject subject(Tsuids(kSeries));
  REQUIRE(subject.Map({}).ok());
  FakeWatch few, many;
  few.StayOnLoop();
  many.StayOnLoop();
  CHECK(subject.registry.MayMatch({}, OneOf(Id(1), {Id(1), Id(2)}), &few).ok());
  CHECK_FALSE(few.refused());
  CHECK_FALSE(subject.registry.MayMatch(Id(1), {}, &many).ok());
  CHECK(many.refused());
  // Values that no series has must be looked up, too.
  std::vector<Bytes> unknown;
  for (uint32_t i = 0; i < 2 * Registry::kFewMappedFinds; ++i) unknown.push_back(Id(kSeries + i));
  FakeWatch values;
  values.StayOnLoop();
  CHECK_FALSE(subject.registry.MayMatch({}, OneOf(Id(1), unknown), &values).ok());
}

TEST_CASE("a file of long TSUIDs has fewer series") {
  constexpr uint32_t kLong = Registry::kMappedTogether;
  std::vector<Bytes> tsuids;
  for (uint32_t number = 0; number < kLong; ++number) {
    Bytes tsuid = TsuidOf(number);
    for (uint32_t tag = 0; tag < 100; ++tag) tsuid += Id(10 + tag) + Id(1);
    tsuids.push_back(std::move(tsuid));
  }
  Subject subject(tsuids);
  REQUIRE(subject.Map({}).ok());
  CHECK(subject.registry.mapped().ranges.size() > 1);
  CHECK(subject.registry.mapped().end == kLong);
  for (const auto& range : subject.registry.mapped().ranges) {
    CHECK(range->name_bytes() <
          MappedSeries::kNameBytesMax + MappedSeries::kBlockSeries * tsuids.back().size());
  }
  for (uint32_t number = 0; number < kLong; number += 997) {
    REQUIRE(subject.registry.Find(tsuids[number]) == number);
  }
}

TEST_CASE("ids of any width, and metrics with the bytes of a tag pair, have lists of their own") {
  for (const int width : {1, 2, 8}) {
    KeyLayout layout;
    layout.metric_width = 2 * width;  // as wide as a pair
    if (layout.metric_width > 8) layout.metric_width = 8;
    layout.tagk_width = layout.tagv_width = width;
    const auto id = [](uint32_t number, int bytes) {
      Bytes out;
      AppendBig(&out, number % (bytes == 1 ? 251 : UINT32_MAX), static_cast<size_t>(bytes));
      return out;
    };
    const auto tsuid_of = [&](uint32_t number) {
      return id(number % 5, layout.metric_width) + id(0, width) + id(number / 5 % 100, width) +
             id(1, width) + id(number / 500, width);
    };
    Registry registry(layout);
    std::set<Bytes> known;
    for (uint32_t number = 0; number < Registry::kMappedTogether; ++number) {
      if (known.insert(tsuid_of(number)).second) registry.Add(tsuid_of(number));
    }
    const uint32_t end = registry.size() / MappedSeries::kBlockSeries * MappedSeries::kBlockSeries;
    REQUIRE(end > 0);
    FaultyFileSystem disk(1);
    const auto tsuids = registry.tsuids();
    const auto made = MappedSeries::Make(
        disk, "d", layout, 0, end, [&](uint32_t number) { return tsuids->Tsuid(number); },
        [] { return Status(); });
    REQUIRE(made.ok());
    MemoryTally memory(nullptr);
    for (uint32_t value = 0; value < 5; ++value) {
      std::vector<uint32_t> of_metric, of_pair;
      REQUIRE(
          (*made)->AddCandidates(id(value, layout.metric_width), {}, {}, &memory, &of_metric).ok());
      REQUIRE(
          (*made)
              ->AddCandidates({}, OneOf(id(0, width), {id(value, width)}), {}, &memory, &of_pair)
              .ok());
      uint32_t metrics = 0, pairs = 0;
      for (uint32_t number = 0; number < end; ++number) {
        const ByteView tsuid = tsuids->Tsuid(number);
        metrics += tsuid.starts_with(id(value, layout.metric_width)) ? 1 : 0;
        pairs += tsuid.substr(static_cast<size_t>(layout.metric_width))
                         .starts_with(id(0, width) + id(value, width))
                     ? 1
                     : 0;
      }
      CHECK(of_metric.size() == metrics);
      CHECK(of_pair.size() == pairs);
    }
  }
}

TEST_CASE("a disk without temporary files keeps series in memory") {
  Subject subject(Tsuids(kSeries));
  subject.disk.CannotMakeScratch(true);
  CHECK(subject.Map({}).code() == StatusCode::kUnsupported);
  CHECK(subject.registry.Find(TsuidOf(17)) == 17);
}

TEST_CASE("a request that must end stops a search in files") {
  Subject subject(Tsuids(kSeries));
  REQUIRE(subject.Map({}).ok());
  FakeWatch watch;
  watch.steps_max = 10'000;
  MemoryTally memory(&watch);
  CHECK_FALSE(subject.registry.Candidates({}, {}, &memory).ok());
}

TEST_CASE("a search in files counts as much work as it is, and its result is charged") {
  Subject subject(Tsuids(kSeries));
  REQUIRE(subject.Map({}).ok());
  FakeWatch watch;
  MemoryTally memory(&watch);
  CHECK(subject.registry.Match(Id(1), OneOf(Id(1), {Id(7)}), &memory)->numbers.size() == 1);
  CHECK(watch.steps < 100);
  SeriesMatcher listed;
  listed.tsuids = {TsuidOf(7)};
  CHECK(subject.registry.Match({}, listed, &memory)->numbers.size() == 1);
  CHECK(watch.steps < 100);
  CHECK(subject.registry.Match({}, {}, &memory)->numbers.size() == kSeries);
  CHECK(watch.steps > kSeries);
  CHECK(memory.held() >= int64_t{kSeries} * 4);
}

TEST_CASE("if a file cannot be written, the series stay in memory") {
  Subject subject(Tsuids(kSeries));
  subject.disk.FillUpAtCall(3);
  const size_t bytes = subject.registry.bytes();
  CHECK(subject.Map({}).code() == StatusCode::kIoError);
  CHECK(subject.registry.bytes() == bytes);
  CHECK(subject.registry.Find(TsuidOf(17)) == 17);
}

constexpr int64_t kBase = 1'700'002'800;

EmbeddedOptions Options() {
  EmbeddedOptions options;
  options.path = "d";
  options.background = false;
  return options;
}

/// A store whose series are in mapped files after a sweep or a start.
struct Store : EngineRig<> {
  Store() : EngineRig(kBase * 1000, Options()) {
    const auto tsuids = Tsuids(kSeries);
    const std::vector<ByteView> views(tsuids.begin(), tsuids.end());
    std::vector<SeriesNumber> numbers(kSeries);
    REQUIRE(points->RegisterAll(views, numbers.data()).ok());
    std::vector<PointEntry> entries;
    for (const SeriesNumber number : numbers) {
      entries.push_back(MakePointEntry(number, Timestamp{kBase}, PointValue::Int(number)));
    }
    REQUIRE(points->Append(entries).ok());
  }
  void Write(uint32_t number, int64_t time) {
    const auto series = points->Register(TsuidOf(number));
    REQUIRE(series.ok());
    const PointEntry entry = MakePointEntry(*series, Timestamp{time}, PointValue::Int(1));
    REQUIRE(points->Append({&entry, 1}).ok());
  }
  void Delete(const std::vector<uint32_t>& numbers, uint32_t metric) {
    PointScanSpec spec;
    spec.metric = Id(metric);
    for (const uint32_t number : numbers) spec.matcher.tsuids.push_back(TsuidOf(number));
    std::sort(spec.matcher.tsuids.begin(), spec.matcher.tsuids.end());
    REQUIRE(points->DeleteRows(spec).ok());
  }
  [[nodiscard]] uint64_t Points() const {
    uint64_t count = 0;
    for (uint32_t metric = 1; metric <= 7; ++metric) count += CountPoints(*points, metric);
    return count;
  }
  [[nodiscard]] bool IsMapped() const { return engine->Stats().registry_mapped_bytes > 0; }
};

TEST_CASE("a sweep and a start move series to files, and all their points are found") {
  Store store;
  CHECK(store.Points() == kSeries);
  REQUIRE(store.engine->SweepSeries().ok());
  CHECK_FALSE(store.IsMapped());  // the series are only in the log
  store.Flush();
  const uint64_t bytes = store.engine->Stats().registry_bytes;
  REQUIRE(store.engine->SweepSeries().ok());
  CHECK(store.IsMapped());
  CHECK(store.engine->Stats().registry_bytes < bytes / 20);
  CHECK(store.Points() == kSeries);
  store.Write(7, kBase + 1);
  store.Write(kSeries, kBase + 1);  // a new series
  CHECK(store.Points() == kSeries + 2);
  for (int round = 0; round < 2; ++round) {
    store.Open();
    CHECK(store.IsMapped());
    CHECK(store.Points() == kSeries + 2);
    CHECK(store.points->Register(TsuidOf(9)).status().ok());
    CHECK(*store.points->Register(TsuidOf(9)) == 9);
    store.Merge();
  }
  CHECK(store.Points() == kSeries + 2);
}

TEST_CASE("a point may wait for a disk if its row is below the horizon and its series in a file") {
  Store store;
  store.Write(kSeries, kBase);
  store.Flush();
  REQUIRE(store.engine->SweepSeries().ok());
  REQUIRE(store.IsMapped());
  const auto may_wait = [&](uint32_t number, int64_t time) {
    const auto series = store.points->Register(TsuidOf(number));
    const PointEntry entry = MakePointEntry(*series, Timestamp{time}, PointValue::Int(1));
    return store.points->AppendMayWait({&entry, 1});
  };
  CHECK_FALSE(may_wait(0, kBase));
  store.engine->RaiseHorizon(static_cast<uint32_t>(kBase + 3600));
  CHECK(may_wait(0, kBase));
  CHECK_FALSE(may_wait(0, kBase + 7200));
  CHECK_FALSE(may_wait(kSeries, kBase));  // this series is in memory
}

TEST_CASE("a list of TSUIDs is searched in pieces, and each series is returned once") {
  Subject subject(Tsuids(kSeries));
  std::vector<uint32_t> gone;
  for (uint32_t number = 5; number < kSeries; number += 7) gone.push_back(number);
  const NumberSet forgotten = SetOf(gone);
  REQUIRE(subject.Map(forgotten).ok());
  SeriesMatcher listed;
  uint64_t live = 0;
  for (uint32_t number = 0; number < kSeries; number += 3) {
    listed.tsuids.push_back(TsuidOf(number));
    if (!forgotten.Has(number)) ++live;
  }
  std::sort(listed.tsuids.begin(), listed.tsuids.end());
  CHECK(subject.Match({}, listed).size() == live);
  listed.clauses = OneOf(Id(1), {Id(3)}).clauses;
  CHECK(subject.Match({}, listed) == std::vector<uint32_t>{3});
}

TEST_CASE("series in files are forgotten and come back as series in memory do") {
  Store store;
  store.Flush();
  REQUIRE(store.engine->SweepSeries().ok());
  REQUIRE(store.IsMapped());
  const std::vector<uint32_t> gone = {0, 7, 14, 21};  // of metric 1
  store.Delete(gone, 1);
  store.Merge();
  REQUIRE(store.engine->SweepSeries().ok());
  CHECK(store.engine->Stats().series == kSeries - gone.size());
  CHECK(store.points->TsuidOf(7).empty());
  store.Write(7, kBase + 1);
  CHECK(*store.points->Register(TsuidOf(7)) == kSeries);
  CHECK(store.Points() == kSeries - gone.size() + 1);
  // The list of series still has the old numbers, because few series were forgotten.
  store.Open();
  CHECK(*store.points->Register(TsuidOf(7)) == kSeries);
  CHECK(store.Points() == kSeries - gone.size() + 1);
  REQUIRE(store.engine->SweepSeries().ok());
  CHECK(store.engine->Stats().series == kSeries - gone.size() + 1);
}

TEST_CASE("series are found, registered and forgotten while a sweep moves series to files") {
  Store store;
  store.Flush();
  std::atomic<bool> done{false};
  std::thread reader([&] {
    std::minstd_rand random(5);
    while (!done) {
      const uint32_t number = random() % kSeries;
      REQUIRE(*store.points->Register(TsuidOf(number)) == number);
      MemoryTally memory(nullptr);
      const auto found = store.engine->registry().Match({}, OneOf(Id(1), {Id(number)}), &memory);
      REQUIRE(found->numbers == std::vector<uint32_t>{number});
      REQUIRE(found->tsuids->Tsuid(number) == TsuidOf(number));
    }
  });
  for (uint32_t round = 0; round < 3; ++round) {
    std::vector<Bytes> more;
    for (uint32_t i = 0; i < Registry::kMappedTogether; ++i) {
      more.push_back(TsuidOf((round + 1) * Registry::kMappedTogether + kSeries + i));
    }
    const std::vector<ByteView> views(more.begin(), more.end());
    std::vector<SeriesNumber> numbers(more.size());
    REQUIRE(store.points->RegisterAll(views, numbers.data()).ok());
    store.Flush();
    REQUIRE(store.engine->SweepSeries().ok());
  }
  done = true;
  reader.join();
  CHECK(store.IsMapped());
  CHECK(store.engine->Stats().series == kSeries);  // the others have no points
}

// The file of this sweep has the series, although the search has found no row of it.
TEST_CASE("a series that gets a row while the sweep moves it to a file is not forgotten") {
  Store store;
  store.Flush();
  store.Delete({0, 7}, 1);
  store.Merge();
  std::atomic<bool> done{false};
  int64_t time = kBase + 1;
  std::thread writer([&] {
    for (; !done && time < kBase + 3000; ++time) {
      store.Write(7, time);
      std::this_thread::yield();
    }
  });
  for (int round = 0; round < 5; ++round) REQUIRE(store.engine->SweepSeries().ok());
  done = true;
  writer.join();
  CHECK(store.IsMapped());
  CHECK(store.points->TsuidOf(0).empty());
  const auto written = static_cast<uint64_t>(time - kBase - 1);
  CHECK(store.Points() == kSeries - 2 + written);
  store.Flush();
  CHECK(store.Points() == kSeries - 2 + written);
}

TEST_CASE("a start with more series than one file holds, with gaps, finds all of them") {
  constexpr uint32_t kMany = MappedSeries::kSeriesMax + Registry::kMappedTogether + 5000;
  EngineRig<> rig(kBase * 1000, Options());
  const auto tsuids = Tsuids(kMany);
  const std::vector<ByteView> views(tsuids.begin(), tsuids.end());
  std::vector<SeriesNumber> numbers(kMany);
  REQUIRE(rig.points->RegisterAll(views, numbers.data()).ok());
  // Series without points are forgotten: short gaps everywhere, and one across the end of a file.
  const auto has_point = [](uint32_t number) {
    return number % 3 != 0 && (number < 250'000 || number > 280'000);
  };
  std::vector<PointEntry> entries;
  uint64_t live = 0;
  for (uint32_t number = 0; number < kMany; ++number) {
    if (!has_point(number)) continue;
    ++live;
    entries.push_back(MakePointEntry(number, Timestamp{kBase}, PointValue::Int(1)));
  }
  REQUIRE(rig.points->Append(entries).ok());
  rig.Flush();
  REQUIRE(rig.engine->SweepSeries().ok());
  CHECK(rig.engine->Stats().series == live);
  for (const bool disk_works : {true, false, true}) {
    rig.disk.CannotMakeScratch(!disk_works);
    rig.Open();
    CHECK((rig.engine->Stats().registry_mapped_bytes > 0) == disk_works);
    CHECK(rig.engine->Stats().series == live);
    uint32_t wrong = 0;
    for (uint32_t number = 0; number < kMany; ++number) {
      const auto found = rig.engine->registry().Find(tsuids[number]);
      if (has_point(number) ? found != number : found.has_value()) ++wrong;
    }
    CHECK(wrong == 0);
  }
}

TEST_CASE("a full or failing disk keeps series in memory, and a later sweep moves them") {
  Store store;
  store.Flush();
  store.disk.FillUpAtCall(1);
  CHECK(store.engine->SweepSeries().ok());  // there is no room for temporary files
  CHECK_FALSE(store.IsMapped());
  store.disk.FailCall(2);
  CHECK_FALSE(store.engine->SweepSeries().ok());
  CHECK_FALSE(store.IsMapped());
  CHECK(*store.points->Register(TsuidOf(9)) == 9);
  store.disk.FailCall(0);
  REQUIRE(store.engine->SweepSeries().ok());
  CHECK(store.IsMapped());
}

}  // namespace
}  // namespace hg::engine
