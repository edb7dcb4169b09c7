// Files of points keep to windows of time (region-store.md C8).

#include <doctest/doctest.h>

#include <map>
#include <random>
#include <set>
#include <vector>

#include "storage/region/window_policy.h"

namespace hg::region {
namespace {

constexpr uint32_t kDayS = 86'400;
constexpr int64_t kHourMs = 3'600'000;
constexpr int64_t kDayMs = 24 * kHourMs;
constexpr uint32_t kFirst = 19'712;  // the first of the 64 days of a window

struct Row {
  uint32_t base;
  uint64_t write;  // decides which of two writes of a row is later
};

// A region whose clock, files and rows are numbers. The policy decides what is merged.
struct Region {
  struct Part {
    PartFacts facts;
    std::vector<Row> rows;
  };
  MergePolicy policy;
  std::vector<Part> parts;  // newest first
  uint64_t next = 1, written = 0, merged = 0;
  uint32_t rewrites_max = 0;

  Region() {
    policy.small_bytes = 0;
    policy.major_period_ms = 0;
  }
  [[nodiscard]] std::vector<PartFacts> Facts() const {
    std::vector<PartFacts> facts;
    for (const Part& part : parts) facts.push_back(part.facts);
    return facts;
  }
  // Like a flush: days with a large share of the rows get their own parts, and other rows share one
  // part.
  void Flush(const std::vector<Row>& rows, int64_t now_ms) {
    std::map<uint32_t, std::vector<Row>> days;
    for (const Row& row : rows) days[row.base / kDayS].push_back(row);
    std::vector<Row> others;
    std::vector<Part> fresh;
    for (const auto& [day, own] : days) {
      if (own.size() * 16 < rows.size()) {
        others.insert(others.end(), own.begin(), own.end());
      } else {
        fresh.push_back(MakeRun(own, 0, now_ms));
      }
    }
    if (!others.empty()) fresh.push_back(MakeRun(others, 0, now_ms));
    parts.insert(parts.begin(), fresh.begin(), fresh.end());
    written += rows.size();
  }
  Part MakeRun(std::vector<Row> rows, uint32_t rewrites, int64_t now_ms) {
    Part part;
    part.facts.number = next++;
    part.facts.bytes = rows.size();
    part.facts.made_ms = now_ms;
    part.facts.rewrites = rewrites;
    part.facts.rows = RowSpan::None();
    for (const Row& row : rows) part.facts.rows.AddBase(row.base);
    part.rows = std::move(rows);
    return part;
  }
  // Returns false if there is nothing to do.
  bool MergeOnce(int64_t now_ms) {
    const std::vector<PartFacts> facts = Facts();
    const Picked picked = PartsToJoin(facts, policy, now_ms);
    if (picked.empty()) return false;
    REQUIRE(MayJoin(facts, picked));
    RowSpan span = RowSpan::None();
    uint32_t rewrites = 0;
    for (const size_t i : picked) {
      span.Add(facts[i].rows);
      rewrites = std::max(rewrites, facts[i].rewrites + 1);
    }
    const WindowChoice choice(span, now_ms);
    std::map<Window, std::vector<Row>> windows;
    for (const size_t i : picked) {
      for (const Row& row : parts[i].rows) windows[choice.Of(row.base)].push_back(row);
      merged += parts[i].rows.size();
    }
    std::vector<Part> made;
    for (auto& [window, rows] : windows) made.push_back(MakeRun(rows, rewrites, now_ms));
    for (size_t i = picked.size(); i > 0; --i) {
      parts.erase(parts.begin() + static_cast<ptrdiff_t>(picked[i - 1]));
    }
    parts.insert(parts.begin() + static_cast<ptrdiff_t>(picked.front()), made.begin(), made.end());
    rewrites_max = std::max(rewrites_max, rewrites);
    return true;
  }
  void Merge(int64_t now_ms) {
    for (int i = 0; MergeOnce(now_ms); ++i) REQUIRE(i < 1000);
  }
  // Checks that newer parts have the later writes of each row.
  void CheckOrder() const {
    std::map<uint32_t, uint64_t> seen;
    for (const Part& part : parts) {
      std::map<uint32_t, uint64_t> least;
      for (const Row& row : part.rows) {
        if (const auto newer = seen.find(row.base); newer != seen.end()) {
          REQUIRE(row.write < newer->second);
        }
        const auto [at, fresh] = least.try_emplace(row.base, row.write);
        if (!fresh) at->second = std::min(at->second, row.write);
      }
      for (const auto& [base, write] : least) seen[base] = write;
    }
  }
};

TEST_CASE("windows are days, and eight windows of one level form one of the next") {
  const uint32_t base = kFirst * kDayS;
  CHECK(Window::Of(base, 0) == Window{0, kFirst});
  CHECK(Window::Of(base, 2) == Window{2, kFirst / 64});
  CHECK(Window::Of(base, 2).StartMs() == int64_t{base} * 1000);
  CHECK(Window::Of(base, 2).EndMs() == (int64_t{kFirst} + 64) * kDayMs);
  CHECK(Window::Around({base, base + kDayS - 1, false}) == Window{0, kFirst});
  CHECK(Window::Around({base, base + kDayS, false}) == Window{1, kFirst / 8});
  CHECK(Window::Around({base + 7 * kDayS, base + 8 * kDayS, false}) == Window{2, kFirst / 64});
  CHECK(Window::Around({base - 1, base, false}).level > 2);
  CHECK(Window{1, 5}.Holds({0, 47}));
  CHECK_FALSE(Window{1, 5}.Holds({0, 48}));
  CHECK_FALSE(Window{0, 47}.Holds({1, 5}));
}

TEST_CASE("a merge writes days for the present, and larger windows for the past and far future") {
  const uint32_t base = kFirst * kDayS;
  const int64_t now_ms = (int64_t{base} + 10 * int64_t{kDayS}) * 1000;
  const WindowChoice choice({base - 65 * kDayS, base + 130 * kDayS, false}, now_ms);
  CHECK(choice.fine());
  CHECK(choice.Of(base - 1) == Window::Of(base - 1, 2));
  CHECK(choice.Of(base) == Window::Of(base, 1));
  CHECK(choice.Of(base + 8 * kDayS).level == 0);
  CHECK(choice.Of(base + 10 * kDayS).level == 0);
  CHECK(choice.Of(base + 64 * kDayS).level == 2);
  // With all possible times there are few enough windows: a merge writes one file per window at
  // once.
  const WindowChoice wide(RowSpan{}, now_ms);
  CHECK_FALSE(wide.fine());
  std::set<Window> windows;
  for (uint64_t at = 0; at <= UINT32_MAX; at += kDayS) {
    windows.insert(wide.Of(static_cast<uint32_t>(at)));
  }
  CHECK(windows.size() < 200);
}

TEST_CASE(
    "with a year in order, each byte is rewritten three times at most, and few parts remain") {
  Region region;
  uint64_t write = 0;
  size_t depth_max = 0, parts_max = 0;
  for (uint32_t hour = 0; hour < 366 * 24; ++hour) {
    const uint32_t base = kFirst * kDayS + hour * 3600;
    const int64_t now_ms = int64_t{base} * 1000 + kHourMs;
    region.Flush({{base, ++write}, {base, ++write}}, now_ms);
    region.Merge(now_ms);
    std::vector<RowSpan> spans;
    for (const auto& part : region.parts) spans.push_back(part.facts.rows);
    depth_max = std::max(depth_max, Depth(spans));
    parts_max = std::max(parts_max, spans.size());
  }
  CHECK(region.rewrites_max == 3);
  CHECK(region.merged <= 3 * region.written);
  CHECK(region.merged > region.written);
  CHECK(depth_max < region.policy.parts_blocking);
  CHECK(parts_max < 70);
  region.CheckOrder();
}

TEST_CASE("late rows do not rewrite old windows at once") {
  Region region;
  std::mt19937 random(5);
  uint64_t write = 0;
  const auto hour = [&](uint32_t at, bool late) {
    std::vector<Row> rows;
    const uint32_t base = kFirst * kDayS + at * 3600;
    for (int i = 0; i < 100; ++i) rows.push_back({base, ++write});
    if (late)
      rows.push_back({kFirst * kDayS + 3600 * static_cast<uint32_t>(random() % at), ++write});
    region.Flush(rows, int64_t{base} * 1000 + kHourMs);
    region.Merge(int64_t{base} * 1000 + kHourMs);
  };
  uint32_t at = 0;
  for (; at < 200 * 24; ++at) hour(at, false);
  // Returns the parts of the three windows of 64 days that are over by then. Each window is one
  // part.
  const auto old_windows = [&] {
    std::vector<uint64_t> numbers;
    for (const auto& part : region.parts) {
      if (part.rows.size() > 60 * 24 * 100) numbers.push_back(part.facts.number);
    }
    return numbers;
  };
  REQUIRE(old_windows().size() == 3);
  const std::vector<uint64_t> before = old_windows();
  for (const uint32_t end = at + 50 * 24; at < end; ++at) hour(at, true);
  CHECK(old_windows() == before);
  size_t wide = 0, late = 0;
  for (const auto& part : region.parts) {
    wide += Window::Around(part.facts.rows).level > 2 ? 1 : 0;
    late += part.rows.size() < 60 * 24 * 100 && part.facts.rows.last_base < (kFirst + 192) * kDayS;
  }
  // Late rows wait in a few parts. Such parts are later divided by windows and merged.
  CHECK(wide < 8);
  CHECK(late > 0);
  CHECK(late < 30);
  CHECK(region.parts.size() < 90);
  region.CheckOrder();
}

TEST_CASE(
    "with random times, later writes stay newer than earlier ones, and merging comes to an end") {
  for (unsigned seed = 1; seed <= 30; ++seed) {
    CAPTURE(seed);
    std::mt19937 random(seed);
    Region region;
    uint64_t write = 0;
    int64_t now_ms = int64_t{kFirst} * kDayMs;
    const std::vector<uint32_t> reach = {1, 3, 20, 200, 2000, 40'000};
    for (int flush = 0; flush < 120; ++flush) {
      now_ms += static_cast<int64_t>(random() % 10) * kHourMs;
      std::vector<Row> rows;
      const auto today = static_cast<uint32_t>(now_ms / kDayMs);
      for (unsigned i = 0, n = 1 + random() % 40; i < n; ++i) {
        const uint32_t back = random() % reach[random() % reach.size()];
        const uint32_t day = random() % 8 == 0 ? today + back % 20'000 : today - back % today;
        rows.push_back({day * kDayS + 3600 * static_cast<uint32_t>(random() % 24), ++write});
      }
      region.Flush(rows, now_ms);
      if (random() % 3 == 0) region.Merge(now_ms);
      region.CheckOrder();
    }
    region.Merge(now_ms + 100 * kDayMs);
    region.CheckOrder();
    size_t rows = 0;
    for (const auto& part : region.parts) rows += part.rows.size();
    CHECK(rows == region.written);
  }
}

TEST_CASE("parts are not merged past a part that has rows in common with them") {
  const auto fact = [](uint32_t first_day, uint32_t last_day) {
    PartFacts part;
    part.rows = {first_day * kDayS, last_day * kDayS, false};
    return part;
  };
  // Newest first.
  const std::vector<PartFacts> parts = {fact(5, 5), fact(1, 3), fact(4, 5), fact(1, 1)};
  CHECK(MayJoin(parts, {0, 2}));
  CHECK_FALSE(MayJoin(parts, {0, 3}));
  CHECK(MayJoin(parts, {0, 1, 3}));
  CHECK(MayJoin(parts, {2, 3}));
  CHECK(IsBottom(parts, {0, 2}));
  CHECK_FALSE(IsBottom(parts, {0}));
  CHECK_FALSE(IsBottom(parts, {1, 2}));
  CHECK(IsBottom(parts, {1, 3}));
  // Rows without a time overlap only with each other.
  std::vector<PartFacts> loose = parts;
  loose[0].rows = loose[2].rows = RowSpan{1, 0, true};
  CHECK(MayJoin(loose, {1, 3}));
  CHECK(IsBottom(loose, {2}));
  CHECK_FALSE(IsBottom(loose, {0}));
}

}  // namespace
TEST_CASE("a merge does not make points newer than cells that were written after them") {
  const auto fact = [](uint32_t first_day, uint32_t last_day, uint64_t first, uint64_t last) {
    PartFacts part;
    part.rows = {first_day * kDayS, last_day * kDayS, false};
    part.first_sequence = first;
    part.last_sequence = last;
    return part;
  };
  // Two parts of one flush, and an older part with points of the same day as the first.
  std::vector<PartFacts> parts = {fact(5, 5, 101, 200), fact(1, 9, 101, 200), fact(1, 9, 1, 100)};
  CHECK(MayJoin(parts, {1, 2}));
  parts[0].cells = true;
  CHECK_FALSE(MayJoin(parts, {1, 2}));
  CHECK(MayJoin(parts, {0, 1, 2}));
  CHECK(MayJoin(parts, {1}));
  CHECK(MayJoin(parts, {2}));
  parts[2].rows = {1 * kDayS, 4 * kDayS, false};
  CHECK(MayJoin(parts, {1, 2}));
  parts[2].rows = parts[1].rows;
  parts[0].first_sequence = 201;
  parts[0].last_sequence = 300;
  CHECK(MayJoin(parts, {1, 2}));
}

}  // namespace hg::region
