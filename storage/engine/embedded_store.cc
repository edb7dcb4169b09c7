#include "storage/engine/embedded_store.h"

#include <algorithm>
#include <limits>
#include <map>
#include <numeric>
#include <utility>

#include "storage/base/invariant.h"
#include "storage/codec/append_cell.h"
#include "storage/engine/row_file.h"
#include "storage/engine/table_scan.h"
#include "storage/lsm/row_source.h"
#include "storage/points/filter_row.h"

namespace hg::engine {
namespace {

// HBase's limit (region-store.md D3).
constexpr size_t kKeyBytesMax = 32767;

Status CheckKey(ByteView key) {
  if (key.empty()) return Status::InvalidArgument("empty row key");
  if (key.size() <= kKeyBytesMax) return {};
  return Status::InvalidArgument("the row key has " + std::to_string(key.size()) +
                                 " bytes; the maximum is " + std::to_string(kKeyBytesMax));
}

Status CheckFamily(const Table& table, ByteView family) {
  if (table.FamilyIndex(family) >= 0) return {};
  return Status::NotFound("no such family: " + table.descriptor.name + ":" + Bytes(family));
}

Status CheckTtl(const Table& table, std::optional<int64_t> ttl_ms) {
  if (!ttl_ms) return {};
  if (*ttl_ms < 1) {
    return Status::InvalidArgument("invalid TTL of a cell: " + std::to_string(*ttl_ms) +
                                   " ms (expected at least 1)");
  }
  if (table.order == lsm::CellOrder::kByTime) return {};
  return Status::InvalidArgument("table " + table.descriptor.name +
                                 " holds points, so its cells cannot have a TTL of their own");
}

Status CheckTimes(const Table& table, const CellChange& change) {
  using Kind = CellChange::Kind;
  if (change.kind == Kind::kDeleteFamilyVersion && !change.timestamp_ms) {
    return Status::InvalidArgument("the delete of a version of a family needs a timestamp");
  }
  RETURN_IF_ERROR(CheckTtl(table, change.ttl_ms));
  if (table.order == lsm::CellOrder::kByTime) return {};
  if (change.kind != Kind::kPut && change.timestamp_ms) {
    return Status::InvalidArgument("table " + table.descriptor.name +
                                   " holds points, so a delete cannot have a timestamp");
  }
  return {};
}

Status CheckMutation(const Table& table, const RowMutation& mutation) {
  RETURN_IF_ERROR(CheckKey(mutation.key));
  for (const CellChange& change : mutation.changes) {
    RETURN_IF_ERROR(CheckFamily(table, change.family));
    RETURN_IF_ERROR(CheckValueSize(change.value.size()));
    RETURN_IF_ERROR(CheckTimes(table, change));
  }
  return {};
}

// Returns the columns that must be read to check one column and then apply the changes.
lsm::ColumnChoice ColumnsFor(ByteView qualifier, const std::vector<CellChange>& changes) {
  std::vector<Bytes> columns = DeletedColumns(changes);
  columns.emplace_back(qualifier);
  return lsm::ColumnChoice(std::move(columns));
}

// Returns the columns that are changed.
template <typename Change>
lsm::ColumnChoice ColumnsIn(const std::vector<Change>& changes) {
  std::vector<Bytes> columns;
  columns.reserve(changes.size());
  for (const Change& change : changes) columns.push_back(change.qualifier);
  return lsm::ColumnChoice(std::move(columns));
}

// A cell of a row. The value is a view of the row or of the OldCells that returned the cell.
struct OldCell {
  ByteView value;
  int64_t timestamp_ms = 0;
  std::optional<int64_t> ttl_ms;  // the TTL of its own
};

// The cells of a complete row from which a change computes new cells. Values are copied only if the
// row is an hour of a series, because the copy would be made under the write lock.
class OldCells {
 public:
  // `table` and `row` must outlive the object. Only the cells of the columns `chosen` can be found.
  OldCells(const Table& table, const StoredRow& row, const lsm::ColumnChoice& chosen,
           const points::RenderOptions& options)
      : table_(table), row_(row) {
    if (table.order == lsm::CellOrder::kByTime) {
      seen_ = lsm::VisibleVersions(table.families, options.now_ms, {}, row.cells.versions);
    } else if (row.regular) {
      rendered_ = SelectCells(table, row, {}, chosen, options);
    }
  }

