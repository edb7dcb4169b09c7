// Repeats the writes and reads of OpenTSDB's recorded suites on row compaction, with the point
// store over cells and Hourglass' row compaction. The stored cells must equal those that OpenTSDB
// stored.

#include <doctest/doctest.h>
#include <rapidjson/document.h>

#include <fstream>
#include <map>
#include <sstream>

#include "compaction/row_compactor.h"
#include "storage/codec/row_key.h"
#include "storage/points/points_over_cells.h"
#include "storage/points/reconcile.h"
#include "tests/storage/engine/embedded_subject.h"
#include "tests/support/manual_clock.h"
#include "tests/support/model_store.h"

namespace hg::compaction {
namespace {

using rapidjson::Value;
using Table = std::map<Bytes, std::vector<Cell>>;

std::string ReadFile(const std::string& path) {
  std::ifstream in(HG_SOURCE_DIR "/tests/compat/conformance/" + path);
  std::stringstream text;
  text << in.rdbuf();
  REQUIRE(!text.str().empty());
  return text.str();
}

/// The stores and objects that a replay needs.
class Engine {
 public:
  virtual ~Engine() = default;
  virtual Store& cells() = 0;
  virtual Points& reader() = 0;
  virtual Points& writer() = 0;
  virtual ManualClock& clock() = 0;
};
using EngineFactory = std::unique_ptr<Engine> (*)(const points::PointsOverCellsOptions& options);

class ModelEngine : public Engine {
 public:
  explicit ModelEngine(const points::PointsOverCellsOptions& options) : points_(&store_, options) {
    REQUIRE(store_.CreateTable({"tsdb", {{"t"}}, true}).ok());
  }
  Store& cells() override { return store_; }
  Points& reader() override { return points_; }
  Points& writer() override { return points_; }
  ManualClock& clock() override { return clock_; }

 private:
  ManualClock clock_{1'750'000'000'000};
  ModelStore store_{clock_};
  points::PointsOverCells points_;
};

class EmbeddedEngine : public Engine {
 public:
  explicit EmbeddedEngine(const points::PointsOverCellsOptions& options)
      : appends_(options.enable_appends),
        subject_(options.layout, EmbeddedOptions::DefaultTables(), 1'750'000'000'000),
        appender_(&subject_.cells(), options) {}
  Store& cells() override { return subject_.cells(); }
  Points& reader() override { return subject_.points(); }
  Points& writer() override { return appends_ ? appender_ : subject_.points(); }
  ManualClock& clock() override { return subject_.clock(); }

 private:
  const bool appends_;
  EmbeddedSubject subject_;
  points::PointsOverCells appender_;
};

class Replay {
 public:
  Replay(const Value& config, EngineFactory make) {
    auto on = [&](const char* name, bool otherwise) {
      return config.HasMember(name) ? std::string(config[name].GetString()) == "true" : otherwise;
    };
    options_.reconcile.fix_duplicates = on("tsd.storage.fix_duplicates", false);
    options_.reconcile.repair_appends = on("tsd.storage.repair_appends", false);
    options_.enable_compaction = on("tsd.storage.enable_compaction", true);
    if (config.HasMember("tsd.storage.salt.width")) {
      options_.layout.salt_width = std::stoi(config["tsd.storage.salt.width"].GetString());
    }
    points::PointsOverCellsOptions door;
    door.layout = options_.layout;
    door.enable_appends = on("tsd.storage.enable_appends", false);
    engine_ = make(door);
    compactor_ = std::make_unique<RowCompactor>(&engine_->cells(), options_, engine_->clock());
    engine_->reader().ListenForUnsettledRows(
        [this](ByteView key, uint32_t base) { compactor_->Offer(key, base); });
  }

