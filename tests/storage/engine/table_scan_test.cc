// Cell scans of the table of points cost in proportion to the requested rows.

#include <doctest/doctest.h>

#include <algorithm>

#include "storage/codec/row_key.h"
#include "tests/fault/faulty_file.h"
#include "tests/storage/engine/open_embedded.h"
#include "tests/storage/engine/tsuid.h"
#include "tests/support/fake_watch.h"
#include "tests/support/manual_clock.h"

namespace hg {
namespace {

constexpr uint32_t kFirst = 1'699'999'200;  // the beginning of an hour
constexpr uint64_t kSeries = 100;
constexpr uint32_t kHours = 1500;

Bytes KeyAt(uint64_t metric, uint32_t base) {
  Bytes key;
  AppendBig(&key, metric, 3);
  AppendBig(&key, base, 4);
  return key;
}

// A store without rows, and a request that scans it.
struct EmptyRig {
  FaultyFileSystem disk{1};
  ManualClock clock{int64_t{kFirst} * 1000};
  std::unique_ptr<Embedded> store;
  FakeWatch watch;
  uint64_t limit_rows = UINT64_MAX;

  explicit EmptyRig(const KeyLayout& layout = {}) {
    EmbeddedOptions options;
    options.layout = layout;
    store = OpenEmbedded(disk, clock, options);
  }

  // Writes a row for each host in each hour. If `flush_after` is an hour, flushes after that hour.
  void Write(uint64_t metric, uint64_t hosts, uint32_t hours, uint32_t flush_after = UINT32_MAX) {
    std::vector<SeriesNumber> numbers;
    for (uint64_t host = 1; host <= hosts; ++host) {
      numbers.push_back(*store->points().Register(Tsuid(host, metric)));
    }
    std::vector<PointEntry> batch;
    for (uint32_t hour = 0; hour < hours; ++hour) {
      batch.clear();
      for (const SeriesNumber number : numbers) {
        batch.push_back(MakePointEntry(number, Timestamp{kFirst + hour * int64_t{kRowSpan}},
                                       PointValue::Int(1)));
      }
      REQUIRE(store->points().Append(batch).ok());
      if (hour == flush_after) REQUIRE(store->cells().Flush().ok());
    }
  }

