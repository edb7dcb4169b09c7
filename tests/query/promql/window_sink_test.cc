#include "query/promql/window_sink.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <bit>
#include <random>
#include <string>

#include "query/promql/parser.h"
#include "tests/support/fake_watch.h"

namespace hg::query::promql {
namespace {

struct Samples {
  std::vector<int64_t> times_ms;
  std::vector<double> values;
};

Samples RandomSamples(std::mt19937_64& random) {
  Samples samples;
  int64_t at_ms = static_cast<int64_t>(random() % 100'000);
  for (size_t left = random() % 600; left > 0; --left) {
    at_ms += 1 + static_cast<int64_t>(random() % (random() % 50 == 0 ? 400'000 : 12'000));
    samples.times_ms.push_back(at_ms);
    samples.values.push_back(static_cast<double>(random() % 10'000) / 7);
    if (random() % 40 == 0) samples.values.back() = Absent();
  }
  return samples;
}

/// Computes all windows over all samples at once.
Column Whole(const WindowCall& call, const Samples& samples) {
  Samples present;
  for (size_t i = 0; i < samples.values.size(); ++i) {
    if (IsAbsent(samples.values[i])) continue;
    present.times_ms.push_back(samples.times_ms[i]);
    present.values.push_back(samples.values[i]);
  }
  Column to(call.steps(), Absent());
  WindowPlace place;
  MemoryTally tally(nullptr);
  REQUIRE(call.Slide(present.times_ms, present.values, {}, call.steps(), &place, &tally, &to).ok());
  return to;
}

bool Same(const Column& a, const Column& b) {
  return std::equal(a.begin(), a.end(), b.begin(), b.end(), [](double x, double y) {
    return std::bit_cast<uint64_t>(x) == std::bit_cast<uint64_t>(y);
  });
}

Labels Named(size_t number) {
  return Labels({{"__name__", "m"}, {"number", std::to_string(number)}});
}

/// Passes the samples of a series between two times to the sink.
Status Give(const Samples& samples, int64_t from_ms, int64_t until_ms, size_t series,
            SampleSink* sink) {
  const auto place = [&](int64_t ms) {
    return static_cast<size_t>(
        std::lower_bound(samples.times_ms.begin(), samples.times_ms.end(), ms) -
        samples.times_ms.begin());
  };
  const size_t begin = place(from_ms), count = place(until_ms) - begin;
  return sink->AddSamples(series, std::span(samples.times_ms).subspan(begin, count),
                          std::span(samples.values).subspan(begin, count));
}

constexpr int64_t kLastMs = 20'000'000, kPieceMs = 700'000;

constexpr const char* kFunctions[] = {"avg_over_time", "sum_over_time",  "max_over_time",
                                      "rate",          "last_over_time", "count_over_time",
                                      "changes",       "deriv"};

WindowCall RandomCall(std::mt19937_64& random) {
  const char* const name = kFunctions[random() % std::size(kFunctions)];
  Steps steps;
  steps.start_ms = static_cast<int64_t>(random() % 3'000'000);
  steps.step_ms = static_cast<int64_t>(random() % 4 == 0 ? random() % 3 : random() % 900'000);
  steps.count = 1 + random() % 30;
  return {name, steps, steps, 1 + static_cast<int64_t>(random() % 1'000'000), {}};
}

}  // namespace

TEST_CASE("windows computed while samples arrive equal those over all samples") {
  std::mt19937_64 random(7);
  for (int round = 0; round < 300; ++round) {
    CAPTURE(round);
    const WindowCall call = RandomCall(random);
    std::vector<Samples> series(1 + random() % 5);
    for (Samples& samples : series) samples = RandomSamples(random);
    FakeWatch watch;
    {
      MemoryTally tally(&watch);
      WindowSink sink(call, &watch, &tally);
      const bool in_turn = round % 2 == 0;
      for (size_t i = 0; i < series.size(); ++i) REQUIRE(sink.AddSeries(Named(i)).ok());
      if (in_turn) {
        for (size_t i = 0; i < series.size(); ++i) {
          for (int64_t at_ms = 0; at_ms < kLastMs; at_ms += kPieceMs)
            REQUIRE(Give(series[i], at_ms, at_ms + kPieceMs, i, &sink).ok());
          REQUIRE(sink.EndSeries(i).ok());
        }
      } else {
        for (int64_t at_ms = 0; at_ms < kLastMs; at_ms += kPieceMs) {
          for (size_t i = 0; i < series.size(); ++i)
            REQUIRE(Give(series[i], at_ms, at_ms + kPieceMs, i, &sink).ok());
        }
      }
      const Result<Value> value = sink.Finish();
      REQUIRE(value.ok());
      size_t next = 0;
      for (size_t i = 0; i < series.size(); ++i) {
        const Column whole = Whole(call, series[i]);
        if (std::all_of(whole.begin(), whole.end(), IsAbsent)) continue;
        REQUIRE(next < value->vector.size());
        CHECK(value->vector[next].labels.Get("number") == std::to_string(i));
        CHECK(Same(value->vector[next++].values, whole));
      }
      CHECK(next == value->vector.size());
    }
    CHECK(watch.bytes == 0);
  }
}

TEST_CASE("the samples of parts are joined in order, after the samples before them") {
  std::mt19937_64 random(8);
  const Steps steps{60'000, 60'000, 40};
  const WindowCall call("sum_over_time", steps, steps, 300'000, {});
  Samples samples;
  for (int64_t i = 0; i < 300; ++i) {
    samples.times_ms.push_back(i * 10'000);
    samples.values.push_back(static_cast<double>(random() % 100));
  }
  FakeWatch watch;
  {
    MemoryTally tally(&watch);
    WindowSink sink(call, &watch, &tally);
    const auto add = [&](size_t name, size_t series, SampleSink* to) {
      REQUIRE(to->AddSeries(Named(name)).ok());
      REQUIRE(Give(samples, 0, kLastMs, series, to).ok());
    };
    add(0, 0, &sink);
    const std::vector<SampleSink*> parts = sink.Cut(3);
    REQUIRE(parts.size() == 3);
    add(3, 0, parts[2]);
    add(1, 0, parts[0]);
    add(2, 1, parts[0]);
    REQUIRE(sink.Join().ok());
    add(4, 4, &sink);
    const Result<Value> value = sink.Finish();
    REQUIRE(value.ok());
    std::string order;
    for (const VectorSeries& series : value->vector) {
      order += series.labels.Get("number");
      CHECK(Same(series.values, Whole(call, samples)));
    }
    CHECK(order == "01234");
    CHECK(watch.bytes > 0);
  }
  CHECK(watch.bytes == 0);
}

TEST_CASE("samples are kept only as long as a window needs them") {
  const Steps steps{0, 60'000, 100'000};
  const WindowCall call("max_over_time", steps, steps, 300'000, {});
  FakeWatch watch;
  MemoryTally tally(&watch);
  WindowSink sink(call, &watch, &tally);
  int64_t held = 0;
  for (size_t series = 0; series < 20; ++series) {
    REQUIRE(sink.AddSeries(Named(series)).ok());
    const int64_t before = tally.held();
    std::vector<int64_t> times_ms(360);
    const std::vector<double> values(360, 1);
    for (int64_t row = 0; row < 1000; ++row) {
      for (int64_t i = 0; i < 360; ++i)
        times_ms[static_cast<size_t>(i)] = row * 3'600'000 + i * 10'000;
      REQUIRE(sink.AddSamples(series, times_ms, values).ok());
    }
    REQUIRE(sink.EndSeries(series).ok());
    held += tally.held() - before;
  }
  CHECK(held < 64 * 1024);  // of 20 series with 360,000 samples each
}

TEST_CASE("samples between two windows are not kept") {
  constexpr int64_t kDayMs = 86'400'000, kRowMs = 3'600'000;
  const Steps steps{0, kDayMs, 40};
  Samples samples;
  for (int64_t at_ms = 0; at_ms <= steps.end_ms(); at_ms += 10'000) {
    samples.times_ms.push_back(at_ms);
    samples.values.push_back(static_cast<double>(at_ms % 7'919));
  }
  for (const char* const name : {"rate", "avg_over_time"}) {
    CAPTURE(name);
    const WindowCall call(name, steps, steps, 300'000, {});
    FakeWatch watch;
    MemoryTally tally(&watch);
    WindowSink sink(call, &watch, &tally);
    REQUIRE(sink.AddSeries(Named(0)).ok());
    for (int64_t at_ms = 0; at_ms <= steps.end_ms(); at_ms += kRowMs)
      REQUIRE(Give(samples, at_ms, at_ms + kRowMs, 0, &sink).ok());
    CHECK(tally.held() < 128 * 1024);  // 8,640 samples a day
    REQUIRE(sink.EndSeries(0).ok());
    const Result<Value> value = sink.Finish();
    REQUIRE(value.ok());
    REQUIRE(value->vector.size() == 1);
    CHECK(Same(value->vector[0].values, Whole(call, samples)));
  }
}

}  // namespace hg::query::promql