  void Step(const Value& step) {
    engine_->clock().AdvanceMs(100);
    if (++steps_ % 20 == 0) REQUIRE(engine_->cells().Flush().ok());
    if (steps_ % 45 == 0) REQUIRE(engine_->cells().Compact().ok());
    if (step.HasMember("telnet")) {
      // "put metric time value tag=value …" lines of text.
      for (const auto& line : step["telnet"].GetArray()) Telnet(line.GetString());
      return;
    }
    if (!step.HasMember("path")) return;
    const std::string path = step["path"].GetString();
    if (path == "/api/uid/assign") {
      for (const auto& kind : step["body"].GetObject()) {
        for (const auto& name : kind.value.GetArray()) Id(kind.name.GetString(), name.GetString());
      }
    } else if (path.starts_with("/api/put")) {
      const Value& body = step["body"];
      if (body.IsObject()) return Put(body);
      for (const auto& point : body.GetArray()) Put(point);
    } else if (path.starts_with("/api/query")) {
      ReadAll();
    }
  }

  // Reads each series, whether or not that fails. Then the compaction worker runs.
  void ReadAll() {
    std::vector<Bytes> series;
    REQUIRE(engine_->reader()
                .ListSeries("", {}, nullptr,
                            [&](ByteView tsuid) {
                              series.emplace_back(tsuid);
                              return true;
                            })
                .ok());
    for (const Bytes& tsuid : series) {
      PointScanSpec spec;
      spec.metric = tsuid.substr(0, 3);
      spec.matcher.tsuids = {tsuid};
      auto scan = engine_->reader().Scan(spec, options_.reconcile);
      REQUIRE(scan.ok());
      RowHour row;
      for (auto more = (*scan)->Next(&row); more.ok() && *more;) more = (*scan)->Next(&row);
    }
    compactor_->Drain();
  }

  Table Stored() {
    ScanSpec all;
    all.table = "tsdb";
    all.batch_rows = 100000;
    auto cursor = engine_->cells().Scan(all);
    std::vector<Row> rows;
    REQUIRE((*cursor)->Next(&rows).ok());
    Table table;
    for (const Row& row : rows) table[row.key] = row.cells;
    return table;
  }

 private:
  Bytes Id(const std::string& kind, const std::string& name) {
    auto& ids = ids_[kind];
    auto [at, fresh] = ids.try_emplace(name, ids.size() + 1);
    Bytes id;
    AppendBig(&id, at->second, 3);
    return id;
  }

  void Put(const Value& point) {
    std::vector<Bytes> pairs;
    for (const auto& tag : point["tags"].GetObject()) {
      pairs.push_back(Id("tagk", tag.name.GetString()) + Id("tagv", tag.value.GetString()));
    }
    const Value& number = point["value"];
    // A string counts as its text (opentsdb-schema.md §7.2).
    const bool integer = number.IsString() ? std::string(number.GetString()).find_first_of(".eE") ==
                                                 std::string::npos
                                           : number.IsInt64();
    const PointValue value =
        integer ? PointValue::Int(number.IsString() ? std::stoll(number.GetString())
                                                    : number.GetInt64())
                : PointValue::Double(number.IsString() ? std::stod(number.GetString())
                                                       : number.GetDouble());
    Write(Id("metric", point["metric"].GetString()), std::move(pairs),
          point["timestamp"].GetInt64(), value);
  }

  void Telnet(const std::string& line) {
    std::istringstream words(line);
    std::string put, metric, time, value, tag;
    words >> put >> metric >> time >> value;
    if (put != "put") return;
    std::vector<Bytes> pairs;
    while (words >> tag) {
      const size_t equals = tag.find('=');
      pairs.push_back(Id("tagk", tag.substr(0, equals)) + Id("tagv", tag.substr(equals + 1)));
    }
    std::erase(time, '.');
    const double number = std::stod(value);
    const PointValue stored = value.find_first_of(".eE") == std::string::npos
                                  ? PointValue::Int(std::stoll(value))
                              : static_cast<double>(static_cast<float>(number)) == number
                                  ? PointValue::Float(static_cast<float>(number))
                                  : PointValue::Double(number);
    Write(Id("metric", metric), std::move(pairs), std::stoll(time), stored);
  }

