#include "storage/hbase/wire_types.h"

#include <algorithm>
#include <array>
#include <limits>
#include <map>
#include <optional>
#include <string_view>
#include <utility>

#include "storage/lsm/table_attributes.h"

namespace hg::hbase {
namespace {

using Kind = CellChange::Kind;

// HBase has no notion of tables of points. Hourglass marks them with this attribute.
constexpr const char* kPointsAttribute = "HOURGLASS_POINTS";
constexpr const char* kNewVersionBehavior = "NEW_VERSION_BEHAVIOR";

constexpr std::array<std::pair<std::string_view, wire::TCompressionAlgorithm::type>, 7>
    kCompressions = {{{"LZO", wire::TCompressionAlgorithm::LZO},
                      {"GZ", wire::TCompressionAlgorithm::GZ},
                      {"NONE", wire::TCompressionAlgorithm::NONE},
                      {"SNAPPY", wire::TCompressionAlgorithm::SNAPPY},
                      {"LZ4", wire::TCompressionAlgorithm::LZ4},
                      {"BZIP2", wire::TCompressionAlgorithm::BZIP2},
                      {"ZSTD", wire::TCompressionAlgorithm::ZSTD}}};

constexpr std::array<std::pair<std::string_view, wire::TDataBlockEncoding::type>, 5> kEncodings = {
    {{"NONE", wire::TDataBlockEncoding::NONE},
     {"PREFIX", wire::TDataBlockEncoding::PREFIX},
     {"DIFF", wire::TDataBlockEncoding::DIFF},
     {"FAST_DIFF", wire::TDataBlockEncoding::FAST_DIFF},
     {"ROW_INDEX_V1", wire::TDataBlockEncoding::ROW_INDEX_V1}}};

template <typename Table>
auto ByName(const Table& table, std::string_view name) {
  const auto it =
      std::find_if(table.begin(), table.end(), [&](const auto& e) { return e.first == name; });
  return it == table.end() ? table[0].second : it->second;
}

template <typename Table, typename Value>
std::string NameOf(const Table& table, Value value) {
  for (const auto& [name, v] : table) {
    if (v == value) return std::string(name);
  }
  return "NONE";
}

wire::TColumnValue WriteCell(const CellChange& change) {
  wire::TColumnValue cell;
  cell.family = change.family;
  cell.qualifier = change.qualifier;
  cell.value = change.value;
  if (change.timestamp_ms) cell.__set_timestamp(*change.timestamp_ms);
  return cell;
}

wire::TPut StartPut(const Bytes& key, std::optional<int64_t> ttl_ms,
                    wire::TDurability::type durability) {
  wire::TPut put;
  put.row = key;
  if (ttl_ms) put.__set_attributes(TtlAttribute(*ttl_ms));
  put.__set_durability(durability);
  return put;
}

wire::TDeleteType::type DeleteTypeOf(Kind kind) {
  switch (kind) {
    case Kind::kDeleteFamily:
      return wire::TDeleteType::DELETE_FAMILY;
    case Kind::kDeleteVersion:
      return wire::TDeleteType::DELETE_COLUMN;
    case Kind::kDeleteFamilyVersion:
      return wire::TDeleteType::DELETE_FAMILY_VERSION;
    default:
      return wire::TDeleteType::DELETE_COLUMNS;
  }
}

wire::TColumn WriteDeleted(const CellChange& change) {
  wire::TColumn column;
  column.family = change.family;
  if (change.kind == Kind::kDeleteColumn || change.kind == Kind::kDeleteVersion) {
    column.__set_qualifier(change.qualifier);
  }
  if (change.timestamp_ms) column.__set_timestamp(*change.timestamp_ms);
  return column;
}

}  // namespace

Row ReadRow(wire::TResult result) {
  Row row;
  row.key = std::move(result.row);
  row.cells.reserve(result.columnValues.size());
  for (wire::TColumnValue& cell : result.columnValues) {
    row.cells.push_back(
        {std::move(cell.family), std::move(cell.qualifier), std::move(cell.value), cell.timestamp});
  }
  return row;
}

std::vector<wire::TColumn> ChosenColumns(const CellSelection& wanted) {
  std::vector<wire::TColumn> columns;
  if (wanted.family.empty()) return columns;
  wire::TColumn column;
  column.family = wanted.family;
  if (wanted.qualifiers.empty()) columns.push_back(column);
  for (const Bytes& qualifier : wanted.qualifiers) {
    column.__set_qualifier(qualifier);
    columns.push_back(column);
  }
  return columns;
}

bool AllTimes(const CellSelection& wanted) {
  return wanted.min_ms <= 0 && wanted.max_ms == std::numeric_limits<int64_t>::max();
}

bool ChosenTimes(const CellSelection& wanted, wire::TTimeRange* range) {
  range->minStamp = std::max<int64_t>(0, wanted.min_ms);
  range->maxStamp = wanted.max_ms;
  return range->minStamp < range->maxStamp;
}

wire::TDurability::type DurabilityOf(WriteAhead write_ahead) {
  switch (write_ahead) {
    case WriteAhead::kSkip:
      return wire::TDurability::SKIP_WAL;
    case WriteAhead::kAsync:
      return wire::TDurability::ASYNC_WAL;
    case WriteAhead::kSynced:
      return wire::TDurability::FSYNC_WAL;
    case WriteAhead::kDefault:
      break;
  }
  return wire::TDurability::USE_DEFAULT;
}

wire::TRowMutations WriteChanges(const Bytes& key, const std::vector<CellChange>& changes,
                                 wire::TDurability::type durability) {
  std::map<std::optional<int64_t>, wire::TPut> puts;
  std::map<Kind, wire::TDelete> deletes;
  for (const CellChange& change : changes) {
    if (change.kind == Kind::kPut) {
      const auto [put, fresh] = puts.try_emplace(change.ttl_ms);
      if (fresh) put->second = StartPut(key, change.ttl_ms, durability);
      put->second.columnValues.push_back(WriteCell(change));
      continue;
    }
    wire::TDelete& gone = deletes[change.kind];
    gone.row = key;
    gone.__set_deleteType(DeleteTypeOf(change.kind));
    gone.__set_durability(durability);
    gone.columns.push_back(WriteDeleted(change));
    gone.__isset.columns = true;
  }
  wire::TRowMutations row;
  row.row = key;
  for (auto& [kind, gone] : deletes) row.mutations.emplace_back().__set_deleteSingle(gone);
  for (auto& [ttl, put] : puts) row.mutations.emplace_back().__set_put(put);
  return row;
}

bool WritePut(const RowMutation& row, wire::TDurability::type durability, wire::TPut* put) {
  const auto first = row.changes.begin();
  const bool simple = first != row.changes.end() &&
                      std::all_of(first, row.changes.end(), [&](const CellChange& change) {
                        return change.kind == Kind::kPut && change.ttl_ms == first->ttl_ms;
                      });
  if (!simple) return false;
  *put = StartPut(row.key, first->ttl_ms, durability);
  put->columnValues.reserve(row.changes.size());
  for (const CellChange& change : row.changes) put->columnValues.push_back(WriteCell(change));
  return true;
}

std::map<std::string, std::string> TtlAttribute(int64_t ttl_ms) {
  Bytes bytes;
  AppendBig(&bytes, static_cast<uint64_t>(ttl_ms), 8);
  return {{kTtlAttribute, bytes}};
}

wire::TTableName WriteTableName(const std::string& name) {
  wire::TTableName table;
  const size_t colon = name.find(':');
  if (colon != std::string::npos) table.__set_ns(name.substr(0, colon));
  table.qualifier = colon == std::string::npos ? name : name.substr(colon + 1);
  return table;
}

std::string ReadTableName(const wire::TTableName& name) {
  return name.ns.empty() || name.ns == "default" ? name.qualifier : name.ns + ":" + name.qualifier;
}

wire::TTableDescriptor WriteDescriptor(const TableDescriptor& table) {
  wire::TTableDescriptor out;
  out.tableName = WriteTableName(table.name);
  for (const FamilyDescriptor& family : table.families) {
    wire::TColumnFamilyDescriptor column;
    column.name = family.name;
    column.__set_blockSize(static_cast<int32_t>(family.block_size));
    column.__set_bloomFilterType(family.bloom_filter == BloomFilter::kRow
                                     ? wire::TBloomFilterType::ROW
                                     : wire::TBloomFilterType::NONE);
    column.__set_compressionType(ByName(kCompressions, family.compression));
    column.__set_dataBlockEncoding(ByName(kEncodings, family.data_block_encoding));
    column.__set_keepDeletedCells(family.keep_deleted_cells ? wire::TKeepDeletedCells::TRUE
                                                            : wire::TKeepDeletedCells::FALSE);
    column.__set_maxVersions(family.versions);
    column.__set_minVersions(family.min_versions);
    column.__set_timeToLive(static_cast<int32_t>(family.ttl_s));
    column.__set_blockCacheEnabled(family.block_cache);
    column.__set_inMemory(family.in_memory);
    if (family.new_version_behavior) column.__set_attributes({{kNewVersionBehavior, "true"}});
    out.columns.push_back(std::move(column));
  }
  out.__isset.columns = true;
  if (table.points) out.attributes[kPointsAttribute] = "true";
  for (auto& [name, value] : lsm::DescribeSplitPolicy(table.split_policy)) {
    out.attributes[name] = std::move(value);
  }
  out.__isset.attributes = !out.attributes.empty();
  return out;
}

FamilyDescriptor ReadFamily(const wire::TColumnFamilyDescriptor& column) {
  FamilyDescriptor family;
  family.name = column.name;
  family.compression = "NONE";
  const auto& set = column.__isset;
  if (set.blockSize) family.block_size = static_cast<uint32_t>(column.blockSize);
  if (set.bloomFilterType && column.bloomFilterType == wire::TBloomFilterType::NONE) {
    family.bloom_filter = BloomFilter::kNone;
  }
  if (set.compressionType) family.compression = NameOf(kCompressions, column.compressionType);
  if (set.dataBlockEncoding) {
    family.data_block_encoding = NameOf(kEncodings, column.dataBlockEncoding);
  }
  family.keep_deleted_cells =
      set.keepDeletedCells && column.keepDeletedCells != wire::TKeepDeletedCells::FALSE;
  if (set.maxVersions) family.versions = column.maxVersions;
  if (set.minVersions) family.min_versions = column.minVersions;
  if (set.timeToLive) family.ttl_s = column.timeToLive;
  if (set.blockCacheEnabled) family.block_cache = column.blockCacheEnabled;
  if (set.inMemory) family.in_memory = column.inMemory;
  const auto ordered = column.attributes.find(kNewVersionBehavior);
  family.new_version_behavior = ordered != column.attributes.end() && ordered->second == "true";
  return family;
}

Result<TableSplitPolicy> ReadSplitPolicy(const wire::TTableDescriptor& table) {
  TableDescriptor read;
  RETURN_IF_ERROR(
      lsm::SetSplitPolicy({table.attributes.begin(), table.attributes.end()}, &read.split_policy));
  RETURN_IF_ERROR(lsm::CheckSplitPolicy(read));
  return read.split_policy;
}

void EraseSplitPolicy(std::map<std::string, std::string>* attributes) {
  for (const auto name : {lsm::kSplitPolicy, lsm::kSplitPrefixLength, lsm::kSplitDelimiter}) {
    attributes->erase(std::string(name));
  }
}

TableDescriptor ReadDescriptor(const wire::TTableDescriptor& table) {
  TableDescriptor out;
  out.name = ReadTableName(table.tableName);
  const auto points = table.attributes.find(kPointsAttribute);
  out.points = points != table.attributes.end() && points->second == "true";
  if (auto policy = ReadSplitPolicy(table); policy.ok()) out.split_policy = std::move(*policy);
  for (const wire::TColumnFamilyDescriptor& column : table.columns) {
    out.families.push_back(ReadFamily(column));
  }
  return out;
}

}  // namespace hg::hbase
