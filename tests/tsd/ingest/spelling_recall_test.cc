#include "tsd/ingest/spelling_recall.h"

#include <doctest/doctest.h>

#include <chrono>
#include <filesystem>
#include <new>
#include <random>
#include <thread>

#include "storage/points/numbered_series.h"
#include "storage/points/points_over_cells.h"
#include "tests/fault/faulty_file.h"
#include "tests/storage/points/embedded/temp_folder.h"
#include "tests/support/model_store.h"
#include "tsd/ingest/kept_shapes.h"
#include "tsd/ingest/plain_spelling.h"

namespace hg::tsd {
namespace {

const std::atomic<bool> kGoOn{false};

/// Points that tell their series by number.
class NumberedPoints : public points::PointsOverCells, public NumbersSeries {
 public:
  using PointsOverCells::PointsOverCells;

  Result<SeriesNumber> Register(ByteView tsuid) override {
    Result<SeriesNumber> number = PointsOverCells::Register(tsuid);
    REQUIRE(number.ok());
    REQUIRE(*number <= tsuids_.size());
    if (*number == tsuids_.size()) tsuids_.emplace_back(tsuid);
    return number;
  }
  [[nodiscard]] SeriesNumber series_count() const override {
    if (asked) asked();
    return static_cast<SeriesNumber>(tsuids_.size());
  }
  [[nodiscard]] ByteView TsuidOf(SeriesNumber number) const override { return tsuids_[number]; }

  std::function<void()> asked;

 private:
  std::vector<Bytes> tsuids_;
};

/// A store, and the write path over it as one process after the other has it.
struct Fixture {
  Fixture() {
    REQUIRE(store.CreateTable({"tsdb", {{"t"}}, true}).ok());
    REQUIRE(store.CreateTable({"tsdb-uid", {{"id"}, {"name"}}, false}).ok());
    Start();
  }

  /// All that a process knows is gone but the shapes.
  void Restart() {
    const Bytes shapes = ingest->shapes().Encode();
    Start();
    REQUIRE(ingest->shapes().Decode(shapes));
  }
  void Start() {
    ingest.reset();
    names = std::make_unique<uid::Names>(store, uid::NamesOptions{});
    IngestOptions options;
    options.auto_create_metrics = true;
    options.max_tags = max_tags;
    ingest = std::make_unique<Ingest>(points, *names, options);
  }
  Status Recall() { return ingest->RecallSpellings(kGoOn); }

  static SpelledPoint Point(const Spelling& spelling) {
    SpelledPoint point;
    point.series = spelling;
    point.time.raw = 1700000000;
    point.value = PointValue::Int(1);
    return point;
  }
  void Learn(const Spelling& spelling) {
    const SpelledPoint point = Point(spelling);
    const auto appended = ingest->AppendLearning({&point, 1});
    REQUIRE(appended.ok());
    REQUIRE(appended->known);
  }
  bool Knows(const Spelling& spelling) {
    const SpelledPoint point = Point(spelling);
    const auto appended = ingest->AppendSpelled({&point, 1});
    REQUIRE(appended.ok());
    return appended->known;
  }