  void Write(const Bytes& metric, std::vector<Bytes> pairs, int64_t time, PointValue value) {
    auto series = engine_->writer().Register(codec::MakeTsuid(metric, std::move(pairs)));
    REQUIRE(series.ok());
    const PointEntry entry = MakePointEntry(*series, {time}, value);
    REQUIRE(engine_->writer().Append({&entry, 1}).ok());
  }

  RowCompactorOptions options_;
  std::unique_ptr<Engine> engine_;
  int steps_ = 0;
  std::unique_ptr<RowCompactor> compactor_;
  std::map<std::string, std::map<std::string, uint64_t>> ids_;
};

// Rows of plain points count as compacted in any form; rows with duplicates do not
// (opentsdb-schema.md §23.7).
std::string Show(const std::vector<Cell>& cells) {
  std::map<Bytes, Bytes> shown;
  size_t qualifier_bytes = 0;
  for (const Cell& cell : cells) {
    shown[cell.qualifier] = cell.value;
    if (cell.qualifier.size() % 2 == 0) qualifier_bytes += cell.qualifier.size();
  }
  auto compactor = points::PlanRowCompaction(cells, {});
  if (compactor.ok() && !compactor->empty() && compactor->front().kind == CellChange::Kind::kPut &&
      compactor->front().qualifier.size() == qualifier_bytes) {
    for (const CellChange& change : *compactor) shown.erase(change.qualifier);
    shown[compactor->front().qualifier] = compactor->front().value;
  }
  std::string text;
  for (const auto& [qualifier, value] : shown) text += ToHex(qualifier) + "=" + ToHex(value) + " ";
  return text;
}

Table Recorded(const std::string& suite) {
  Table table;
  std::istringstream in(ReadFile("cells/" + suite + ".tsv"));
  for (std::string line; std::getline(in, line);) {
    std::istringstream fields(line);
    std::string name, key, family, qualifier, value;
    for (std::string* field : {&name, &key, &family, &qualifier, &value})
      std::getline(fields, *field, '\t');
    if (name != "tsdb") continue;
    Bytes row;
    Cell cell{"t", {}, {}, 1};
    REQUIRE(
        (FromHex(key, &row) && FromHex(qualifier, &cell.qualifier) && FromHex(value, &cell.value)));
    table[row].push_back(cell);
  }
  return table;
}

void CheckSuites(EngineFactory make) {
  for (const std::string suite :
       {"schema-background", "schema-recompaction", "schema-duplicates-fixed",
        "schema-duplicates-refused", "schema-append-repair", "schema-append", "schema-append-fixed",
        "schema-append-nocompact", "schema-compaction-off", "schema-full-row"}) {
    CAPTURE(suite);
    rapidjson::Document document;
    document.Parse(ReadFile("suites/" + suite + ".json").c_str());
    REQUIRE(!document.HasParseError());
    Replay replay(document["config"], make);
    for (const auto& step : document["setup"].GetArray()) replay.Step(step);
    for (const auto& test : document["cases"].GetArray()) {
      if (test.HasMember("request")) replay.Step(test["request"]);
    }
    replay.ReadAll();
    const Table stored = replay.Stored();
    const Table recorded = Recorded(suite);
    CHECK(stored.size() == recorded.size());
    for (const auto& [key, cells] : recorded) {
      CAPTURE(ToHex(key));
      REQUIRE(stored.contains(key));
      CHECK(Show(stored.at(key)) == Show(cells));
    }
  }
}

TEST_CASE(
    "replayed suites on compaction leave the rows that OpenTSDB left: the codec over the model") {
  CheckSuites([](const points::PointsOverCellsOptions& options) -> std::unique_ptr<Engine> {
    return std::make_unique<ModelEngine>(options);
  });
}

TEST_CASE(
    "replaying the recorded compaction suites leaves the rows that OpenTSDB left, on the embedded "
    "engine") {
  CheckSuites([](const points::PointsOverCellsOptions& options) -> std::unique_ptr<Engine> {
    return std::make_unique<EmbeddedEngine>(options);
  });
}

}  // namespace
}  // namespace hg::compaction
