#include <doctest/doctest.h>

#include <algorithm>
#include <numeric>
#include <vector>

#include "storage/region/merge_policy.h"
#include "storage/region/pre_split.h"
#include "storage/region/region_map.h"
#include "storage/region/split_policy.h"

namespace hg::region {
namespace {

constexpr uint64_t kMiB = 1 << 20;

lsm::RegionEntry At(uint32_t id, Bytes start) { return {id, std::move(start)}; }

TEST_CASE("a key is in the last region that does not begin after it") {
  const RegionMap map({At(4, ""), At(2, "b"), At(9, "ba")});
  CHECK(map.IdOf("") == 4);
  CHECK(map.IdOf("azz") == 4);
  CHECK(map.IdOf("b") == 2);
  CHECK(map.IdOf(Bytes("b\0", 2)) == 2);
  CHECK(map.IdOf("ba") == 9);
  CHECK(map.IdOf("\xFF") == 9);
  CHECK(map.Stop(0) == "b");
  CHECK(map.Stop(2).empty());
  CHECK(map.IndexOfId(9) == 2);
  CHECK(!map.IndexOfId(7));
}

TEST_CASE("the regions of a range are those that contain a key of it") {
  const RegionMap map({At(0, ""), At(1, "b"), At(2, "d")});
  using Pair = std::pair<size_t, size_t>;
  CHECK(map.Overlapping("", "") == Pair(0, 3));
  CHECK(map.Overlapping("a", "b") == Pair(0, 1));
  CHECK(map.Overlapping("a", Bytes("b\0", 2)) == Pair(0, 2));
  CHECK(map.Overlapping("b", "d") == Pair(1, 2));
  CHECK(map.Overlapping("c", "c") == Pair(1, 1));
  CHECK(map.Overlapping("e", "a") == Pair(2, 2));
  Bytes start = "a", stop = "c";
  CHECK(ClipKeys(map, 1, &start, &stop));
  CHECK(start == "b");
  CHECK(stop == "c");
  CHECK(!ClipKeys(map, 2, &start, &stop));
}

TEST_CASE("a salted table has a region per bucket, and another table has one") {
  KeyLayout layout;
  layout.salt_width = 1;
  layout.salt_buckets = 20;
  const RegionMap map(lsm::SaltRegions(layout));
  CHECK(map.count() == 20);
  for (uint32_t region = 1; region < 20; ++region) {
    CHECK(map.IdOf(map.Start(region)) == region);
    CHECK(map.Start(region) == Bytes(1, static_cast<char>(region)));
  }
  CHECK(map.IdOf("\xFF") == 19);
  CHECK(RegionMap(lsm::SaltRegions(KeyLayout{})).count() == 1);
  layout.salt_buckets = 300;
  CHECK(lsm::SaltRegions(layout).size() == 256);
}

TEST_CASE("the rows of a series form one slice of time per region") {
  // Metric 000001 is cut at base 0x00010000, and 000002 in the middle of its bases.
  const RegionMap map({At(0, ""), At(1, Bytes("\0\0\1\0\1\0\0", 7)), At(2, Bytes("\0\0\2", 3)),
                       At(3, Bytes("\0\0\2\1", 4)), At(4, Bytes("\0\0\3\0", 4))});
  const auto text = [&](ByteView prefix, RowRange bases) {
    std::vector<SeriesSlice> slices;
    SlicesOf(map, prefix, bases, &slices);
    std::string text;
    for (const SeriesSlice& slice : slices) {
      text += std::to_string(slice.region) + ":" + std::to_string(slice.bases.begin) + "-" +
              std::to_string(slice.bases.end) + " ";
    }
    return text;
  };
  const ByteView one("\0\0\1", 3), two("\0\0\2", 3), three("\0\0\3", 3);
  CHECK(text(one, {}) == "0:0-65536 1:65536-4294967296 ");
  CHECK(text(one, {65535, 65536}) == "0:65535-65536 ");
  CHECK(text(one, {65536, 70000}) == "1:65536-70000 ");
  CHECK(text(one, {7, 7}).empty());
  CHECK(text(two, {}) == "2:0-16777216 3:16777216-4294967296 ");
  CHECK(text(three, {5, 6}) == "4:5-6 ");
  CHECK(text({"\0\0\0", 3}, {}) == "0:0-4294967296 ");
  CHECK(text({"\0\0\4", 3}, {}) == "4:0-4294967296 ");
  for (size_t region = 0; region < map.count(); ++region) {
    for (const uint32_t base : {0U, 65535U, 65536U, 16777215U, 16777216U, UINT32_MAX}) {
      for (const ByteView prefix : {one, two, three}) {
        Bytes key(prefix);
        AppendBig(&key, base, 4);
        const RowRange here = BasesIn(map, region, prefix);
        CHECK((base >= here.begin && base < here.end) == (map.IndexOf(key) == region));
      }
    }
  }
}

TEST_CASE("split keys are sorted, and empty or repeated keys are refused") {
  auto regions = PreSplit({At(0, "")}, {"m", "c", "zz"}, SIZE_MAX);
  REQUIRE(regions.ok());
  CHECK(*regions == std::vector<lsm::RegionEntry>{At(0, ""), At(0, "c"), At(0, "m"), At(0, "zz")});
  CHECK(PreSplit({At(0, "")}, {"a", ""}, SIZE_MAX).status().code() == StatusCode::kInvalidArgument);
  const Status twice = PreSplit({At(0, "")}, {"a\x01", "b", "a\x01"}, SIZE_MAX).status();
  CHECK(twice.code() == StatusCode::kInvalidArgument);
  CHECK(twice.message().find("a\\x01") != std::string_view::npos);
  // Groups of rows stay together, and existing boundaries are not repeated.
  regions = PreSplit({At(0, ""), At(1, "c")}, {"abcdef", "c"}, 3);
  REQUIRE(regions.ok());
  CHECK(*regions == std::vector<lsm::RegionEntry>{At(0, ""), At(0, "abc"), At(1, "c")});
  CHECK(!PreSplit({At(0, "")}, {"abcdef", "abcxyz"}, 3).ok());
}

TEST_CASE("a file of keys may have CRLF, escapes and blank lines") {
  const auto keys = ParseKeyLines("a\\x00b\r\n\r\n\\\\x\n\\xfF\n\n");
  REQUIRE(keys.ok());
  CHECK(*keys == std::vector<Bytes>{Bytes("a\0b", 3), "\\x", "\xFF"});
  for (const char* bad : {"\\", "a\\y", "\\x", "\\x1", "\\xg0"}) {
    CHECK(ParseKey(bad).status().code() == StatusCode::kInvalidArgument);
  }
  for (const Bytes& key : {Bytes("a\0 b\\", 5), Bytes("\xFF\x7F~", 3), Bytes()}) {
    CHECK(*ParseKey(KeyText(key)) == key);
  }
  CHECK(KeyText(Bytes("a\0\xAB", 3)) == "a\\x00\\xAB");
}

TEST_CASE("hexadecimal keys are split into equal shares") {
  CHECK(HexSplits(1).empty());
  CHECK(HexSplits(2) == std::vector<Bytes>{"80000000"});
  CHECK(HexSplits(3) == std::vector<Bytes>{"55555555", "aaaaaaaa"});
  CHECK(HexSplits(10) == std::vector<Bytes>{"19999999", "33333332", "4ccccccb", "66666664",
                                            "7ffffffd", "99999996", "b333332f", "ccccccc8",
                                            "e6666661"});
}

TEST_CASE("raw keys are split into equal shares") {
  const auto hex = [](uint32_t n) {
    std::vector<Bytes> all;
    for (const Bytes& key : UniformSplits(n)) all.push_back(ToHex(key));
    return all;
  };
  CHECK(hex(1).empty());
  CHECK(hex(2) == std::vector<Bytes>{"8000000000000000"});
  CHECK(hex(3) == std::vector<Bytes>{"5555555555555555", "aaaaaaaaaaaaaaaa"});
  CHECK(hex(4) == std::vector<Bytes>{"4000000000000000", "8000000000000000", "c000000000000000"});
  CHECK(hex(10)[0] == "1999999999999999");
}

TEST_CASE("a region is split at a constant, growing or stepping size") {
  SplitPolicy policy;
  policy.jitter = 0;
  const auto thresholds = [&](SplitRule rule) {
    policy.rule = rule;
    std::vector<uint64_t> mib;
    for (size_t regions = 1; regions <= 10; ++regions) {
      mib.push_back(*SplitThreshold(policy, regions, 7) / kMiB);
    }
    return mib;
  };
  using List = std::vector<uint64_t>;
  CHECK(thresholds(SplitRule::kIncreasingSquared) ==
        List{128, 512, 1152, 2048, 3200, 4608, 6272, 8192, 10240, 10240});
  CHECK(thresholds(SplitRule::kIncreasingCubed) ==
        List{256, 2048, 6912, 10240, 10240, 10240, 10240, 10240, 10240, 10240});
  CHECK(thresholds(SplitRule::kConstant) == List(10, 10240));
  List stepping(10, 10240);
  stepping[0] = 256;
  CHECK(thresholds(SplitRule::kStepping) == stepping);
  policy.rule = SplitRule::kNone;
  CHECK(!SplitThreshold(policy, 1, 7));
  policy.rule = SplitRule::kIncreasingCubed;
  CHECK(*SplitThreshold(policy, 0, 7) == 10240 * kMiB);
  CHECK(*SplitThreshold(policy, 101, 7) == 10240 * kMiB);
}

TEST_CASE("a table with its own split policy follows it, and other tables follow the settings") {
  using Kind = TableSplitPolicy::Kind;
  SplitPolicy settings;
  settings.rule = SplitRule::kIncreasingSquared;
  const std::pair<Kind, SplitRule> rules[] = {
      {Kind::kDefault, SplitRule::kIncreasingSquared},
      {Kind::kDisabled, SplitRule::kNone},
      {Kind::kConstantSize, SplitRule::kConstant},
      {Kind::kIncreasing, SplitRule::kIncreasingCubed},
      {Kind::kStepping, SplitRule::kStepping},
      {Kind::kKeyPrefix, SplitRule::kIncreasingCubed},
      {Kind::kDelimitedKeyPrefix, SplitRule::kIncreasingCubed}};
  for (const auto& [kind, rule] : rules) CHECK(RuleOf(settings, {kind, 0, ""}) == rule);
}

TEST_CASE("keys with the same prefix, or equal up to a delimiter, are a group") {
  const TableSplitPolicy prefix{TableSplitPolicy::Kind::kKeyPrefix, 3, ""};
  CHECK(GroupOf(prefix, "abcd") == "abc");
  CHECK(GroupOf(prefix, "ab") == "ab");
  const TableSplitPolicy delimited{TableSplitPolicy::Kind::kDelimitedKeyPrefix, 0, "__"};
  CHECK(GroupOf(delimited, "user__event__1") == "user__");
  CHECK(GroupOf(delimited, "user_event") == "user_event");
  CHECK(GroupOf(TableSplitPolicy(), "abcd") == "abcd");
  // The groups of ascending keys ascend.
  std::vector<Bytes> keys = {"a", "a!", "a!__1", "a__", "a__1", "a___", "aa__x", "b", "__", "_"};
  std::sort(keys.begin(), keys.end());
  for (size_t i = 1; i < keys.size(); ++i) {
    CAPTURE(keys[i]);
    CHECK(GroupOf(delimited, keys[i - 1]) <= GroupOf(delimited, keys[i]));
    CHECK(GroupOf(prefix, keys[i - 1]) <= GroupOf(prefix, keys[i]));
  }
}

TEST_CASE("the maximum size of a region varies by an eighth and is stable") {
  SplitPolicy policy;
  policy.rule = SplitRule::kConstant;
  uint64_t least = UINT64_MAX, most = 0;
  for (uint64_t id = 0; id < 1000; ++id) {
    const uint64_t bytes = *SplitThreshold(policy, 5, id);
    CHECK(bytes == *SplitThreshold(policy, 5, id));
    least = std::min(least, bytes);
    most = std::max(most, bytes);
  }
  CHECK(least >= 8960 * kMiB);
  CHECK(least < 9000 * kMiB);
  CHECK(most <= 11520 * kMiB);
  CHECK(most > 11480 * kMiB);
}

GroupWeight Hour(int metric, uint32_t base, uint64_t bytes) {
  GroupWeight group;
  AppendBig(&group.key, static_cast<uint64_t>(metric), 3);
  AppendBig(&group.key, base, 4);
  group.bytes = bytes;
  return group;
}

TEST_CASE("a table is split in the middle of its bytes, never within a row") {
  CHECK(*SplitPoint({{"a", 10}, {"b", 10}, {"c", 10}, {"d", 10}}, nullptr) == "c");
  CHECK(*SplitPoint({{"a", 10}, {"b", 1}}, nullptr) == "b");
  CHECK(*SplitPoint({{"a", 1}, {"b", 10}, {"c", 1}}, nullptr) == "b");
  CHECK(!SplitPoint({{"a", 10}}, nullptr));
  CHECK(!SplitPoint({}, nullptr));
}

TEST_CASE("points are split between metrics, or between hours of a metric that is too large") {
  const KeyLayout layout;
  std::vector<GroupWeight> groups;
  for (int metric = 1; metric <= 4; ++metric) {
    for (uint32_t hour = 0; hour < 30; ++hour) groups.push_back(Hour(metric, hour * 3600, 5));
  }
  CHECK(*SplitPoint(groups, &layout) == Bytes("\0\0\3", 3));

  // 40 days of one metric: split at the first hour of the 20th day.
  groups = {Hour(1, 0, 5)};
  for (uint32_t hour = 0; hour < 40 * 24; ++hour) groups.push_back(Hour(2, hour * 3600, 5));
  CHECK(*SplitPoint(groups, &layout) == Hour(2, 20 * 86400, 0).key);
  // Six hours: split at the fourth hour.
  groups.clear();
  for (uint32_t hour = 0; hour < 6; ++hour) groups.push_back(Hour(2, hour * 3600, 5));
  CHECK(*SplitPoint(groups, &layout) == Hour(2, 3 * 3600, 0).key);
  // A single hour is not split, and the search ends.
  CHECK(!SplitPoint({Hour(2, 3600, 1 << 30)}, &layout));
}

TEST_CASE("halves of evenly distributed data differ by less than a tenth") {
  const KeyLayout layout;
  for (const uint32_t hours : {50U, 100U, 1000U}) {
    std::vector<GroupWeight> groups;
    for (uint32_t hour = 0; hour < hours; ++hour) groups.push_back(Hour(2, hour * 3600, 7));
    const Bytes key = *SplitPoint(groups, &layout);
    const auto before = std::count_if(groups.begin(), groups.end(),
                                      [&](const auto& group) { return group.key < key; });
    CHECK(static_cast<double>(before) / hours > 0.45);
    CHECK(static_cast<double>(before) / hours < 0.55);
  }
}

// HBase's test vectors, oldest first, in MiB.
Slice Explore(std::vector<uint64_t> mib, bool stuck = false, double ratio = 1.2) {
  MergePolicy policy;
  policy.small_bytes = 128 * kMiB;
  for (uint64_t& bytes : mib) bytes *= kMiB;
  return ExploreParts(mib, policy, ratio, stuck);
}

TEST_CASE("the slice with the most parts of similar size is merged") {
  CHECK(Explore({1000, 500, 130, 130, 130}) == Slice{0, 5});
  CHECK(Explore({4000, 128, 128, 128}) == Slice{1, 4});
  CHECK(Explore({100, 50, 23, 12, 12}) == Slice{0, 5});
  CHECK(Explore({50, 40, 30}) == Slice{0, 3});
  CHECK(Explore({2000, 900, 400, 200}).empty());
  CHECK(Explore({2000, 900, 400, 200}, true) == Slice{1, 4});
  CHECK(Explore({1, 1}).empty());
  CHECK(Explore(std::vector<uint64_t>(30, 200)).size() == 10);
}

TEST_CASE("during off-peak hours parts of less similar sizes are merged") {
  CHECK(Explore({1600, 200, 200}).empty());
  CHECK(Explore({1600, 200, 200}, false, 5) == Slice{0, 3});
  MergePolicy policy;
  constexpr int64_t kHourMs = 3'600'000;
  const auto hours = [&](int begin, int end) {
    policy.off_peak_begin = begin;
    policy.off_peak_end = end;
    std::string text;
    for (int64_t hour = 0; hour < 24; ++hour) {
      text += RatioAt(policy, (24 * 365 + hour) * kHourMs) > 2 ? "n" : ".";
    }
    return text;
  };
  CHECK(hours(0, 0) == "........................");
  CHECK(hours(1, 5) == ".nnnn...................");
  CHECK(hours(22, 3) == "nnn...................nn");
}

PartFacts Fact(uint64_t number, uint64_t mib, bool reference = false) {
  PartFacts part;
  part.number = number;
  part.bytes = mib * kMiB;
  part.reference = reference;
  return part;
}

TEST_CASE("all references of a split are rewritten first, with the parts between them") {
  const MergePolicy policy;
  CHECK(PartsToMerge(std::vector{Fact(9, 1), Fact(8, 900, true), Fact(7, 1), Fact(6, 9, true)},
                     policy, 0) == Slice{1, 4});
  CHECK(PartsToMerge(std::vector{Fact(9, 1), Fact(8, 900)}, policy, 0).empty());
}

TEST_CASE("while parts are merged, only newer parts can be merged") {
  const MergePolicy policy;
  std::vector<PartFacts> parts;
  for (uint64_t number = 9; number > 0; --number) parts.push_back(Fact(number, 1));
  CHECK(PartsToMerge(parts, policy, 0) == Slice{0, 9});
  parts[4].merging = true;
  CHECK(PartsToMerge(parts, policy, 0) == Slice{0, 4});
  parts[2].merging = true;
  CHECK(PartsToMerge(parts, policy, 0).empty());
  // A region merges all its references at once, and not while one of them is in another merge.
  parts[2].merging = false;
  parts[8].reference = parts[3].reference = true;
  CHECK(PartsToMerge(parts, policy, 0) == Slice{0, 3});
  parts[4].merging = false;
  CHECK(PartsToMerge(parts, policy, 0) == Slice{3, 9});
}

TEST_CASE(
    "all parts are merged automatically only to drop tombstones, after the region's own period") {
  MergePolicy policy;
  std::vector<PartFacts> parts = {Fact(5, 1), Fact(4, 900)};
  const int64_t year = int64_t{365} * 24 * 3'600'000;
  CHECK(PartsToMerge(parts, policy, year).empty());
  parts[0].tombstones = true;
  const int64_t period = MajorPeriodMs(policy, 4);
  CHECK(PartsToMerge(parts, policy, period - 1).empty());
  CHECK(PartsToMerge(parts, policy, period) == Slice{0, 2});
  parts[0].merging = true;
  CHECK(PartsToMerge(parts, policy, year).empty());
  parts[0].merging = false;
  policy.major_period_ms = 0;
  CHECK(PartsToMerge(parts, policy, year).empty());
}

TEST_CASE("all parts are merged automatically if more than half of their bytes has expired") {
  const MergePolicy policy;
  std::vector<PartFacts> parts = {Fact(5, 100), Fact(4, 900)};
  parts[0].expired_bytes = 100 << 20;
  parts[1].expired_bytes = 400 << 20;
  CHECK(PartsToMerge(parts, policy, 0).empty());
  parts[1].expired_bytes = 401 << 20;
  CHECK(PartsToMerge(parts, policy, 0) == Slice{0, 2});
  parts[0].merging = true;
  CHECK(PartsToMerge(parts, policy, 0).empty());
}

TEST_CASE("the times of major merges are spread over the period and are stable") {
  const MergePolicy policy;
  const int64_t day = 24 * 3'600'000;
  int64_t least = INT64_MAX, most = 0;
  for (uint64_t number = 1; number < 1000; ++number) {
    const int64_t period = MajorPeriodMs(policy, number);
    CHECK(period == MajorPeriodMs(policy, number));
    least = std::min(least, period);
    most = std::max(most, period);
  }
  CHECK(least >= 7 * day / 2);
  CHECK(least < 4 * day);
  CHECK(most <= 7 * day * 3 / 2);
  CHECK(most > 10 * day);
}

TEST_CASE("merges may write faster the more parts there are, and finally without a limit") {
  const MergePolicy policy;
  CHECK(MergeBytesPerS(policy, 0) == 50 * kMiB);
  CHECK(MergeBytesPerS(policy, 3) == 50 * kMiB);
  CHECK(MergeBytesPerS(policy, 15) > 90 * kMiB);
  CHECK(MergeBytesPerS(policy, 15) < 100 * kMiB);
  CHECK(MergeBytesPerS(policy, 16) == 0);
}

TEST_CASE("the write rate is kept, whatever the sizes of the writes") {
  for (const uint64_t piece : {uint64_t{64} << 10, kMiB, 9 * kMiB}) {
    CAPTURE(piece);
    Pace pace;
    int64_t now_ms = 1'000'000;
    uint64_t written = 0;
    while (written < 500 * kMiB) {
      now_ms += 1;  // the time of the write
      written += piece;
      now_ms += pace.DelayMs(piece, 50 * kMiB, now_ms);
    }
    const double rate =
        static_cast<double>(written) * 1000 / static_cast<double>(now_ms - 1'000'000);
    CHECK(rate > 0.9 * 50 * kMiB);
    CHECK(rate < 1.1 * 50 * kMiB);
  }
  Pace unlimited;
  CHECK(unlimited.DelayMs(1 << 30, 0, 5) == 0);
}

TEST_CASE("merges that share a pace keep its rate together") {
  Pace pace;
  constexpr int64_t kStartMs = 1'000'000;
  int64_t now_ms[] = {kStartMs, kStartMs, kStartMs};
  uint64_t written = 0;
  while (written < 500 * kMiB) {
    int64_t& next = *std::min_element(std::begin(now_ms), std::end(now_ms));
    written += kMiB;
    next += pace.DelayMs(kMiB, 50 * kMiB, next);
  }
  const int64_t end_ms = *std::max_element(std::begin(now_ms), std::end(now_ms));
  const double rate = static_cast<double>(written) * 1000 / static_cast<double>(end_ms - kStartMs);
  CHECK(rate > 0.9 * 50 * kMiB);
  CHECK(rate < 1.1 * 50 * kMiB);
}

TEST_CASE("every byte is rewritten a logarithmic number of times") {
  const MergePolicy policy;
  std::vector<uint64_t> parts;  // oldest first
  uint64_t written = 0;
  constexpr uint64_t kRun = 8 << 20;
  constexpr uint64_t kCount = 2000;
  for (uint64_t i = 0; i < kCount; ++i) {
    parts.push_back(kRun);
    for (;;) {
      const Slice slice =
          ExploreParts(parts, policy, policy.ratio, parts.size() >= policy.parts_blocking);
      if (slice.empty()) break;
      const auto begin = parts.begin() + static_cast<ptrdiff_t>(slice.begin);
      const auto end = parts.begin() + static_cast<ptrdiff_t>(slice.end);
      const uint64_t sum = std::accumulate(begin, end, uint64_t{0});
      written += sum;
      *begin = sum;
      parts.erase(begin + 1, end);
    }
    CHECK(parts.size() <= policy.parts_blocking);
  }
  MESSAGE("each byte was rewritten ", static_cast<double>(written) / (kCount * kRun), " times");
  CHECK(written < 9 * kCount * kRun);
}

}  // namespace
}  // namespace hg::region