  // The keys in the order in which they are returned.
  Result<std::vector<Bytes>> Keys(Bytes start, Bytes stop, bool reversed = false) {
    ScanSpec spec;
    spec.table = "tsdb";
    spec.start = std::move(start);
    spec.stop = std::move(stop);
    spec.reversed = reversed;
    spec.keys_only = true;
    spec.limit_rows = limit_rows;
    spec.context = &watch;
    ASSIGN_OR_RETURN(const auto cursor, store->cells().Scan(spec));
    std::vector<Bytes> keys;
    std::vector<Row> rows;
    do {
      RETURN_IF_ERROR(cursor->Next(&rows));
      for (const Row& row : rows) keys.push_back(row.key);
    } while (!rows.empty());
    return keys;
  }
};

struct Rig : EmptyRig {
  Rig() {
    Write(1, kSeries, kHours, kHours / 2);
    Write(2, kSeries, kHours);
  }
};

std::vector<Bytes> Expected(uint64_t metric, uint32_t first_hour, uint32_t end_hour) {
  std::vector<Bytes> keys;
  for (uint32_t hour = first_hour; hour < end_hour; ++hour) {
    for (uint64_t host = 1; host <= kSeries; ++host) {
      keys.push_back(codec::MakeRowKey(KeyLayout(), Tsuid(host, metric), kFirst + hour * kRowSpan));
    }
  }
  return keys;
}

}  // namespace

TEST_CASE_FIXTURE(Rig, "A scan of one hour of a metric costs in proportion to that hour") {
  constexpr uint32_t kHour = 700;
  const uint32_t base = kFirst + kHour * kRowSpan;
  const auto keys = Keys(KeyAt(1, base), KeyAt(1, base + kRowSpan));
  REQUIRE(keys.ok());
  CHECK(*keys == Expected(1, kHour, kHour + 1));
  // There is a step for each series and each of its rows in that hour. A scan of all hours would
  // read 150,000 rows.
  CHECK(watch.steps > kSeries);
  CHECK(watch.steps < kSeries * 1000);
  CHECK(watch.bytes_most > 0);
  CHECK(watch.bytes_most <= 192 << 10);
  CHECK(watch.bytes == 0);
}

TEST_CASE_FIXTURE(Rig, "Scans that begin or end within an hour return the rows of their keys") {
  const std::vector<Bytes> all = Expected(1, 0, kHours);
  for (const size_t from : {0, 1, 50, 99, 100, 101, 70'050}) {
    for (const size_t count : {1, 49, 100, 101, 230}) {
      CAPTURE(from);
      CAPTURE(count);
      const auto begin = all.begin() + static_cast<ptrdiff_t>(from);
      const std::vector<Bytes> expected(begin, begin + static_cast<ptrdiff_t>(count));
      const auto keys = Keys(all[from], all[from + count]);
      REQUIRE(keys.ok());
      CHECK(*keys == expected);
    }
  }
  const auto last = Keys(all[all.size() - 3], KeyAt(2, kFirst) + Bytes(1, '\0'));
  REQUIRE(last.ok());
  CHECK(*last == std::vector<Bytes>(all.end() - 3, all.end()));
}

TEST_CASE_FIXTURE(Rig, "A scan of all rows holds only part of their keys, forward and backward") {
  std::vector<Bytes> expected = Expected(1, 0, kHours);
  const std::vector<Bytes> second = Expected(2, 0, kHours);
  expected.insert(expected.end(), second.begin(), second.end());
  const auto keys = Keys("", "");
  REQUIRE(keys.ok());
  CHECK(*keys == expected);
  CHECK(watch.bytes_most < 2 << 20);
  CHECK(watch.bytes == 0);
  std::reverse(expected.begin(), expected.end());
  const auto reversed = Keys("", "", true);
  REQUIRE(reversed.ok());
  CHECK(*reversed == expected);
  CHECK(watch.bytes_most < 10 << 20);
  CHECK(watch.bytes == 0);
}

TEST_CASE_FIXTURE(Rig, "A scan ends when its request exceeds its work or memory") {
  for (const bool reversed : {false, true}) {
    CAPTURE(reversed);
    watch.steps = 0;
    watch.steps_max = 100'000;
    CHECK(Keys("", "", reversed).status().code() == StatusCode::kDeadlineExceeded);
    CHECK(watch.bytes == 0);
    watch.steps_max = UINT64_MAX;
    watch.bytes_max = 100 << 10;
    CHECK(Keys("", "", reversed).status().code() == StatusCode::kLimitExceeded);
    CHECK(watch.bytes == 0);
    watch.bytes_max = INT64_MAX;
  }
  watch.steps = 0;
  watch.steps_max = 100'000;
  ScanSpec spec;
  spec.table = "tsdb";
  spec.context = &watch;
  spec.filter = {};
  spec.column_min = "\xFF\xFF";  // no row has such a column, so none is returned
  const auto cursor = store->cells().Scan(spec);
  REQUIRE(cursor.ok());
  std::vector<Row> rows;
  CHECK((*cursor)->Next(&rows).code() == StatusCode::kDeadlineExceeded);
}

TEST_CASE_FIXTURE(Rig, "A request that ends stops a scan while it lists the keys of a metric") {
  limit_rows = 1;
  for (const bool reversed : {false, true}) {
    CAPTURE(reversed);
    watch.steps = 0;
    watch.steps_max = UINT64_MAX;
    REQUIRE(Keys("", "", reversed).ok());
    const uint64_t all = watch.steps;
    // The rows that were listed were also sorted, which costs more than a step for each row.
    CHECK(all > 500'000);
    for (uint64_t part = 0; part < 16; ++part) {
      watch.steps = 0;
      watch.steps_max = all * part / 16;
      CHECK(Keys("", "", reversed).status().code() == StatusCode::kDeadlineExceeded);
      CHECK(watch.bytes == 0);
    }
  }
}

TEST_CASE("A scan returns all rows of a metric with tens of thousands of series") {
  constexpr uint64_t kMany = 33'000;
  constexpr uint32_t kFewHours = 5;
  EmptyRig rig;
  rig.Write(1, kMany, kFewHours);
  std::vector<Bytes> expected;
  for (uint32_t hour = 0; hour < kFewHours; ++hour) {
    for (uint64_t host = 1; host <= kMany; ++host)
      expected.push_back(codec::MakeRowKey(KeyLayout(), Tsuid(host), kFirst + hour * kRowSpan));
  }
  const auto keys = rig.Keys("", "");
  REQUIRE(keys.ok());
  CHECK(*keys == expected);
  CHECK(rig.watch.bytes == 0);
}

TEST_CASE("A scan visits each metric in its range once, and no other metric") {
  constexpr uint64_t kMetrics = 1000;
  constexpr uint64_t kStepsOfMetricMax = 3000;
  EmptyRig rig;
  for (uint64_t metric = 1; metric <= kMetrics; ++metric) rig.Write(metric, 1, 1);
  const auto steps = [&](Bytes start, Bytes stop, bool reversed, size_t rows) {
    rig.watch.steps = 0;
    const auto keys = rig.Keys(std::move(start), std::move(stop), reversed);
    REQUIRE(keys.ok());
    CHECK(keys->size() == rows);
    return rig.watch.steps.load();
  };
  // If each piece of a reverse scan visited all metrics, there would be 64,000 steps for each.
  CHECK(steps("", "", false, kMetrics) < kMetrics * kStepsOfMetricMax);
  CHECK(steps("", "", true, kMetrics) < kMetrics * kStepsOfMetricMax);
  // A scan of one metric lists the metrics, with a step for each, but visits one of them.
  CHECK(steps(KeyAt(900, 0), KeyAt(901, 0), false, 1) < kMetrics + 2 * kStepsOfMetricMax);
  CHECK(steps(KeyAt(901, 0), KeyAt(900, 0), true, 1) < kMetrics + 2 * kStepsOfMetricMax);
  CHECK(rig.watch.bytes == 0);
}

TEST_CASE("Scans return the rows of their range in order, whatever the salts are") {
  constexpr uint64_t kMetrics = 12, kHosts = 4;
  struct Salt {
    int width, buckets;
  };
  // 300 buckets have 256 different salts of one byte.
  for (const Salt salt : {Salt{0, 1}, Salt{1, 3}, Salt{2, 3}, Salt{1, 300}}) {
    CAPTURE(salt.width);
    CAPTURE(salt.buckets);
    KeyLayout layout;
    layout.salt_width = salt.width;
    layout.salt_buckets = salt.buckets;
    EmptyRig rig(layout);
    std::vector<Bytes> all;
    for (uint64_t metric = 1; metric <= kMetrics; ++metric) {
      rig.Write(metric, kHosts, 2, metric == kMetrics / 2 ? 0 : UINT32_MAX);
      for (uint64_t host = 1; host <= kHosts; ++host) {
        for (const uint32_t base : {kFirst, kFirst + kRowSpan})
          all.push_back(codec::MakeRowKey(layout, Tsuid(host, metric), base));
      }
    }
    std::sort(all.begin(), all.end());
    std::vector<Bytes> bounds = {"", "\xFF"};
    for (size_t i = 0; i < all.size(); i += 29) {
      for (const size_t size : {1, 2, 4, 7, 9}) bounds.push_back(all[i].substr(0, size));
      bounds.push_back(all[i]);
      bounds.push_back(all[i] + Bytes(1, '\0'));
    }
    for (const Bytes& low : bounds) {
      for (const Bytes& high : bounds) {
        CAPTURE(ToHex(low));
        CAPTURE(ToHex(high));
        std::vector<Bytes> ascending, descending;
        for (const Bytes& key : all) {
          if (key >= low && (high.empty() || key < high)) ascending.push_back(key);
          if (key > low && (high.empty() || key <= high))
            descending.insert(descending.begin(), key);
        }
        const auto forward = rig.Keys(low, high);
        REQUIRE(forward.ok());
        CHECK(*forward == ascending);
        const auto reverse = rig.Keys(high, low, true);
        REQUIRE(reverse.ok());
        CHECK(*reverse == descending);
      }
    }
  }
}

}  // namespace hg
