#include "tests/support/hbase/gateway_service.h"

#include <algorithm>
#include <limits>
#include <stdexcept>

#include "storage/hbase/check_request.h"
#include "storage/hbase/wire_types.h"

namespace hg::hbase {
namespace {

using Kind = CellChange::Kind;

[[noreturn]] void Refuse(const std::string& message, bool can_retry) {
  wire::TIOError error;
  error.__set_message(message);
  error.__set_canRetry(can_retry);
  throw error;
}

// Calls that the Java client of the gateway refuses before it calls HBase.
[[noreturn]] void InternalError(const std::string& method) {
  throw std::runtime_error("Internal error processing " + method);
}

[[noreturn]] void RefuseFamily(bool can_retry) {
  Refuse(
      "org.apache.hadoop.hbase.regionserver.NoSuchColumnFamilyException: Column family does not "
      "exist in region\n\tat a.stack.trace",
      can_retry);
}

void CheckRow(const std::string& key, const std::string& method) {
  if (!CheckKey(key).ok()) InternalError(method);
}

// `lies`: for some methods the error for a missing family claims that a retry may help.
void Check(const Status& status, const std::string& table, const std::string& method,
           bool lies = false) {
  switch (status.code()) {
    case StatusCode::kOk:
      return;
    case StatusCode::kNotFound:
      if (status.message().find("famil") != std::string_view::npos) RefuseFamily(lies);
      Refuse(table, false);
    case StatusCode::kInvalidArgument:
      if (method == "increment") {
        Refuse(
            "org.apache.hadoop.hbase.DoNotRetryIOException: Field is not a long, it's 7 bytes "
            "wide",
            false);
      }
      InternalError(method);
    case StatusCode::kUnsupported:
      Refuse("org.apache.hadoop.hbase.DoNotRetryIOException: " + std::string(status.message()) +
                 " Set hbase.table.sanity.checks to false",
             false);
    default:
      Refuse("org.apache.hadoop.hbase.RegionException: " + status.ToString(), true);
  }
}

wire::TResult WriteRow(const Row& row) {
  wire::TResult result;
  if (row.empty()) return result;
  result.__set_row(row.key);
  for (const Cell& cell : row.cells) {
    wire::TColumnValue& value = result.columnValues.emplace_back();
    value.family = cell.family;
    value.qualifier = cell.qualifier;
    value.value = cell.value;
    value.__set_timestamp(cell.timestamp_ms);
  }
  return result;
}

bool Named(const std::vector<wire::TColumn>& columns, const Cell& cell) {
  return columns.empty() ||
         std::any_of(columns.begin(), columns.end(), [&](const wire::TColumn& column) {
           return column.family == cell.family &&
                  (!column.__isset.qualifier || column.qualifier == cell.qualifier);
         });
}

void Filter(const std::vector<wire::TColumn>& columns, GatewayFilter* filter, Row* row) {
  std::erase_if(row->cells, [&](const Cell& cell) { return !Named(columns, cell); });
  if (filter == nullptr) return;
  filter->StartRow();
  std::erase_if(row->cells, [&](Cell& cell) { return !filter->Passes(row->key, &cell); });
}

std::unique_ptr<GatewayFilter> ReadFilter(const std::string& bytes) {
  if (bytes.empty()) return nullptr;
  auto filter = ReadGatewayFilter(bytes);
  if (!filter.ok()) {
    const bool unknown = filter.status().code() == StatusCode::kUnsupported;
    const std::string name = unknown
                                 ? "java.lang.ClassNotFoundException"
                                 : "org.apache.hadoop.hbase.exceptions.DeserializationException";
    Refuse(name + ": " + filter.status().ToString(), !unknown);
  }
  return std::move(*filter);
}

std::vector<CellChange> ReadPut(const wire::TPut& put, const std::string& method) {
  CheckRow(put.row, method);
  if (put.columnValues.empty()) InternalError(method);
  std::optional<int64_t> ttl_ms;
  const auto ttl = put.attributes.find(kTtlAttribute);
  if (ttl != put.attributes.end()) ttl_ms = static_cast<int64_t>(ReadBig64(ttl->second.data()));
  std::vector<CellChange> changes;
  for (const wire::TColumnValue& cell : put.columnValues) {
    if (CellBytes(put.row.size(), cell.family.size(), cell.qualifier.size(), cell.value.size(),
                  ttl_ms.has_value()) > kCellBytesMax) {
      InternalError(method);
    }
    CellChange& change = changes.emplace_back();
    change = PutCell(cell.family, cell.qualifier, cell.value);
    if (cell.__isset.timestamp) {
      change.timestamp_ms = cell.timestamp;
    } else if (put.__isset.timestamp) {
      change.timestamp_ms = put.timestamp;
    }
    change.ttl_ms = ttl_ms;
  }
  return changes;
}

}  // namespace

void GatewayService::ForgetScanners() {
  const std::lock_guard lock(mutex_);
  scanners_.clear();
}

size_t GatewayService::scanner_count() const {
  const std::lock_guard lock(mutex_);
  return scanners_.size();
}

TableDescriptor GatewayService::Known(const std::string& table) {
  {
    const std::lock_guard lock(mutex_);
    if (disabled_.contains(table)) Refuse(table + " is disabled.", false);
  }
  auto descriptor = store_().DescribeTable(table);
  if (!descriptor.ok()) Refuse(table, false);
  return *descriptor;
}

void GatewayService::CheckFamilies(const TableDescriptor& table,
                                   const std::vector<wire::TColumn>& columns) {
  for (const wire::TColumn& column : columns) {
    if (std::none_of(table.families.begin(), table.families.end(),
                     [&](const auto& family) { return family.name == column.family; })) {
      RefuseFamily(false);
    }
  }
}

void GatewayService::get(wire::TResult& result, const std::string& table, const wire::TGet& get) {
  CheckRow(get.row, "get");
  CheckFamilies(Known(table), get.columns);
  CellSelection wanted;
  if (get.__isset.maxVersions) wanted.max_versions = get.maxVersions;
  if (get.__isset.timeRange) {
    wanted.min_ms = get.timeRange.minStamp;
    wanted.max_ms = get.timeRange.maxStamp;
  }
  auto row = store_().GetCells(table, get.row, wanted);
  Check(row.status(), table, "get");
  Filter(get.columns, ReadFilter(get.filterBytes).get(), &*row);
  result = WriteRow(*row);
}

void GatewayService::getMultiple(std::vector<wire::TResult>& results, const std::string& table,
                                 const std::vector<wire::TGet>& gets) {
  Known(table);
  for (const wire::TGet& one : gets) get(results.emplace_back(), table, one);
}

void GatewayService::put(const std::string& table, const wire::TPut& put) {
  Known(table);
  Check(store_().Mutate(table, {{put.row, ReadPut(put, "put")}}), table, "put");
}

void GatewayService::putMultiple(const std::string& table, const std::vector<wire::TPut>& puts) {
  if (!store_().DescribeTable(table).ok()) {
    const std::string count = std::to_string(puts.size());
    Refuse("Failed " + count + " actions: " + table + ": " + count +
               " times, servers with issues: null",
           true);
  }
  Known(table);
  std::vector<RowMutation> rows;
  for (const wire::TPut& put : puts) rows.push_back({put.row, ReadPut(put, "putMultiple")});
  // One invalid row does not prevent the others.
  Status failure;
  for (RowMutation& row : rows) {
    if (Status s = store_().Mutate(table, {std::move(row)}); !s.ok()) failure = s;
  }
  Check(failure, table, "putMultiple", true);
}

std::vector<CellChange> GatewayService::ReadDelete(const TableDescriptor& table,
                                                   const wire::TDelete& gone) {
  CheckRow(gone.row, "deleteSingle");
  std::vector<CellChange> changes;
  const auto time = [](const auto& from) {
    return from.__isset.timestamp ? std::optional(from.timestamp) : std::nullopt;
  };
  if (gone.columns.empty()) {
    for (const FamilyDescriptor& family : table.families) {
      changes.push_back({Kind::kDeleteFamily, family.name, {}, {}, time(gone), {}});
    }
  }
  for (const wire::TColumn& column : gone.columns) {
    CellChange& change = changes.emplace_back();
    change.family = column.family;
    change.timestamp_ms = time(column);
    switch (gone.deleteType) {
      case wire::TDeleteType::DELETE_COLUMN:
        change.kind = Kind::kDeleteVersion;
        break;
      case wire::TDeleteType::DELETE_COLUMNS:
        change.kind = Kind::kDeleteColumn;
        break;
      case wire::TDeleteType::DELETE_FAMILY:
        change.kind = Kind::kDeleteFamily;
        continue;
      case wire::TDeleteType::DELETE_FAMILY_VERSION:
        change.kind = Kind::kDeleteFamilyVersion;
        if (!change.timestamp_ms) InternalError("deleteSingle");
        continue;
    }
    change.qualifier = column.qualifier;
  }
  return changes;
}

void GatewayService::deleteSingle(const std::string& table, const wire::TDelete& gone) {
  const TableDescriptor known = Known(table);
  Check(store_().Mutate(table, {{gone.row, ReadDelete(known, gone)}}), table, "deleteSingle");
}

void GatewayService::increment(wire::TResult& result, const std::string& table,
                               const wire::TIncrement& increment) {
  CheckRow(increment.row, "increment");
  Known(table);
  std::vector<ColumnIncrement> columns;
  for (const wire::TColumnIncrement& column : increment.columns) {
    columns.push_back({column.family, column.qualifier, column.amount});
  }
  auto sums = store_().IncrementColumns(table, increment.row, columns);
  Check(sums.status(), table, "increment");
  result.__set_row(increment.row);
  for (size_t i = 0; i < columns.size(); ++i) {
    wire::TColumnValue& cell = result.columnValues.emplace_back();
    cell.family = columns[i].family;
    cell.qualifier = columns[i].qualifier;
    AppendBig(&cell.value, static_cast<uint64_t>((*sums)[i]), 8);
  }
}

void GatewayService::append(wire::TResult&, const std::string& table, const wire::TAppend& append) {
  CheckRow(append.row, "append");
  Known(table);
  for (const wire::TColumnValue& cell : append.columns) {
    Check(store_().Append(table, append.row, cell.family, cell.qualifier, cell.value), table,
          "append");
  }
}

// All changes have one time, at which deletes hide puts.
RowMutation GatewayService::ReadMutations(const TableDescriptor& table,
                                          const wire::TRowMutations& row) {
  if (row.mutations.empty()) InternalError("mutateRow");
  RowMutation all{row.row, {}};
  std::vector<CellChange> deletes;
  for (const wire::TMutation& mutation : row.mutations) {
    const std::string& key = mutation.__isset.put ? mutation.put.row : mutation.deleteSingle.row;
    if (key != row.row) Refuse("java.io.IOException: row doesn't match the original one", false);
    const std::vector<CellChange> some = mutation.__isset.put
                                             ? ReadPut(mutation.put, "mutateRow")
                                             : ReadDelete(table, mutation.deleteSingle);
    auto& kind = mutation.__isset.put ? all.changes : deletes;
    kind.insert(kind.end(), some.begin(), some.end());
  }
  all.changes.insert(all.changes.end(), deletes.begin(), deletes.end());
  return all;
}

void GatewayService::mutateRow(const std::string& table, const wire::TRowMutations& row) {
  const TableDescriptor known = Known(table);
  Check(store_().Mutate(table, {ReadMutations(known, row)}), table, "mutateRow", true);
}

bool GatewayService::checkAndMutate(const std::string& table, const std::string& row,
                                    const std::string& family, const std::string& qualifier,
                                    wire::TCompareOperator::type op, const std::string& value,
                                    const wire::TRowMutations& mutations) {
  CheckRow(row, "checkAndMutate");
  const TableDescriptor known = Known(table);
  if (op != wire::TCompareOperator::EQUAL) InternalError("checkAndMutate");
  if (row != mutations.row) Refuse("java.io.IOException: doesn't match the original one", false);
  auto done =
      store_().CompareAndMutate(family, qualifier, value.empty() ? Expected() : Expected(value),
                                table, ReadMutations(known, mutations));
  Check(done.status(), table, "checkAndMutate");
  return *done;
}

int32_t GatewayService::openScanner(const std::string& table, const wire::TScan& scan) {
  auto scanner = std::make_shared<Scanner>();
  scanner->table = table;
  scanner->wanted = scan;
  scanner->filter = ReadFilter(scan.filterBytes);
  const std::lock_guard lock(mutex_);
  scanners_[next_scanner_] = std::move(scanner);
  return next_scanner_++;
}

void GatewayService::OpenCursor(Scanner* scanner) {
  const wire::TScan& wanted = scanner->wanted;
  CheckFamilies(Known(scanner->table), wanted.columns);
  ScanSpec spec;
  spec.table = scanner->table;
  spec.start = wanted.startRow;
  spec.stop = wanted.stopRow;
  spec.reversed = wanted.reversed;
  // A scan from a key to itself returns that key.
  if (!spec.start.empty() && spec.start == spec.stop) {
    spec.stop.push_back('\0');
    if (spec.reversed) std::swap(spec.start, spec.stop);
    spec.reversed = false;
    spec.start = wanted.startRow;
  }
  spec.max_versions = wanted.maxVersions;
  if (wanted.__isset.timeRange) {
    spec.min_ms = wanted.timeRange.minStamp;
    spec.max_ms = wanted.timeRange.maxStamp;
  }
  spec.fill_cache = !wanted.__isset.cacheBlocks || wanted.cacheBlocks;
  auto cursor = store_().Scan(spec);
  Check(cursor.status(), scanner->table, "getScannerRows");
  scanner->cursor = std::move(*cursor);
}

bool GatewayService::NextRow(Scanner* scanner, wire::TResult* result) {
  while (true) {
    if (scanner->at == scanner->rows.size()) {
      scanner->at = 0;
      Check(scanner->cursor->Next(&scanner->rows), scanner->table, "getScannerRows");
      if (scanner->rows.empty()) return false;
    }
    Row& row = scanner->rows[scanner->at++];
    Filter(scanner->wanted.columns, scanner->filter.get(), &row);
    if (row.empty()) continue;
    *result = WriteRow(row);
    return true;
  }
}

void GatewayService::getScannerRows(std::vector<wire::TResult>& results, int32_t id, int32_t rows) {
  std::shared_ptr<Scanner> scanner;
  {
    const std::lock_guard lock(mutex_);
    const auto it = scanners_.find(id);
    if (it != scanners_.end()) scanner = it->second;
  }
  if (!scanner) {
    wire::TIllegalArgument error;
    error.__set_message("Invalid scanner Id");
    throw error;
  }
  if (rows < 0) InternalError("getScannerRows");
  const std::lock_guard lock(scanner->mutex);
  if (!scanner->cursor) OpenCursor(scanner.get());
  wire::TResult result;
  while (results.size() < static_cast<size_t>(rows) && NextRow(scanner.get(), &result)) {
    results.push_back(std::move(result));
  }
}

void GatewayService::closeScanner(int32_t id) {
  std::shared_ptr<Scanner> scanner;
  const std::lock_guard lock(mutex_);
  scanners_.erase(id);
}

void GatewayService::getAllRegionLocations(std::vector<wire::THRegionLocation>& locations,
                                           const std::string& table) {
  auto regions = store_().Regions(table);
  if (!regions.ok()) return;
  for (const RegionInfo& region : *regions) {
    wire::THRegionLocation& location = locations.emplace_back();
    location.serverName.hostName = "127.0.0.1";
    location.regionInfo.tableName = table;
    location.regionInfo.__set_startKey(region.start);
    location.regionInfo.__set_endKey(region.stop);
  }
}

void GatewayService::createTable(const wire::TTableDescriptor& table,
                                 const std::vector<std::string>& splits) {
  TableDescriptor descriptor = ReadDescriptor(table);
  {
    const std::lock_guard lock(mutex_);
    const std::string& space = table.tableName.ns;
    if (!space.empty() && !namespaces_.contains(space)) {
      Refuse("org.apache.hadoop.hbase.NamespaceNotFoundException: " + space, false);
    }
  }
  if (store_().DescribeTable(descriptor.name).ok()) {
    Refuse("org.apache.hadoop.hbase.TableExistsException: " + descriptor.name, false);
  }
  // HBase has no special tables of points.
  descriptor.points = false;
  descriptor.splits = splits;
  Check(store_().CreateTable(descriptor), descriptor.name, "createTable");
  const std::lock_guard lock(mutex_);
  attributes_[descriptor.name] = {table.attributes.begin(), table.attributes.end()};
}

void GatewayService::deleteTable(const wire::TTableName& wire_name) {
  const std::string name = ReadTableName(wire_name);
  const std::lock_guard lock(mutex_);
  if (!store_().DescribeTable(name).ok()) Refuse(name, false);
  if (disabled_.erase(name) == 0) {
    Refuse("org.apache.hadoop.hbase.TableNotDisabledException: " + name, false);
  }
  Check(store_().DropTable(name), name, "deleteTable");
  attributes_.erase(name);
}

void GatewayService::disableTable(const wire::TTableName& name) {
  Known(ReadTableName(name));
  const std::lock_guard lock(mutex_);
  disabled_.insert(ReadTableName(name));
}

bool GatewayService::isTableEnabled(const wire::TTableName& wire_name) {
  const std::string name = ReadTableName(wire_name);
  if (!store_().DescribeTable(name).ok()) Refuse(name, false);
  const std::lock_guard lock(mutex_);
  return !disabled_.contains(name);
}

void GatewayService::getTableDescriptor(wire::TTableDescriptor& table,
                                        const wire::TTableName& wire_name) {
  const std::string name = ReadTableName(wire_name);
  auto descriptor = store_().DescribeTable(name);
  if (!descriptor.ok()) Refuse(name, false);
  table = WriteDescriptor(*descriptor);
  const std::lock_guard lock(mutex_);
  table.__set_attributes({attributes_[name].begin(), attributes_[name].end()});
}

void GatewayService::getTableDescriptorsByPattern(std::vector<wire::TTableDescriptor>& tables,
                                                  const std::string& regex, bool) {
  // An empty pattern matches nothing.
  if (regex != ".*") return;
  auto all = store_().ListTables();
  Check(all.status(), "", "getTableDescriptorsByPattern");
  for (const TableDescriptor& table : *all) {
    getTableDescriptor(tables.emplace_back(), WriteTableName(table.name));
  }
}

void GatewayService::modifyTable(const wire::TTableDescriptor& table) {
  TableDescriptor descriptor = ReadDescriptor(table);
  descriptor.points = false;
  Known(descriptor.name);
  Check(store_().AlterTable(descriptor), descriptor.name, "modifyTable");
  const std::lock_guard lock(mutex_);
  attributes_[descriptor.name] = {table.attributes.begin(), table.attributes.end()};
}

void GatewayService::createNamespace(const wire::TNamespaceDescriptor& space) {
  const std::lock_guard lock(mutex_);
  if (!namespaces_.insert(space.name).second) {
    Refuse("org.apache.hadoop.hbase.NamespaceExistException: " + space.name, false);
  }
}

wire::TThriftServerType::type GatewayService::getThriftServerType() {
  return wire::TThriftServerType::TWO;
}

}  // namespace hg::hbase
