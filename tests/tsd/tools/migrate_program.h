#pragma once
// Runs `tsdb migrate` in tests. Instead of HBase, a FakeGateway with a ModelStore is used.

#include <doctest/doctest.h>

#include <atomic>
#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "storage/for_each_row.h"
#include "tests/support/hbase/gateway.h"
#include "tests/support/model_store.h"
#include "tests/support/tool_program.h"
#include "tsd/open_backend.h"

namespace hg::tsd {

/// Replaces HBase. The gateway accepts `puts_max` calls of putMultiple, and closes the connection
/// at each later call.
struct MigrateCluster {
  MigrateCluster()
      : gateway([this]() -> Store& { return model; },
                {.hook = [this](const std::string& method, hbase::Stage stage) {
                  return Judge(method, stage);
                }}) {}

  hbase::Fate Judge(const std::string& method, hbase::Stage stage) {
    if (stage == hbase::Stage::kAfter) return hbase::Fate::kGoOn;
    if (method == "openScanner") ++scans;
    if (method != "putMultiple") return hbase::Fate::kGoOn;
    if (at_put) at_put();
    return ++puts > puts_max ? hbase::Fate::kDrop : hbase::Fate::kGoOn;
  }
  [[nodiscard]] std::string Uri() const {
    return "hbase://127.0.0.1:" + std::to_string(gateway.port());
  }

  std::function<void()> at_put;  // called at each call of putMultiple; set it before the first call
  std::atomic<int> scans = 0;
  std::atomic<int> puts = 0;
  std::atomic<int> puts_max = 1 << 30;
  ModelStore model;
  hbase::FakeGateway gateway;
};

inline std::vector<Row> RowsOf(Store& store, const char* table) {
  ScanSpec spec;
  spec.table = table;
  std::vector<Row> all;
  CHECK(ForEachRow(store, spec, [&all](const Row& row) {
          all.push_back(row);
          return Status();
        }).ok());
  return all;
}

/// Runs `tsdb migrate`. The folder of the program may contain several data directories; the
/// settings contain the path of the directory "data".
class MigrateProgram : public ToolProgram {
 public:
  explicit MigrateProgram(const std::string& settings = {}, BackendOpener opener = OpenBackend)
      : ToolProgram(std::move(opener), "tsd.storage.hbase.thrift.deadline = 50\n" + settings),
        settings_(settings) {}

  [[nodiscard]] std::string Uri(const std::string& folder = "data") const {
    return "dir://" + Path(folder);
  }
  [[nodiscard]] Outcome Migrate(const std::string& from, const std::string& to,
                                std::vector<std::string> more = {}) const {
    more.insert(more.begin(), {"migrate", "--from=" + from, "--to=" + to});
    if (more.size() == 3 || !more[3].starts_with("--state")) {
      more.push_back("--state=" + Path("state"));
    }
    return Run(more);
  }
  [[nodiscard]] std::string DumpOf(const MigrateCluster& cluster, const std::string& table) const {
    return DumpWith("tsd.storage.backend = hbase\ntsd.storage.hbase.thrift = 127.0.0.1:" +
                        std::to_string(cluster.gateway.port()) + "\n",
                    table);
  }
  [[nodiscard]] std::string DumpOf(const std::string& folder, const std::string& table) const {
    return DumpWith("tsd.storage.path = " + Path(folder) + "\n", table);
  }

 private:
  [[nodiscard]] std::string DumpWith(const std::string& settings, const std::string& table) const {
    Write("other", settings_ + settings);
    const Outcome outcome = Run({"dump", "--config=" + Path("other"), table});
    CHECK(outcome.exit == 0);
    return outcome.out;
  }

  const std::string settings_;
};

inline bool Contains(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

/// Returns lines for the command `import`. They contain `count` series that have one point each.
inline std::string SeriesLines(int count) {
  std::string lines;
  for (int i = 0; i < count; ++i) {
    lines += "m " + std::to_string(1699999200 + i) + " " + std::to_string(i) + " host=h" +
             std::to_string(i) + "\n";
  }
  return lines;
}

// Lines for the command `import`. They contain values of every width, and times in seconds and in
// milliseconds.
inline const std::string kMixedLines =
    "m 1699999200 1 host=a\nm 1699999201 300 host=a\nm 1699999202 70000 host=a\n"
    "m 1699999203 5000000000 host=a\nm 1699999204 1.5 host=a\nm 1699999205123 7 host=a\n"
    "m 1699999205124 4.25 host=a\nm 1700009200 -1 host=b\nsys.other 1699999200 2 host=b\n";

}  // namespace hg::tsd
