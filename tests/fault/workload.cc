#include "tests/fault/workload.h"

#include <doctest/doctest.h>

#include <memory>
#include <random>
#include <vector>

#include "storage/codec/row_key.h"
#include "tests/support/commit_and_wait.h"

namespace hg {

Result<std::string> TryDumpCells(Store& store) {
  std::string text;
  for (const char* table : {"tsdb", "tsdb-uid"}) {
    ScanSpec spec;
    spec.table = table;
    ASSIGN_OR_RETURN(const auto cursor, store.Scan(spec));
    for (std::vector<Row> rows;;) {
      RETURN_IF_ERROR(cursor->Next(&rows));
      if (rows.empty()) break;
      for (const Row& row : rows) {
        for (const Cell& cell : row.cells) {
          text += ToHex(row.key) + ' ' + cell.family + ' ' + ToHex(cell.qualifier) + ' ' +
                  ToHex(cell.value) + '\n';
        }
      }
    }
  }
  return text;
}

std::string DumpCells(Store& store) {
  const auto text = TryDumpCells(store);
  INFO(text.status().ToString());
  REQUIRE(text.ok());
  return *text;
}

Bytes WorkloadTsuid(uint64_t i) {
  Bytes tsuid;
  AppendBig(&tsuid, 1 + i % 2, 3);
  AppendBig(&tsuid, 1, 3);
  AppendBig(&tsuid, 1 + i, 3);
  return tsuid;
}

Status WriteSome(uint64_t seed, Store& cells, Points& points) {
  std::mt19937_64 random(seed);
  const Bytes tsuid = WorkloadTsuid(random() % kWorkloadSeries);
  const uint32_t base = kWorkloadBase + static_cast<uint32_t>(random() % 2) * 3600;
  const Bytes key = codec::MakeRowKey(points.layout(), tsuid, base);
  switch (random() % 8) {
    case 0:
      return cells.Increment("tsdb-uid", Bytes(1, '\0'), "id", "metrics", 1).status();
    case 1: {
      RowMutation mutation{"name" + std::to_string(random() % 3), {}};
      mutation.changes.push_back(PutCell("id", "metrics", "v" + std::to_string(seed)));
      return cells.CompareAndMutate("id", "tagk", {}, "tsdb-uid", mutation).status();
    }
    case 2:
      return cells.Mutate(
          "tsdb", {{key, {PutCell("t", Bytes("\1\0\5", 3), "note" + std::to_string(seed))}}});
    case 3:
      return cells.DeleteRow("tsdb", key);
    case 4: {
      const char qualifier[] = {0, static_cast<char>(random() % 4 * 16)};
      return cells.Mutate("tsdb", {{key, {DeleteColumn("t", Bytes(qualifier, 2))}}});
    }
    default: {
      auto number = points.Register(tsuid);
      if (!number.ok()) return number.status();
      std::vector<PointEntry> batch;
      for (uint64_t n = 1 + random() % 30; n > 0; --n) {
        batch.push_back(MakePointEntry(*number,
                                       Timestamp{base + static_cast<int64_t>(random() % 60)},
                                       PointValue::Int(static_cast<int64_t>(random() % 100))));
      }
      auto position = points.Append(batch);
      if (!position.ok()) return position.status();
      return CommitAndWait(points, *position);
    }
  }
}

}  // namespace hg
