#include "tsd/ingest/raw_key_recall.h"

#include <doctest/doctest.h>

#include <random>

#include "tests/tsd/ingest/recall_process.h"
#include "tsd/ingest/plain_raw_key.h"

namespace hg::tsd {
namespace {

constexpr size_t kRecallBytes = size_t{1} << 29;

/// Returns the content of a file with tag formats that have these texts.
Bytes SomeTagFormats(const std::vector<std::string>& words) {
  TagFormats formats;
  for (const std::string& raw_key : words) {
    std::vector<TagText> tags;
    if (ReadPlainTags(Dialect::kWords, raw_key, 8, &tags))
      formats.Note(Dialect::kWords, raw_key, tags);
  }
  return formats.Encode();
}

}  // namespace

TEST_CASE("after a restart, series are known by keys in each of the learned tag formats") {
  Process process;
  process.Learn({Dialect::kJson, "cpu", R"({"host":"a","dc":"x"})"});
  process.Learn({Dialect::kJson, "mem", R"({"host":"b","dc":"y"})"});
  process.Learn({Dialect::kWords, "cpu", "host=c dc=x"});
  process.Learn({Dialect::kJson, "up", R"({"job":"j"})"});
  process.Restart();
  CHECK_FALSE(process.Knows({Dialect::kJson, "cpu", R"({"host":"a","dc":"x"})"}));
  REQUIRE(process.Recall().ok());
  for (const Dialect dialect : {Dialect::kJson, Dialect::kWords}) {
    const auto keyed = [&](const char* json, const char* words) {
      return dialect == Dialect::kJson ? json : words;
    };
    CHECK(process.Knows({dialect, "cpu", keyed(R"({"host":"a","dc":"x"})", "host=a dc=x")}));
    CHECK(process.Knows({dialect, "mem", keyed(R"({"host":"b","dc":"y"})", "host=b dc=y")}));
    CHECK(process.Knows({dialect, "cpu", keyed(R"({"host":"c","dc":"x"})", "host=c dc=x")}));
    CHECK_FALSE(process.Knows({dialect, "mem", keyed(R"({"host":"a","dc":"x"})", "host=a dc=x")}));
    CHECK_FALSE(process.Knows({dialect, "cpu", keyed(R"({"dc":"x","host":"a"})", "dc=x host=a")}));
  }
  CHECK(process.Knows({Dialect::kJson, "up", R"({"job":"j"})"}));
  CHECK_FALSE(process.Knows({Dialect::kWords, "up", "job=j"}));
}

TEST_CASE("a renamed name is restored under its new name, and a deleted one not at all") {
  Process process;
  process.Learn({Dialect::kWords, "cpu", "host=a"});
  process.Learn({Dialect::kWords, "cpu", "host=b"});
  process.Learn({Dialect::kWords, "mem", "host=c"});
  REQUIRE(process.names->Rename(UidKind::kTagv, "a", "new").ok());
  REQUIRE(process.names->Delete(UidKind::kTagv, "b").ok());
  REQUIRE(process.names->Delete(UidKind::kMetric, "mem").ok());
  process.Restart();
  REQUIRE(process.Recall().ok());
  CHECK(process.Knows({Dialect::kWords, "cpu", "host=new"}));
  CHECK_FALSE(process.Knows({Dialect::kWords, "cpu", "host=a"}));
  CHECK_FALSE(process.Knows({Dialect::kWords, "cpu", "host=b"}));
  CHECK_FALSE(process.Knows({Dialect::kWords, "mem", "host=c"}));
}

TEST_CASE("keys of series that the store has forgotten are not restored") {
  Process process;
  for (const char* tags : {"host=a", "host=b", "host=c", "host=d", "host=e"}) {
    process.Learn({Dialect::kWords, "cpu", tags});
  }
  process.Restart();
  process.points.forgotten = {0, 2, 3};
  REQUIRE(process.Recall().ok());
  CHECK_FALSE(process.Knows({Dialect::kWords, "cpu", "host=a"}));
  CHECK(process.Knows({Dialect::kWords, "cpu", "host=b"}));
  CHECK_FALSE(process.Knows({Dialect::kWords, "cpu", "host=c"}));
  CHECK_FALSE(process.Knows({Dialect::kWords, "cpu", "host=d"}));
  CHECK(process.Knows({Dialect::kWords, "cpu", "host=e"}));
}

TEST_CASE("a change of names during the restore of keys ends it, and no key is known") {
  Process process;
  process.Learn({Dialect::kWords, "cpu", "host=a"});
  process.Restart();
  process.points.asked = [&] { process.ingest->ForgetRawKeys(); };
  REQUIRE(process.Recall().ok());
  process.points.asked = nullptr;
  CHECK_FALSE(process.Knows({Dialect::kWords, "cpu", "host=a"}));
  REQUIRE(process.Recall().ok());
  CHECK(process.Knows({Dialect::kWords, "cpu", "host=a"}));
}

TEST_CASE(
    "keys that the settings do not allow any more are not restored, and a stop ends the restore") {
  Process process;
  process.Learn({Dialect::kWords, "cpu", "host=a dc=b"});
  process.Learn({Dialect::kWords, "cpu", "host=a"});
  process.max_tags = 1;
  process.Restart();
  const std::atomic<bool> stop{true};
  REQUIRE(process.ingest->RecallRawKeys(stop).ok());
  CHECK_FALSE(process.Knows({Dialect::kWords, "cpu", "host=a"}));
  REQUIRE(process.Recall().ok());
  CHECK(process.Knows({Dialect::kWords, "cpu", "host=a"}));
  CHECK_FALSE(process.Knows({Dialect::kWords, "cpu", "host=a dc=b"}));
}

TEST_CASE("if there is not enough memory, keys of the newest series are restored") {
  Process process;
  constexpr size_t kSeries = 20'000;
  for (size_t i = 0; i < kSeries; ++i)
    process.Learn({Dialect::kWords, "m", "host=" + std::to_string(i)});
  RawKeyTable raw_keys(1, size_t{1} << 30);
  constexpr size_t kRoom = size_t{1} << 20;
  RawKeyRecall recall{process.points, *process.names, raw_keys, nullptr, 8, kRoom, kRecallBytes};
  const auto all = recall.Run(process.ingest->formats().All(), kGoOn);
  REQUIRE(all.ok());
  CHECK_FALSE(*all);
  CHECK(raw_keys.stats().raw_keys > 4'000);
  CHECK(raw_keys.stats().raw_keys < kSeries);
  CHECK(raw_keys.stats().bytes < 2 * kRoom);
  KeyedPoint point;
  SeriesNumber number = 0;
  point.series = {Dialect::kWords, "m", "host=0"};
  CHECK_FALSE(raw_keys.FindAll({&point, 1}, &number));
  point.series.tags = "host=19999";
  REQUIRE(raw_keys.FindAll({&point, 1}, &number));
  CHECK(number == kSeries - 1);
}

TEST_CASE("the memory of names is limited, and keys with other names are not restored") {
  Process process;
  constexpr size_t kSeries = 20'000;
  for (size_t i = 0; i < kSeries; ++i)
    process.Learn({Dialect::kWords, "m", "host=some-host-with-number-" + std::to_string(i)});
  process.Start();
  TagFormats formats;
  REQUIRE(formats.Decode(SomeTagFormats({"host=a"})));
  RawKeyTable raw_keys(1, size_t{1} << 30);
  // A name takes a slot of 24 bytes and a text of about 28 bytes. While the maps grow, the slots
  // take twice the space.
  constexpr size_t kRoom = size_t{1} << 18;
  RawKeyRecall recall{process.points, *process.names, raw_keys, nullptr, 8, kRecallBytes, kRoom};
  auto all = recall.Run(formats.All(), kGoOn);
  REQUIRE(all.ok());
  CHECK_FALSE(*all);
  CHECK(raw_keys.stats().raw_keys > 1'000);
  CHECK(raw_keys.stats().raw_keys < kRoom / 50);
  recall.names_bytes_max = size_t{1} << 22;
  all = recall.Run(formats.All(), kGoOn);
  REQUIRE(all.ok());
  CHECK(*all);
  CHECK(raw_keys.stats().raw_keys == kSeries);
}

TEST_CASE("names are read only if a tag format with the tag keys of a series exists") {
  Process process;
  process.Learn({Dialect::kWords, "cpu", "host=a"});
  process.Start();
  for (const char* others : {"", "dc=a", "host=a dc=b"}) {
    CAPTURE(others);
    process.Start();
    REQUIRE(process.ingest->formats().Decode(SomeTagFormats({others})));
    process.store.scans = 0;
    REQUIRE(process.Recall().ok());
    CHECK(process.store.scans == 0);
  }
  REQUIRE(process.ingest->formats().Decode(SomeTagFormats({"host=b"})));
  REQUIRE(process.Recall().ok());
  CHECK(process.store.scans == 1);
  CHECK(process.Knows({Dialect::kWords, "cpu", "host=a"}));
}

TEST_CASE("tag formats of known keys stay when new formats arrive if clients use them") {
  static_assert(TagFormats::kOfKeysMax == 2);
  Process process;
  const RawKey used{Dialect::kJson, "cpu", R"({"host":"a"})"};
  process.Learn(used);
  process.Learn({Dialect::kJson, "cpu", R"({"host" :"a"})"});
  process.Restart();
  REQUIRE(process.Recall().ok());
  const std::vector<KeyedPoint> batch(100, Process::Point(used));
  for (int i = 0; i < 100; ++i)
    REQUIRE(process.ingest->AppendKeyed(batch, WriteContext::Unlimited())->known);
  process.Learn({Dialect::kJson, "cpu", R"({"host": "a"})"});
  process.Restart();
  REQUIRE(process.Recall().ok());
  CHECK(process.Knows(used));
  CHECK_FALSE(process.Knows({Dialect::kJson, "cpu", R"({"host" :"a"})"}));
  CHECK(process.Knows({Dialect::kJson, "cpu", R"({"host": "a"})"}));
}

TEST_CASE("with random data, each restored key means the series of its names") {
  for (uint32_t seed = 0; seed < 20; ++seed) {
    CAPTURE(seed);
    std::mt19937 random(seed);
    const auto below = [&](size_t n) { return random() % n; };
    const std::vector<std::string> names = {"a",   "b",        "c",   "1",      "a.b",
                                            "a b", "\xc3\xa9", "x/y", "\\u0041"};
    const std::vector<std::string> keys = {"k", "l", "m"};
    const auto key = [&](Dialect dialect) {
      std::vector<std::string> order = keys;
      std::shuffle(order.begin(), order.end(), random);
      order.resize(1 + below(order.size()));
      const std::string blank = below(4) == 0 ? " " : "";
      std::string text;
      for (const std::string& key : order) {
        const std::string& value = names[below(names.size())];
        if (dialect == Dialect::kWords) {
          text += (text.empty() ? "" : " ") + key + "=" + value;
        } else {
          text += (text.empty() ? "{\"" : ",\"") + key + "\":" + blank + "\"" + value + "\"";
        }
      }
      return dialect == Dialect::kWords ? text : text + "}";
    };
    Process process;
    std::vector<std::pair<Dialect, std::string>> tried;
    for (int i = 0; i < 300; ++i) {
      const Dialect dialect = below(2) == 0 ? Dialect::kJson : Dialect::kWords;
      tried.emplace_back(dialect, key(dialect));
      const KeyedPoint point = Process::Point({dialect, names[below(5)], tried.back().second});
      REQUIRE(process.ingest->AppendLearning({&point, 1}, WriteContext::Unlimited()).refused.ok());
    }
    if (below(2) == 0) (void)process.names->Rename(UidKind::kTagv, "a", "new");
    if (below(2) == 0) (void)process.names->Delete(UidKind::kTagv, "b");
    // The tag formats of another client are also there.
    TagFormats formats;
    REQUIRE(formats.Decode(process.ingest->formats().Encode()));
    process.Start();
    RawKeyTable recalled(seed, size_t{1} << 30);
    RawKeyRecall recall{process.points, *process.names, recalled, nullptr, 8,
                        kRecallBytes,   kRecallBytes};
    REQUIRE(recall.Run(formats.All(), kGoOn).ok());
    CHECK(recalled.stats().raw_keys > 0);
    size_t known = 0;
    for (const auto& [dialect, tags] : tried) {
      for (size_t metric = 0; metric < 5; ++metric) {
        KeyedPoint point = Process::Point({dialect, names[metric], tags});
        SeriesNumber number = 0;
        if (!recalled.FindAll({&point, 1}, &number)) continue;
        ++known;
        std::vector<TagText> read;
        REQUIRE(ReadPlainTags(dialect, tags, 8, &read));
        NamedPoint named;
        named.metric = names[metric];
        named.tags = read;
        named.time.raw = 1700000000;
        const SeriesNumber count = process.points.series_count();
        const auto resolved = process.ingest->Resolve(named, WriteContext::Unlimited());
        REQUIRE(resolved.ok());
        CHECK(*resolved == number);
        CHECK(process.points.series_count() == count);
      }
    }
    CHECK(known > 0);
  }
}

}  // namespace hg::tsd
