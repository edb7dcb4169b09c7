// Many rows are read in parts by several threads. Results must not differ.

#include <doctest/doctest.h>

#include <bit>
#include <memory>
#include <random>

#include "query/promql/evaluator.h"
#include "query/promql/parser.h"
#include "query/promql/stored_series.h"
#include "query/request/side_by_side.h"
#include "storage/base/worker_pool.h"
#include "storage/codec/row_key.h"
#include "storage/engine/embedded.h"
#include "tests/storage/engine/temp_folder.h"
#include "tests/support/fake_watch.h"

namespace hg::query::promql {
namespace {

constexpr int64_t kStart = 1'700'006'400;
constexpr int kHosts = 120, kHours = 6;

class Fixture {
 public:
  Fixture() {
    EmbeddedOptions embedded;
    embedded.path = folder_.path();
    embedded.background = false;
    auto opened = Embedded::Open(embedded);
    REQUIRE(opened.ok());
    store = std::move(*opened);
    names = std::make_unique<uid::Names>(store->cells(), uid::NamesOptions());
    Write(0, kHours * 3600 / 2);
    REQUIRE(store->cells().Flush().ok());
    Write(kHours * 3600 / 2, kHours * 3600);
  }

  /// Returns the labels and the bits of each value.
  std::string Ask(const std::string& text, bool in_parts) {
    ReadingThreads threads;
    if (in_parts) {
      threads.count = 3;
      threads.side_by_side = [&](size_t count, const std::function<bool(size_t)>& task) {
        parts_most = std::max(parts_most, count);
        RunSideBySide(&helpers, 2, count, task);
      };
    }
    std::string out;
    {
      StoredSeries series(store->points(), *names, options, watch, threads);
      const Steps steps{(kStart + 600) * 1000, 700'000, 30};
      Evaluator evaluator(series, &watch, {steps.start_ms, steps.end_ms()});
      const Result<ExprPtr> expr = ParseExpression(text);
      REQUIRE(expr.ok());
      const Result<Value> value = evaluator.Evaluate(**expr, steps);
      if (!value.ok()) return std::string(value.status().message());
      for (const VectorSeries& one : value->vector) {
        out += one.labels.Text();
        for (const double number : one.values)
          out += " " + std::to_string(std::bit_cast<uint64_t>(number));
        out += "\n";
      }
    }
    CHECK(watch.bytes == 0);
    return out;
  }

  std::unique_ptr<Embedded> store;
  std::unique_ptr<uid::Names> names;
  WorkerPool helpers{2, 64};
  const Options options;
  FakeWatch watch;
  size_t parts_most = 0;

 private:
  Bytes Id(UidKind kind, const std::string& name) { return *names->FindOrAssign(kind, name); }

  void Write(int64_t from_s, int64_t until_s) {
    for (int host = 0; host < kHosts; ++host) {
      Bytes pair = Id(UidKind::kTagk, "host");
      pair += Id(UidKind::kTagv, "h" + std::to_string(host));
      const Bytes tsuid = codec::MakeTsuid(Id(UidKind::kMetric, host % 2 == 0 ? "m" : "n"), {pair});
      const SeriesNumber number = *store->points().Register(tsuid);
      for (int64_t at = from_s; at < until_s; at += 1 + static_cast<int64_t>(random_() % 100)) {
        const auto value = static_cast<double>(random_() % 100'000) / 7;
        const PointEntry entry =
            MakePointEntry(number, Timestamp{kStart + at},
                           host % 3 == 0 ? PointValue::Int(static_cast<int64_t>(value))
                                         : PointValue::Double(value));
        REQUIRE(store->points().Append({&entry, 1}).ok());
      }
    }
  }

  std::mt19937_64 random_{3};
  TempFolder folder_;
};

}  // namespace

TEST_CASE_FIXTURE(Fixture, "series read in parts give the same result as one scan, bit for bit") {
  for (const char* text :
       {"m", "{__name__=~\"m|n\"}", "sum(m)", "avg by (host) (avg_over_time(m[1h]))",
        "sum(rate({__name__=~\"m|n\"}[20m]))", "sum(avg_over_time({host=~\"h.*[3-9]\"}[1h]))",
        "max_over_time(m{host=~\"h2|h4\"}[5m])", "timestamp(n)", "m[5m]", "absent_over_time(m[1s])",
        "m - on (host) group_left () last_over_time(m[30s])", "max_over_time(gone[5m])"}) {
    CAPTURE(text);
    CHECK(Ask(text, true) == Ask(text, false));
  }
  CHECK(parts_most == 6);
}

TEST_CASE_FIXTURE(Fixture, "an error for work or memory ends all parts") {
  watch.steps_max = 5000;
  CHECK(Ask("avg_over_time(m[1h])", true) == "too many steps");
  watch.steps_max = UINT64_MAX;
  watch.bytes_max = 100'000;
  CHECK(Ask("avg_over_time(m[1h])", true) == "too many bytes");
  CHECK(watch.bytes == 0);
}

TEST_CASE_FIXTURE(Fixture, "a query of many rows does not start on an event loop") {
  (void)Ask("m{host=\"h2\"}", true);  // now its blocks are in memory
  watch.StayOnLoop();
  CHECK(Ask("m{host=\"h2\"}", true).starts_with("{__name__"));
  CHECK(!watch.refused());
  (void)Ask("m", true);
  CHECK(watch.refused());
}

}  // namespace hg::query::promql