  int max_tags = 8;
  ModelStore store;
  NumberedPoints points{&store, {}};
  std::unique_ptr<uid::Names> names;
  std::unique_ptr<Ingest> ingest;
};

}  // namespace

TEST_CASE("after a start all series are known by spellings like those that were learnt") {
  Fixture process;
  process.Learn({Dialect::kJson, "cpu", R"({"host":"a","dc":"x"})"});
  process.Learn({Dialect::kJson, "mem", R"({"host":"b","dc":"y"})"});
  process.Learn({Dialect::kWords, "cpu", "host=c dc=x"});
  process.Learn({Dialect::kJson, "up", R"({"job":"j"})"});
  process.Restart();
  CHECK_FALSE(process.Knows({Dialect::kJson, "cpu", R"({"host":"a","dc":"x"})"}));
  REQUIRE(process.Recall().ok());
  for (const Dialect dialect : {Dialect::kJson, Dialect::kWords}) {
    const auto spelled = [&](const char* json, const char* words) {
      return dialect == Dialect::kJson ? json : words;
    };
    CHECK(process.Knows({dialect, "cpu", spelled(R"({"host":"a","dc":"x"})", "host=a dc=x")}));
    CHECK(process.Knows({dialect, "mem", spelled(R"({"host":"b","dc":"y"})", "host=b dc=y")}));
    CHECK(process.Knows({dialect, "cpu", spelled(R"({"host":"c","dc":"x"})", "host=c dc=x")}));
    CHECK_FALSE(
        process.Knows({dialect, "mem", spelled(R"({"host":"a","dc":"x"})", "host=a dc=x")}));
    CHECK_FALSE(
        process.Knows({dialect, "cpu", spelled(R"({"dc":"x","host":"a"})", "dc=x host=a")}));
  }
  CHECK(process.Knows({Dialect::kJson, "up", R"({"job":"j"})"}));
  CHECK_FALSE(process.Knows({Dialect::kWords, "up", "job=j"}));
}

TEST_CASE("a name that was changed is recalled as it is now, one that is gone not at all") {
  Fixture process;
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

TEST_CASE("names that change while spellings are recalled end it, and none is known") {
  Fixture process;
  process.Learn({Dialect::kWords, "cpu", "host=a"});
  process.Restart();
  process.points.asked = [&] { process.ingest->ForgetSpellings(); };
  REQUIRE(process.Recall().ok());
  process.points.asked = nullptr;
  CHECK_FALSE(process.Knows({Dialect::kWords, "cpu", "host=a"}));
  REQUIRE(process.Recall().ok());
  CHECK(process.Knows({Dialect::kWords, "cpu", "host=a"}));
}

TEST_CASE("what the settings no longer allow is not recalled, and a stop ends it") {
  Fixture process;
  process.Learn({Dialect::kWords, "cpu", "host=a dc=b"});
  process.Learn({Dialect::kWords, "cpu", "host=a"});
  process.max_tags = 1;
  process.Restart();
  const std::atomic<bool> stop{true};
  REQUIRE(process.ingest->RecallSpellings(stop).ok());
  CHECK_FALSE(process.Knows({Dialect::kWords, "cpu", "host=a"}));
  REQUIRE(process.Recall().ok());
  CHECK(process.Knows({Dialect::kWords, "cpu", "host=a"}));
  CHECK_FALSE(process.Knows({Dialect::kWords, "cpu", "host=a dc=b"}));
}

TEST_CASE("spellings of more series than there is room for are those of the newest") {
  Fixture process;
  constexpr size_t kSeries = 20'000;
  for (size_t i = 0; i < kSeries; ++i)
    process.Learn({Dialect::kWords, "m", "host=" + std::to_string(i)});
  SpellingTable spellings(1, size_t{1} << 30);
  constexpr size_t kRoom = size_t{1} << 20;
  SpellingRecall recall{process.points, *process.names, spellings, nullptr, 8, kRoom};
  REQUIRE(recall.Run(process.ingest->shapes().All(), kGoOn).ok());
  CHECK(spellings.stats().spellings > 4'000);
  CHECK(spellings.stats().spellings < kSeries);
  CHECK(spellings.stats().bytes < 2 * kRoom);
  SpelledPoint point;
  SeriesNumber number = 0;
  point.series = {Dialect::kWords, "m", "host=0"};
  CHECK_FALSE(spellings.FindAll({&point, 1}, &number));
  point.series.tags = "host=19999";
  REQUIRE(spellings.FindAll({&point, 1}, &number));
  CHECK(number == kSeries - 1);
}

TEST_CASE("random: whatever is recalled is the series that the names say") {
  for (uint32_t seed = 0; seed < 20; ++seed) {
    CAPTURE(seed);
    std::mt19937 random(seed);
    const auto below = [&](size_t n) { return random() % n; };
    const std::vector<std::string> names = {"a",   "b",        "c",   "1",      "a.b",
                                            "a b", "\xc3\xa9", "x/y", "\\u0041"};
    const std::vector<std::string> keys = {"k", "l", "m"};
    const auto spell = [&](Dialect dialect) {
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
    Fixture process;
    std::vector<std::pair<Dialect, std::string>> tried;
    for (int i = 0; i < 300; ++i) {
      const Dialect dialect = below(2) == 0 ? Dialect::kJson : Dialect::kWords;
      tried.emplace_back(dialect, spell(dialect));
      const SpelledPoint point = Fixture::Point({dialect, names[below(5)], tried.back().second});
      REQUIRE(process.ingest->AppendLearning({&point, 1}).ok());
    }
    if (below(2) == 0) (void)process.names->Rename(UidKind::kTagv, "a", "new");
    if (below(2) == 0) (void)process.names->Delete(UidKind::kTagv, "b");
    // The shapes of somebody else, too.
    TagShapes shapes;
    REQUIRE(shapes.Decode(process.ingest->shapes().Encode()));
    process.Start();
    SpellingTable recalled(seed, size_t{1} << 30);
    SpellingRecall recall{process.points, *process.names, recalled, nullptr, 8, size_t{1} << 29};
    REQUIRE(recall.Run(shapes.All(), kGoOn).ok());
    CHECK(recalled.stats().spellings > 0);
    size_t known = 0;
    for (const auto& [dialect, tags] : tried) {
      for (size_t metric = 0; metric < 5; ++metric) {
        SpelledPoint point = Fixture::Point({dialect, names[metric], tags});
        SeriesNumber number = 0;
        if (!recalled.FindAll({&point, 1}, &number)) continue;
        ++known;
        std::vector<TagText> read;
        REQUIRE(ReadPlainTags(dialect, tags, &read));
        NamedPoint named;
        named.metric = names[metric];
        named.tags = read;
        named.time.raw = 1700000000;
        const SeriesNumber count = process.points.series_count();
        const auto resolved = process.ingest->Resolve(named);
        REQUIRE(resolved.ok());
        CHECK(*resolved == number);
        CHECK(process.points.series_count() == count);
      }
    }
    CHECK(known > 0);
  }
}

/// Memory is wanting for each file that is made.
class StarvedDisk : public FaultyFileSystem {
 public:
  StarvedDisk() : FaultyFileSystem(1) {}
  Result<std::unique_ptr<File>> Open(const std::string& path, OpenMode mode) override {
    if (starves && mode == OpenMode::kCreate) throw std::bad_alloc();
    return FaultyFileSystem::Open(path, mode);
  }
  std::atomic<bool> starves{true};
};

TEST_CASE("where memory is wanting shapes are kept when the next ones come") {
  StarvedDisk disk;
  REQUIRE(disk.CreateFolder("d").ok());
  Fixture process;
  std::atomic<int> told{0};
  KeptShapes kept(*process.ingest, disk, "d", [&](const std::string& text) {
    CHECK(text.starts_with("shapes of tags are not kept: "));
    ++told;
    throw std::bad_alloc();  // that it was is not to be told, either
  });
  kept.Start();
  process.Learn({Dialect::kWords, "cpu", "host=a"});
  while (told == 0) std::this_thread::yield();
  disk.starves = false;
  process.Learn({Dialect::kWords, "cpu", "other=a"});
  kept.Stop();
  CHECK(disk.Exists(std::string("d/") + kShapesName));
}

TEST_CASE("shapes are kept in a file, and the next process knows the spellings from it") {
  const TempFolder folder;
  std::vector<std::string> reports;
  const auto report = [&](const std::string& text) { reports.push_back(text); };
  const std::string path = folder.path() + "/" + kShapesName;
  Fixture process;
  const auto run = [&](const auto& work) {
    process.Start();
    KeptShapes kept(*process.ingest, PosixFileSystem(), folder.path(), report);
    kept.Start();
    work();
    kept.Stop();
  };
  const Spelling spelling{Dialect::kWords, "cpu", "host=a"};
  const auto knows_soon = [&] {
    for (int i = 0; i < 10'000 && !process.Knows(spelling); ++i)
      std::this_thread::sleep_for(std::chrono::milliseconds(1));
    return process.Knows(spelling);
  };
  run([&] { process.Learn(spelling); });
  REQUIRE(std::filesystem::exists(path));
  run([&] { CHECK(knows_soon()); });
  CHECK(reports.empty());
  const Bytes good = *ReadWholeFile(PosixFileSystem(), path);
  REQUIRE(ReplaceFile(PosixFileSystem(), folder.path(), kShapesName, good.substr(3)).ok());
  run([&] {
    REQUIRE(reports.size() == 1);
    CHECK(reports[0] == path + " is damaged or of another version, and is made anew");
    process.Learn(spelling);
  });
  CHECK(*ReadWholeFile(PosixFileSystem(), path) == good);
  // Where it cannot be written all else goes on.
  std::filesystem::remove(path);
  std::filesystem::create_directory(path);
  run([&] { process.Learn({Dialect::kWords, "cpu", "other=a"}); });
  REQUIRE(reports.size() == 2);
  CHECK(reports[1].starts_with("shapes of tags are not kept: "));
}

}  // namespace hg::tsd