  [[nodiscard]] std::optional<OldCell> Find(ByteView family, ByteView qualifier) const {
    const int number = table_.FamilyIndex(family);
    if (number < 0) return {};
    if (table_.order == lsm::CellOrder::kByTime) {
      const lsm::CellVersion* const cell = FindVersion(seen_, number, qualifier);
      if (cell == nullptr) return {};
      OldCell old{cell->value, cell->timestamp_ms, {}};
      if (cell->expires_ms != lsm::kNeverExpires)
        old.ttl_ms = cell->expires_ms - cell->timestamp_ms;
      return old;
    }
    if (row_.regular) {
      const Cell* const cell = FindColumn(rendered_, family, qualifier);
      if (cell == nullptr) return {};
      return OldCell{cell->value, cell->timestamp_ms, {}};
    }
    const lsm::StoredCell* const cell = row_.cells.Find(static_cast<uint8_t>(number), qualifier);
    if (cell == nullptr || !cell->has_value) return {};
    return OldCell{cell->value, cell->timestamp_ms, {}};
  }

 private:
  const Table& table_;
  const StoredRow& row_;
  std::vector<const lsm::CellVersion*> seen_;
  std::vector<Cell> rendered_;
};

// Returns a put that hides the value from which the new value was computed, even if the timestamp
// of the old value is in the future. Without `ttl_ms`, the put gets the TTL of the old cell.
CellChange PutOver(const std::optional<OldCell>& old, ByteView family, ByteView qualifier,
                   Bytes value, std::optional<int64_t> ttl_ms, int64_t now_ms) {
  CellChange put = PutCell(Bytes(family), Bytes(qualifier), std::move(value));
  put.ttl_ms = ttl_ms;
  if (!old) return put;
  if (old->timestamp_ms > now_ms) put.timestamp_ms = old->timestamp_ms;
  if (!put.ttl_ms) put.ttl_ms = old->ttl_ms;
  return put;
}

// Returns whether the column is the one to which append mode writes points.
bool IsAppendCell(const KeyLayout& layout, const Table& table, ByteView key, ByteView family,
                  ByteView qualifier) {
  Bytes tsuid;
  uint32_t base;
  return table.points_family >= 0 && table.FamilyIndex(family) == table.points_family &&
         qualifier == codec::kAppendQualifier && IsRegularKey(layout, key, &tsuid, &base);
}

// Cost of a row in memory in steps of a RequestContext, when the regions' shares are computed.
constexpr uint64_t kStepsOfRow = 16;

// Returns the bytes of the cells in memory, for each region, and counts the cells as writes.
Result<std::vector<uint64_t>> BytesOfCells(const lsm::CellMemory& cells,
                                           const region::RegionMap& map, MemoryTally* memory,
                                           std::vector<RegionInfo>* regions) {
  std::vector<uint64_t> bytes(map.count());
  for (size_t region = 0; region < map.count(); ++region) {
    const auto rows = lsm::ScanMemory(cells, map.Start(region), map.Stop(region));
    for (;;) {
      ASSIGN_OR_RETURN(const bool more, rows->Next());
      if (!more) break;
      RETURN_IF_ERROR(memory->Step(kStepsOfRow));
      memory->Remove(memory->held());  // of the previous row
      ASSIGN_OR_RETURN(const lsm::CellRow row, rows->TakeRow({}, memory));
      bytes[region] += rows->key().size() + row.MemoryBytes();
      (*regions)[region].writes += row.count();
    }
  }
  return bytes;
}

// Returns the number of rows in memory, for each region, and counts their points as writes.
Result<std::vector<uint64_t>> RowsOfPoints(const Engine& engine, const Memtable& memtable,
                                           const region::RegionMap& map, MemoryTally* memory,
                                           std::vector<RegionInfo>* regions) {
  std::vector<uint64_t> rows(map.count());
  const auto tsuids = engine.registry().tsuids();
  Status status;
  memtable.rows.ForEachSeries([&](uint32_t number) {
    if (status.ok()) status = memory->Step(kStepsOfRow);
    if (!status.ok()) return;
    const ByteView tsuid = tsuids->FindTsuid(number);
    if (tsuid.empty()) return;  // the series was forgotten or registered a moment ago
    const Bytes prefix = RowKeyPrefix(engine.layout(), tsuid);
    for (const RowHourMemory* row = memtable.rows.Newest(number); row != nullptr && status.ok();
         row = row->older()) {
      status = memory->Step(kStepsOfRow);
      Bytes group = prefix;
      AppendBig(&group, row->base(), 4);
      const size_t region = map.IndexOf(group);
      ++rows[region];
      (*regions)[region].writes += row->entries();
    }
  });
  RETURN_IF_ERROR(status);
  return rows;
}

// Distributes bytes of memory over the regions by weight. The first region gets the remaining
// bytes.
void AddShares(uint64_t bytes, const std::vector<uint64_t>& weights,
               std::vector<RegionInfo>* regions) {
  const uint64_t total = std::accumulate(weights.begin(), weights.end(), uint64_t{0});
  uint64_t given = 0;
  for (size_t region = 1; region < regions->size() && total > 0; ++region) {
    const auto share =
        static_cast<uint64_t>(static_cast<double>(bytes) * static_cast<double>(weights[region]) /
                              static_cast<double>(total));
    (*regions)[region].memory_bytes += share;
    given += share;
  }
  (*regions)[0].memory_bytes += bytes - std::min(given, bytes);
}

}  // namespace

Status EmbeddedStore::CreateTable(const TableDescriptor& table) {
  RETURN_IF_ERROR(engine_.CreateTable(table));
  engine_.observers().AfterTable(table);
  return {};
}

Status EmbeddedStore::AlterTable(const TableDescriptor& table, const TableDescriptor* before) {
  ASSIGN_OR_RETURN(const bool changed, engine_.AlterTable(table, before));
  if (!changed) return {};
  engine_.listeners().AfterAlteration();
  engine_.observers().AfterTable(table);
  return {};
}

Status EmbeddedStore::DropTable(const std::string& table) { return engine_.DropTable(table); }

Result<TableDescriptor> EmbeddedStore::DescribeTable(const std::string& name) {
  ASSIGN_OR_RETURN(const Table* table, engine_.FindTable(name));
  return table->descriptor;
}

Result<std::vector<TableDescriptor>> EmbeddedStore::ListTables() {
  std::vector<TableDescriptor> all;
  for (const Table* table : engine_.Tables()) all.push_back(table->descriptor);
  return all;
}

// Writes all rows with one commit of the log.
std::vector<Status> EmbeddedStore::MutateRows(const std::string& name,
                                              const std::vector<RowMutation>& rows) {
  const auto table = engine_.FindTable(name);
  if (!table.ok()) return std::vector<Status>(rows.size(), table.status());
  std::vector<Status> statuses;
  statuses.reserve(rows.size());
  LogPosition position = 0;
  for (const RowMutation& mutation : rows) {
    Status& status = statuses.emplace_back(CheckMutation(**table, mutation));
    if (!status.ok() || mutation.changes.empty()) continue;
    const auto written = engine_.Write(**table, mutation.key, mutation.changes);
    status = written.status();
    if (written.ok()) position = *written;
  }
  if (const Status committed = Commit(position); !committed.ok()) {
    for (Status& status : statuses) {
      if (status.ok()) status = committed;
    }
  }
  return statuses;
}

// Before the delete, frees memory if necessary, because callers often delete many rows and other
// writers need memory, too.
Status EmbeddedStore::DeleteRow(const std::string& name, ByteView key) {
  ASSIGN_OR_RETURN(const Table* table, engine_.FindTable(name));
  RETURN_IF_ERROR(engine_.LeaveRoom());
  RowMutation mutation{Bytes(key), {}};
  for (const FamilyDescriptor& family : table->descriptor.families) {
    mutation.changes.push_back({CellChange::Kind::kDeleteFamily, family.name, {}, {}, {}});
  }
  return Mutate(name, {mutation});
}

Result<Row> EmbeddedStore::GetCells(const std::string& name, ByteView key,
                                    const CellSelection& wanted) {
  ASSIGN_OR_RETURN(const Table* table, engine_.FindTable(name));
  RETURN_IF_ERROR(CheckKey(key));
  if (!wanted.family.empty()) RETURN_IF_ERROR(CheckFamily(*table, wanted.family));
  MemoryTally memory(wanted.context);
  const lsm::ColumnChoice columns = ColumnsOf(wanted);
  const auto version = engine_.Pin();
  engine_.region_loads().AddRead(version->RegionsOf(table->id).IdOf(key));
  ASSIGN_OR_RETURN(const StoredRow row,
                   engine_.rows().Read(*version, *table, key, FilesFor(*table, wanted.family),
                                       columns, &memory));
  Row result{Bytes(key), SelectCells(*table, row, wanted, columns, engine_.render_options())};
  points::Strip(wanted, &result.cells);
  return result;
}

// Reads rows in key order, so that each block is read once. Returns them in the requested order.
std::vector<Result<Row>> EmbeddedStore::GetRows(const std::string& name,
                                                const std::vector<Bytes>& keys,
                                                const CellSelection& wanted) {
  const auto table = engine_.FindTable(name);
  Status refused = table.status();
  if (refused.ok() && !wanted.family.empty()) refused = CheckFamily(**table, wanted.family);
  if (!refused.ok()) return std::vector<Result<Row>>(keys.size(), refused);
  std::vector<size_t> order(keys.size());
  std::iota(order.begin(), order.end(), size_t{0});
  std::sort(order.begin(), order.end(), [&](size_t a, size_t b) { return keys[a] < keys[b]; });
  std::vector<Result<Row>> rows(keys.size(), Row());
  const auto version = engine_.Pin();
  const lsm::ColumnChoice columns = ColumnsOf(wanted);
  MemoryTally memory(wanted.context);
  const auto get = [&](const Bytes& key) -> Result<Row> {
    RETURN_IF_ERROR(CheckKey(key));
    engine_.region_loads().AddRead(version->RegionsOf((*table)->id).IdOf(key));
    ASSIGN_OR_RETURN(const StoredRow stored,
                     engine_.rows().Read(*version, **table, key, FilesFor(**table, wanted.family),
                                         columns, &memory));
    Row row{key, SelectCells(**table, stored, wanted, columns, engine_.render_options())};
    points::Strip(wanted, &row.cells);
    return row;
  };
  const auto copy = [&](const Result<Row>& row) -> Result<Row> {
    if (row.ok()) RETURN_IF_ERROR(CountRow(*row, &memory));
    return row;
  };
  for (size_t i = 0; i < order.size(); ++i) {
    const bool again = i > 0 && keys[order[i]] == keys[order[i - 1]];
    rows[order[i]] = again ? copy(rows[order[i - 1]]) : get(keys[order[i]]);
  }
  return rows;
}

Result<std::vector<int64_t>> EmbeddedStore::IncrementColumns(
    const std::string& name, ByteView key, const std::vector<ColumnIncrement>& columns,
    std::optional<int64_t> ttl_ms) {
  ASSIGN_OR_RETURN(const Table* table, engine_.FindTable(name));
  RETURN_IF_ERROR(CheckKey(key));
  RETURN_IF_ERROR(CheckTtl(*table, ttl_ms));
  for (const ColumnIncrement& column : columns) RETURN_IF_ERROR(CheckFamily(*table, column.family));
  if (columns.empty()) return std::vector<int64_t>();
  const lsm::ColumnChoice chosen = ColumnsIn(columns);
  std::vector<int64_t> sums;
  const auto decide = [&](const StoredRow& row, std::vector<CellChange>* changes) -> Result<bool> {
    const OldCells cells(*table, row, chosen, engine_.render_options());
    const int64_t now_ms = engine_.stamp_ms_locked(key);
    std::map<std::pair<ByteView, ByteView>, uint64_t> added;
    sums.clear();
    for (const ColumnIncrement& column : columns) {
      const std::optional<OldCell> old = cells.Find(column.family, column.qualifier);
      if (old && old->value.size() != 8) {
        return Status::InvalidArgument("a counter has " + std::to_string(old->value.size()) +
                                       " bytes, not 8, in row " + ToHex(key));
      }
      uint64_t& sum = added
                          .try_emplace({column.family, column.qualifier},
                                       old ? ReadBig64(old->value.data()) : 0)
                          .first->second;
      sum += static_cast<uint64_t>(column.by);
      Bytes value;
      AppendBig(&value, sum, 8);
      changes->push_back(
          PutOver(old, column.family, column.qualifier, std::move(value), ttl_ms, now_ms));
      sums.push_back(static_cast<int64_t>(sum));
    }
    return true;
  };
  ASSIGN_OR_RETURN(const auto outcome, engine_.ReadModifyWrite(*table, key, chosen, decide));
  RETURN_IF_ERROR(Commit(outcome.position));
  return sums;
}

Status EmbeddedStore::AppendColumns(const std::string& name, ByteView key,
                                    const std::vector<ColumnAppend>& columns,
                                    std::optional<int64_t> ttl_ms) {
  ASSIGN_OR_RETURN(const Table* table, engine_.FindTable(name));
  RETURN_IF_ERROR(CheckKey(key));
  RETURN_IF_ERROR(CheckTtl(*table, ttl_ms));
  if (columns.empty()) return {};
  for (const ColumnAppend& column : columns) {
    RETURN_IF_ERROR(CheckFamily(*table, column.family));
    if (!IsAppendCell(engine_.layout(), *table, key, column.family, column.qualifier)) continue;
    if (columns.size() == 1) {
      RETURN_IF_ERROR(CheckValueSize(column.value.size()));
      ASSIGN_OR_RETURN(const LogPosition position, engine_.AppendToRow(*table, key, column.value));
      return Commit(position);
    }
    return Status::InvalidArgument("table " + table->descriptor.name +
                                   " holds points, so an append to the column " +
                                   ToHex(column.qualifier) + " needs a separate call");
  }
  const lsm::ColumnChoice chosen = ColumnsIn(columns);
  const auto decide = [&](const StoredRow& row, std::vector<CellChange>* changes) -> Result<bool> {
    const OldCells cells(*table, row, chosen, engine_.render_options());
    const int64_t now_ms = engine_.stamp_ms_locked(key);
    for (const ColumnAppend& column : columns) {
      const std::optional<OldCell> old = cells.Find(column.family, column.qualifier);
      const size_t size = (old ? old->value.size() : 0) + column.value.size();
      RETURN_IF_ERROR(CheckValueSize(size));
      Bytes joined;
      joined.reserve(size);
      if (old) joined += old->value;
      joined += column.value;
      changes->push_back(
          PutOver(old, column.family, column.qualifier, std::move(joined), ttl_ms, now_ms));
    }
    return true;
  };
  ASSIGN_OR_RETURN(const auto outcome, engine_.ReadModifyWrite(*table, key, chosen, decide));
  return Commit(outcome.position);
}

Result<bool> EmbeddedStore::CompareAndMutate(ByteView family, ByteView qualifier,
                                             const Expected& expected, const std::string& name,
                                             const RowMutation& mutation) {
  ASSIGN_OR_RETURN(const Table* table, engine_.FindTable(name));
  if (expected && expected->empty()) return Status::InvalidArgument("empty expected value");
  RETURN_IF_ERROR(CheckFamily(*table, family));
  RETURN_IF_ERROR(CheckMutation(*table, mutation));
  bool as_expected = false;
  ASSIGN_OR_RETURN(const auto outcome,
                   engine_.ReadModifyWrite(
                       *table, mutation.key, ColumnsFor(qualifier, mutation.changes),
                       [&](const StoredRow& row, std::vector<CellChange>* changes) {
                         const OldCells cells(*table, row, lsm::ColumnChoice({Bytes(qualifier)}),
                                              engine_.render_options());
                         const auto old = cells.Find(family, qualifier);
                         as_expected =
                             expected ? old && old->value == *expected : !old || old->value.empty();
                         *changes = mutation.changes;
                         return Result<bool>(as_expected && !changes->empty());
                       }));
  // Without a write, the result may depend on another writer's change that is not durable yet. That
  // is allowed: this call does not guarantee that the other change is durable.
  if (outcome.written) RETURN_IF_ERROR(Commit(outcome.position));
  return as_expected;
}

Result<bool> EmbeddedStore::MutateIfUnchanged(ByteView family, const std::vector<Cell>& cells,
                                              const std::string& name,
                                              const RowMutation& mutation) {
  ASSIGN_OR_RETURN(const Table* table, engine_.FindTable(name));
  RETURN_IF_ERROR(CheckFamily(*table, family));
  RETURN_IF_ERROR(CheckMutation(*table, mutation));
  CellSelection wanted;
  wanted.family = family;
  bool unchanged = false;
  ASSIGN_OR_RETURN(
      const auto outcome,
      engine_.ReadModifyWrite(
          *table, mutation.key, {}, [&](const StoredRow& row, std::vector<CellChange>* changes) {
            unchanged = SelectCells(*table, row, wanted, {}, engine_.render_options()) == cells;
            *changes = mutation.changes;
            return Result<bool>(unchanged && !changes->empty());
          }));
  if (outcome.written) RETURN_IF_ERROR(Commit(outcome.position));
  return unchanged;
}

Result<std::unique_ptr<ScanCursor>> EmbeddedStore::Scan(const ScanSpec& spec) {
  // A scan may take long, because its amount of work is unknown.
  if (spec.context != nullptr) RETURN_IF_ERROR(spec.context->MayWait());
  ASSIGN_OR_RETURN(const Table* table, engine_.FindTable(spec.table));
  if (!spec.family.empty()) RETURN_IF_ERROR(CheckFamily(*table, spec.family));
  if (spec.batch_rows == 0) return Status::InvalidArgument("batch_rows is 0");
  RETURN_IF_ERROR(points::CheckFilter(spec.filter));
  return OpenTableScan(engine_, *table, spec);
}

Result<std::vector<RegionInfo>> EmbeddedStore::Regions(const std::string& name,
                                                       RequestContext* context) {
  ASSIGN_OR_RETURN(const Table* table, engine_.FindTable(name));
  const auto version = engine_.Pin();
  const region::RegionMap& map = version->RegionsOf(table->id);
  std::vector<RegionInfo> all;
  for (size_t region = 0; region < map.count(); ++region) {
    RegionInfo info;
    info.start = map.Start(region);
    info.stop = map.Stop(region);
    const RegionLoads::Load load = engine_.region_loads().Read(map.Id(region));
    info.writes = load.writes;
    info.reads = load.reads;
    for (const auto& part : version->PartsOf(table->id, map.Id(region))) {
      const lsm::PartEntry& entry = part->entry();
      info.references += entry.reference ? 1 : 0;
      info.file_count += (entry.cells_bytes > 0 ? 1 : 0) + (entry.points_bytes > 0 ? 1 : 0);
      info.file_bytes += entry.cells_bytes + entry.points_bytes;
    }
    all.push_back(std::move(info));
  }
  MemoryTally memory(context);
  // Memory belongs to the whole store. Each region is charged with the share of its rows.
  for (const auto& memtable : version->memtables) {
    const lsm::CellMemory* cells = memtable->Cells(table->id);
    if (cells != nullptr) {
      ASSIGN_OR_RETURN(const auto bytes, BytesOfCells(*cells, map, &memory, &all));
      AddShares(cells->bytes(), bytes, &all);
    }
    if (table->points_family >= 0) {
      ASSIGN_OR_RETURN(const auto rows, RowsOfPoints(engine_, *memtable, map, &memory, &all));
      AddShares(memtable->rows.bytes(), rows, &all);
    }
  }
  return all;
}

Result<std::vector<Bytes>> EmbeddedStore::RegionStarts(const std::string& name) {
  ASSIGN_OR_RETURN(const Table* table, engine_.FindTable(name));
  const auto version = engine_.Pin();
  const region::RegionMap& map = version->RegionsOf(table->id);
  std::vector<Bytes> starts;
  starts.reserve(map.count());
  for (size_t region = 0; region < map.count(); ++region) starts.push_back(map.Start(region));
  return starts;
}

Status EmbeddedStore::CompactTable(const std::string& name, RequestContext* context) {
  ASSIGN_OR_RETURN(const Table* table, engine_.FindTable(name));
  return engine_.Compact(*table, context);
}

Result<Bytes> EmbeddedStore::Split(const std::string& name, ByteView key_of_region,
                                   const std::optional<Bytes>& at) {
  ASSIGN_OR_RETURN(const Table* table, engine_.FindTable(name));
  return engine_.Split(*table, key_of_region, at);
}

Status EmbeddedStore::MergeRegions(const std::string& name, const Bytes& boundary,
                                   RequestContext* context) {
  ASSIGN_OR_RETURN(const Table* table, engine_.FindTable(name));
  return engine_.MergeRegions(*table, boundary, context);
}

}  // namespace hg::engine
