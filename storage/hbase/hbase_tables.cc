// Operations on tables of HBase: create, alter, drop and describe.

#include <algorithm>
#include <utility>

#include "storage/hbase/client.h"
#include "storage/hbase/hbase_store.h"
#include "storage/hbase/wire_types.h"
#include "storage/lsm/table_attributes.h"

namespace hg::hbase {
namespace {

using Service = wire::THBaseServiceClient;

// Returns the first keys of the regions of a new table: salt buckets and the splits of the
// descriptor.
std::vector<Bytes> SplitKeys(const TableDescriptor& table, const KeyLayout& layout) {
  std::vector<Bytes> keys = table.splits;
  if (table.points && layout.salt_width > 0) {
    for (int bucket = 1; bucket < layout.salt_buckets; ++bucket) {
      AppendBig(&keys.emplace_back(), static_cast<uint64_t>(bucket), layout.salt_width);
    }
  }
  std::sort(keys.begin(), keys.end());
  keys.erase(std::unique(keys.begin(), keys.end()), keys.end());
  return keys;
}

Status CompareTables(const TableDescriptor& there, const TableDescriptor& wanted) {
  if (lsm::SameDescriptor(there, wanted)) return {};
  return Status::Conflict("table " + wanted.name + " exists with other attributes");
}

Status CreateNamespace(Client& client, const std::string& table) {
  const size_t colon = table.find(':');
  if (colon == std::string::npos) return {};
  wire::TNamespaceDescriptor space;
  space.name = table.substr(0, colon);
  const Status made = client.Send({"createNamespace", table},
                                  [&](Service& service) { service.createNamespace(space); });
  return made.code() == StatusCode::kConflict ? Status() : made;
}

Result<wire::TTableDescriptor> ReadTable(Client& client, const std::string& name) {
  wire::TTableDescriptor table;
  RETURN_IF_ERROR(client.Send({"getTableDescriptor", name}, [&](Service& service) {
    table = {};
    service.getTableDescriptor(table, WriteTableName(name));
  }));
  return table;
}

// Disables the table if it is enabled.
Status Disable(Client& client, const std::string& name, CallTrace* trace) {
  const wire::TTableName there = WriteTableName(name);
  bool enabled = false;
  RETURN_IF_ERROR(client.Send({"isTableEnabled", name},
                              [&](Service& service) { enabled = service.isTableEnabled(there); }));
  if (!enabled) return {};
  const Status disabled = client.Send(
      {"disableTable", name}, [&](Service& service) { service.disableTable(there); }, trace);
  // If an earlier attempt may have disabled the table, the caller tries to continue anyway.
  return trace->repeated_blindly ? Status() : disabled;
}

}  // namespace

Status HbaseStore::CreateTable(const TableDescriptor& wanted) {
  RETURN_IF_ERROR(lsm::CheckDescriptor(wanted));
  TableDescriptor table = wanted;
  ASSIGN_OR_RETURN(table.name, lsm::TableName(wanted.name));
  const auto there = DescribeTable(table.name);
  if (there.ok()) return CompareTables(*there, table);
  if (there.status().code() != StatusCode::kNotFound) return there.status();
  const std::vector<Bytes> splits = SplitKeys(table, client_->options.layout);
  // A framed gateway reads the whole frame as the split key (hbase-backend.md §6.3).
  if (!splits.empty() && client_->options.transport == Transport::kFramed) {
    return Status::Unsupported("table " + table.name +
                               " needs several regions at once, which a framed gateway cannot "
                               "create");
  }
  RETURN_IF_ERROR(CreateNamespace(*client_, table.name));
  const wire::TTableDescriptor described = WriteDescriptor(table);
  const Status made = client_->Send({"createTable", table.name}, [&](Service& service) {
    service.createTable(described, splits);
  });
  if (made.code() != StatusCode::kConflict) return made;
  // If the table exists now, another client, or an earlier attempt of this call, created it.
  ASSIGN_OR_RETURN(const TableDescriptor now, DescribeTable(table.name));
  return CompareTables(now, table);
}

Status HbaseStore::AlterTable(const TableDescriptor& wanted, const TableDescriptor* expected) {
  RETURN_IF_ERROR(lsm::CheckDescriptor(wanted));
  ASSIGN_OR_RETURN(const std::string name, lsm::TableName(wanted.name));
  ASSIGN_OR_RETURN(wire::TTableDescriptor before, ReadTable(*client_, name));
  if (expected != nullptr && ReadDescriptor(before).families != expected->families)
    return Status::Conflict("table '" + name + "' was altered at the same time");
  // A split policy that Hourglass does not know is read as the default one. It stays in the table
  // if the default policy is wanted.
  if (ReadDescriptor(before).split_policy != wanted.split_policy) {
    EraseSplitPolicy(&before.attributes);
  }
  TableDescriptor table = wanted;
  table.name = name;
  wire::TTableDescriptor after = WriteDescriptor(table);
  // Attributes that are not part of TableDescriptor stay unchanged.
  for (const auto& [key, value] : before.attributes) after.attributes.emplace(key, value);
  after.__isset.attributes = !after.attributes.empty();
  for (wire::TColumnFamilyDescriptor& family : after.columns) {
    for (const wire::TColumnFamilyDescriptor& known : before.columns) {
      if (known.name != family.name) continue;
      for (const auto& [key, value] : known.attributes) family.attributes.emplace(key, value);
      family.__isset.attributes = !family.attributes.empty();
    }
  }
  return client_->Send({"modifyTable", name},
                       [&](Service& service) { service.modifyTable(after); });
}

Status HbaseStore::DropTable(const std::string& table) {
  ASSIGN_OR_RETURN(const std::string name, lsm::TableName(table));
  const wire::TTableName there = WriteTableName(name);
  CallTrace trace;
  RETURN_IF_ERROR(Disable(*client_, name, &trace));
  const Status dropped = client_->Send(
      {"deleteTable", name}, [&](Service& service) { service.deleteTable(there); }, &trace);
  const bool before = trace.repeated_blindly && dropped.code() == StatusCode::kNotFound;
  return before ? Status() : dropped;
}

Status HbaseStore::TruncateTable(const std::string& table) {
  ASSIGN_OR_RETURN(const std::string name, lsm::TableName(table));
  CallTrace disabled, trace;
  RETURN_IF_ERROR(Disable(*client_, name, &disabled));
  const Status done = client_->Send(
      {"truncateTable", name},
      [&](Service& service) { service.truncateTable(WriteTableName(name), true); }, &trace);
  // HBase enables the table again. If an earlier attempt of this call emptied the table, the
  // repeated call fails because the table is enabled.
  const bool before = trace.repeated_blindly &&
                      done.message().find("TableNotDisabledException") != std::string_view::npos;
  return before ? Status()
                : Prepend(done, "table '" + name + "' was disabled but may not be empty");
}

Result<TableDescriptor> HbaseStore::DescribeTable(const std::string& table) {
  ASSIGN_OR_RETURN(const std::string name, lsm::TableName(table));
  ASSIGN_OR_RETURN(const wire::TTableDescriptor found, ReadTable(*client_, name));
  return ReadDescriptor(found);
}

Result<std::vector<TableDescriptor>> HbaseStore::ListTables() {
  std::vector<wire::TTableDescriptor> found;
  RETURN_IF_ERROR(client_->Send({"getTableDescriptorsByPattern", ""}, [&](Service& service) {
    found.clear();
    service.getTableDescriptorsByPattern(found, ".*", false);
  }));
  std::vector<TableDescriptor> tables;
  for (const wire::TTableDescriptor& table : found) tables.push_back(ReadDescriptor(table));
  return tables;
}

Result<std::vector<RegionInfo>> HbaseStore::Regions(const std::string& table,
                                                    RequestContext* /*context*/) {
  std::vector<wire::THRegionLocation> found;
  RETURN_IF_ERROR(client_->Send({"getAllRegionLocations", table}, [&](Service& service) {
    found.clear();
    service.getAllRegionLocations(found, table);
  }));
  if (found.empty()) return Status::NotFound("no such table: " + table);
  std::vector<RegionInfo> regions;
  for (wire::THRegionLocation& location : found) {
    RegionInfo& region = regions.emplace_back();
    region.start = std::move(location.regionInfo.startKey);
    region.stop = std::move(location.regionInfo.endKey);
  }
  std::sort(regions.begin(), regions.end(),
            [](const RegionInfo& a, const RegionInfo& b) { return a.start < b.start; });
  return regions;
}

}  // namespace hg::hbase
