#include "query/expression/identity.h"

#include <doctest/doctest.h>

#include <span>
#include <string>

#include "tests/support/fake_watch.h"

namespace hg::query {
namespace {

// UIDs are the first letters and digits of the names; only their order matters.
SeriesIdentity Series(const std::vector<std::pair<const char*, const char*>>& tags,
                      const std::vector<const char*>& aggregated = {}, const char* metric = "m") {
  SeriesIdentity out;
  for (auto [key, value] : tags) out.tags.push_back({{key, key}, {value, value}});
  for (const char* key : aggregated) out.aggregated.push_back({key, key});
  out.metrics.push_back({metric, metric});
  return out;
}

JoinSide Side(const std::vector<SeriesIdentity>& series, std::vector<Bytes> filter_keys = {}) {
  JoinSide out;
  for (const SeriesIdentity& s : series) out.series.push_back(&s);
  out.filter_keys = std::move(filter_keys);
  return out;
}

SeriesIdentity Unite(std::span<const SeriesIdentity* const> parts) {
  return *Uniter(nullptr).Unite(parts);
}

SeriesIdentity Identify(const KeyLayout& layout, const Group& group) {
  return *Identifier(layout, nullptr).Identify(group);
}

// "0-1 1-. .-0": members by side; '.' means a missing member.
std::string Joined(const JoinRule& rule, const std::vector<JoinSide>& sides) {
  MemoryTally memory(nullptr);
  Result<std::vector<JoinedSeries>> joined = Join(rule, sides, &memory);
  if (!joined.ok()) return std::string(joined.status().message());
  std::string out;
  for (const JoinedSeries& members : *joined) {
    if (!out.empty()) out += ' ';
    for (size_t k = 0; k < members.size(); ++k) {
      if (k > 0) out += '-';
      out += members[k] == kLacking ? "." : std::to_string(members[k]);
    }
  }
  return out;
}

const std::vector<SeriesIdentity> kA = {Series({{"h", "1"}}), Series({{"h", "2"}})};
const std::vector<SeriesIdentity> kB = {Series({{"h", "1"}}), Series({{"h", "3"}})};
// Series with a second tag "z", which the other sides lack.
const std::vector<SeriesIdentity> kD = {Series({{"h", "1"}, {"z", "x"}}),
                                        Series({{"h", "2"}, {"z", "x"}}),
                                        Series({{"h", "3"}, {"z", "y"}})};

TEST_CASE("a union has all keys in order, and an intersection the keys of every side") {
  CHECK(Joined({}, {Side(kA), Side(kB)}) == "0-0 1-. .-1");
  CHECK(Joined({true, false, true}, {Side(kA), Side(kB)}) == "0-0");
  CHECK(Joined({}, {Side(kA), Side(kD)}) == "0-. .-0 1-. .-1 .-2");
}

TEST_CASE("an intersection without common series is an error, unless all sides are empty") {
  CHECK(Joined({true, false, true}, {Side(kA), Side(kD)}).find("No intersections found") == 0);
  CHECK(Joined({true, false, true}, {Side({}), Side(kA)}).find("No intersections found") == 0);
  CHECK(Joined({true, false, true}, {Side({}), Side({})}).empty());
  CHECK(Joined({}, {Side({}), Side({})}).empty());
}

TEST_CASE("a join by query tags uses the filtered tags of each side") {
  JoinRule rule{false, true, false};
  CHECK(Joined(rule, {Side(kA, {"h"}), Side(kD, {"h"})}) == "0-0 1-1 .-2");
  // Without filters all series of a side share a key, and the last one counts.
  CHECK(Joined(rule, {Side(kA), Side(kB)}) == "1-1");
}

TEST_CASE("aggregated tags are part of the key, unless there are no tags at all") {
  const std::vector<SeriesIdentity> some = {Series({{"h", "1"}}, {"z"})};
  CHECK(Joined({}, {Side(kA), Side(some)}) == "0-. .-0 1-.");
  CHECK(Joined({false, false, false}, {Side(kA), Side(some)}) == "0-0 1-.");
  const std::vector<SeriesIdentity> all = {Series({}, {"h"})};
  const std::vector<SeriesIdentity> more = {Series({}, {"h", "z"})};
  CHECK(Joined({}, {Side(all), Side(more)}) == "0-0");
}

TEST_CASE("a joined series has the tags of its first part and the rest of all parts") {
  SeriesIdentity a = Series({{"h", "1"}}, {"d"}, "n");
  SeriesIdentity b = Series({{"h", "1"}, {"z", "x"}}, {"c", "d"}, "m");
  const SeriesIdentity* both[] = {&a, &b};
  SeriesIdentity joined = Unite(both);
  REQUIRE(joined.tags.size() == 1);
  CHECK(joined.tags[0].value.name == "1");
  REQUIRE(joined.aggregated.size() == 2);
  CHECK(joined.aggregated[0].name == "c");
  REQUIRE(joined.metrics.size() == 2);
  CHECK(joined.metrics[0].name == "m");
  const SeriesIdentity* lacking[] = {nullptr, &b};
  CHECK(Unite(lacking).tags.empty());
  CHECK(Unite(lacking).aggregated.size() == 2);
}

TEST_CASE("a group is identified by the UIDs of its members") {
  Group group;
  group.metric = "sys.cpu";
  group.tags = {{"dc", "lga"}};
  group.aggregate_tags = {"host"};
  // Metric 7; dc 1 = 5; host 2 = 8 and 9.
  group.tsuids = {Bytes("\x07\x01\x05\x02\x08"), Bytes("\x07\x01\x05\x02\x09")};
  KeyLayout layout;
  layout.metric_width = layout.tagk_width = layout.tagv_width = 1;
  SeriesIdentity identity = Identify(layout, group);
  REQUIRE(identity.tags.size() == 1);
  CHECK(identity.tags[0].key.uid == "\x01");
  CHECK(identity.tags[0].key.name == "dc");
  CHECK(identity.tags[0].value.uid == "\x05");
  CHECK(identity.tags[0].value.name == "lga");
  REQUIRE(identity.aggregated.size() == 1);
  CHECK(identity.aggregated[0].uid == "\x02");
  CHECK(identity.aggregated[0].name == "host");
  REQUIRE(identity.metrics.size() == 1);
  CHECK(identity.metrics[0].uid == "\x07");
  CHECK(identity.metrics[0].name == "sys.cpu");
  CHECK(Identify(layout, Group()).metrics.empty());
}

TEST_CASE(
    "joined series with the same metrics share one list, and a new list is charged before it is "
    "built") {
  std::vector<SeriesIdentity> sides;
  for (int k = 0; k < 200; ++k) {
    sides.push_back(Series({{"h", "1"}}));
    sides.back().metrics = {{"uid" + std::to_string(k), std::string(1000, 'n')}};
  }
  std::vector<const SeriesIdentity*> parts;
  for (const SeriesIdentity& side : sides) parts.push_back(&side);
  FakeWatch watch;
  Uniter uniter(&watch);
  const SeriesIdentity first = *uniter.Unite(parts);
  CHECK(first.metrics.size() == 200);
  CHECK(watch.bytes > 200'000);
  const int64_t once = watch.bytes;
  for (int i = 0; i < 100; ++i) CHECK(uniter.Unite(parts)->metrics.SharesWith(first.metrics));
  CHECK(watch.bytes - once < 100'000);
  FakeWatch poor;
  poor.bytes_max = 100'000;
  CHECK(Uniter(&poor).Unite(parts).status().code() == StatusCode::kLimitExceeded);
}

TEST_CASE("a join is charged and counted while it grows") {
  std::vector<SeriesIdentity> series;
  for (int i = 0; i < 5000; ++i) series.push_back(Series({}));
  for (int i = 0; i < 5000; ++i) {
    const std::string value = std::to_string(i);
    series[static_cast<size_t>(i)].tags = {{{"h", "h"}, {value, value}}};
  }
  const std::vector<JoinSide> sides(100, Side(series));
  FakeWatch watch;
  MemoryTally memory(&watch);
  REQUIRE(Join({}, sides, &memory).ok());
  CHECK(watch.steps >= 500'000);
  CHECK(watch.bytes >= 5000 * 100 * 8);
  FakeWatch poor;
  poor.bytes_max = 1'000'000;
  MemoryTally little(&poor);
  CHECK(Join({}, sides, &little).status().code() == StatusCode::kLimitExceeded);
}

}  // namespace
}  // namespace hg::query
