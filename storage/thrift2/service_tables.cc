// The methods for tables, regions and namespaces.

#include <algorithm>
#include <iterator>
#include <utility>

#include "storage/changed_rows.h"
#include "storage/hbase/wire_types.h"
#include "storage/table_name.h"
#include "storage/thrift2/service.h"

namespace hg::thrift2 {
namespace {

using hbase::ReadTableName;

// Limits for namespaces and table attributes, which are kept in memory only.
constexpr size_t kNamespacesMax = 1000;
constexpr size_t kNamespaceBytesMax = 255;
constexpr size_t kAttributesBytesMax = 64 << 10;  // maximum for the attributes of one table

std::string Named(const char* exception, const std::string& name) {
  return "org.apache.hadoop.hbase." + std::string(exception) + ": " + name;
}

// In HBase's responses, every table name has a namespace.
wire::TTableName FullName(const std::string& table) {
  wire::TTableName name = hbase::WriteTableName(table);
  if (!name.__isset.ns) name.__set_ns("default");
  return name;
}

std::string NamespaceOf(const std::string& table) {
  const size_t colon = table.find(':');
  return colon == std::string::npos ? "default" : table.substr(0, colon);
}

// An empty pattern matches nothing.
bool IsNamedBy(const std::string& pattern, const std::string& table, RequestContext* context) {
  if (pattern.empty()) return false;
  const auto matches = MatchesWhole(pattern, table, context);
  if (!matches.ok()) RefuseArgument("getTableNamesByPattern");
  return *matches;
}

void CheckAttributes(const wire::TTableDescriptor& table) {
  size_t bytes = 0;
  for (const auto& [key, value] : table.attributes) bytes += key.size() + value.size();
  if (bytes > kAttributesBytesMax) Refuse("the attributes of the table are too long", false);
  const Status policy = hbase::ReadSplitPolicy(table).status();
  if (!policy.ok()) Refuse(Named("DoNotRetryIOException", std::string(policy.message())), false);
}

auto FindFamily(const std::string& name, TableDescriptor* table) {
  return std::find_if(table->families.begin(), table->families.end(),
                      [&](const FamilyDescriptor& family) { return family.name == name; });
}

auto ExistingFamily(const std::string& name, TableDescriptor* table) {
  const auto family = FindFamily(name, table);
  if (family == table->families.end()) {
    Refuse(Named("InvalidFamilyOperationException", "family '" + name + "' does not exist"), false);
  }
  return family;
}

// Returns the attributes that the store does not keep.
std::map<std::string, std::string> OtherAttributes(const wire::TTableDescriptor& table) {
  std::map<std::string, std::string> others = table.attributes;
  hbase::EraseSplitPolicy(&others);
  return others;
}

}  // namespace

bool Master::IsDisabled(const std::string& table) const {
  const MutexLock lock(mutex_);
  return disabled_.contains(std::string(WithoutDefaultNamespace(table)));
}

void Master::SetDisabled(const std::string& table, bool disabled) {
  const MutexLock lock(mutex_);
  if (disabled) {
    disabled_.insert(table);
  } else {
    disabled_.erase(table);
  }
}

Master::Attributes Master::AttributesOf(const std::string& table) const {
  const MutexLock lock(mutex_);
  const auto it = attributes_.find(table);
  return it == attributes_.end() ? Attributes() : it->second;
}

void Master::SetAttributes(const std::string& table, Attributes attributes) {
  const MutexLock lock(mutex_);
  attributes_[table] = std::move(attributes);
}

void Master::Forget(const std::string& table) {
  const MutexLock lock(mutex_);
  disabled_.erase(table);
  attributes_.erase(table);
}

std::set<std::string> Master::Namespaces() const {
  const MutexLock lock(mutex_);
  return namespaces_;
}

void Master::AddNamespace(const std::string& name) {
  const MutexLock lock(mutex_);
  namespaces_.insert(name);
}

void Master::RemoveNamespace(const std::string& name) {
  const MutexLock lock(mutex_);
  namespaces_.erase(name);
}

std::vector<TableDescriptor> Service::AllTables() {
  auto all = state_.store().ListTables();
  Check(all.status(), "", "listTables");
  return std::move(*all);
}

std::vector<std::string> Service::AllNamespaces() {
  std::set<std::string> names = state_.master.Namespaces();
  for (const TableDescriptor& table : AllTables()) names.insert(NamespaceOf(table.name));
  return {names.begin(), names.end()};
}

void Service::ChargeListed(size_t bytes) {
  constexpr size_t kStepsPerEntry = 64, kBytesPerStep = 64;
  Check(context_.Step(kStepsPerEntry + bytes / kBytesPerStep), "", "");
  Check(reply_->Add(static_cast<int64_t>(bytes)), "", "");
  CheckResponse(reply_->held(), state_.options.response_bytes_max, "name fewer tables");
}

wire::TTableDescriptor Service::Shown(const TableDescriptor& table) {
  size_t bytes = sizeof(wire::TTableDescriptor) + table.name.size();
  for (const FamilyDescriptor& family : table.families) {
    bytes += sizeof(wire::TColumnFamilyDescriptor) + family.name.size();
  }
  for (const auto& [key, value] : state_.master.AttributesOf(table.name)) {
    bytes += sizeof key + sizeof value + key.size() + value.size();
  }
  ChargeListed(bytes);
  wire::TTableDescriptor shown = hbase::WriteDescriptor(table);
  shown.tableName = FullName(table.name);
  for (auto& [key, value] : state_.master.AttributesOf(table.name)) {
    shown.attributes.emplace(key, value);
  }
  shown.__isset.attributes = !shown.attributes.empty();
  return shown;
}

std::vector<Bytes> Service::RegionStarts(const std::string& table, const std::string& method) {
  auto starts = state_.store().RegionStarts(table);
  if (starts.status().code() == StatusCode::kNotFound) return {};
  Check(starts.status(), table, method);
  return std::move(*starts);
}

wire::THRegionLocation Service::LocationOf(const std::string& table,
                                           const std::vector<Bytes>& starts, size_t region) {
  const Bytes stop = region + 1 < starts.size() ? starts[region + 1] : Bytes();
  ChargeListed(sizeof(wire::THRegionLocation) + table.size() + starts[region].size() + stop.size());
  wire::THRegionLocation location;
  location.serverName.hostName = state_.options.bind;
  location.serverName.__set_port(state_.port);
  location.regionInfo.regionId = static_cast<int64_t>(region + 1);
  location.regionInfo.tableName = table;
  location.regionInfo.__set_startKey(starts[region]);
  location.regionInfo.__set_endKey(stop);
  return location;
}

void Service::getAllRegionLocations(std::vector<wire::THRegionLocation>& locations,
                                    const std::string& table) {
  const std::vector<Bytes> starts = RegionStarts(table, "getAllRegionLocations");
  for (size_t region = 0; region < starts.size(); ++region) {
    locations.push_back(LocationOf(table, starts, region));
  }
}

void Service::getRegionLocation(wire::THRegionLocation& location, const std::string& table,
                                const std::string& row, bool) {
  const std::vector<Bytes> starts = RegionStarts(table, "getRegionLocation");
  const auto after = std::upper_bound(starts.begin(), starts.end(), row);
  if (after == starts.begin()) Refuse(table, false);
  location = LocationOf(table, starts, static_cast<size_t>(after - starts.begin()) - 1);
}

void Service::createTable(const wire::TTableDescriptor& table,
                          const std::vector<std::string>& splits) {
  TableDescriptor descriptor = hbase::ReadDescriptor(table);
  const std::vector<std::string> spaces = AllNamespaces();
  const std::string space = NamespaceOf(descriptor.name);
  if (std::find(spaces.begin(), spaces.end(), space) == spaces.end()) {
    Refuse(Named("NamespaceNotFoundException", space), false);
  }
  CheckAttributes(table);
  if (state_.store().DescribeTable(descriptor.name).ok()) {
    Refuse(Named("TableExistsException", descriptor.name), false);
  }
  // Clients cannot create points tables, because these have other rules than HBase's tables.
  descriptor.points = false;
  descriptor.splits = splits;
  Check(state_.store().CreateTable(descriptor), descriptor.name, "createTable");
  state_.master.SetAttributes(descriptor.name, OtherAttributes(table));
}

void Service::deleteTable(const wire::TTableName& wire_name) {
  const std::string name = ReadTableName(wire_name);
  Described(name);
  if (!state_.master.IsDisabled(name)) Refuse(Named("TableNotDisabledException", name), false);
  Check(Drop(name), name, "deleteTable");
  state_.master.Forget(name);
}

// Drops the table and creates it again. A call of another client between the two steps gets the
// error that the table does not exist.
void Service::truncateTable(const wire::TTableName& wire_name, bool keep_splits) {
  const std::string name = ReadTableName(wire_name);
  TableDescriptor descriptor = Described(name);
  if (!state_.master.IsDisabled(name)) Refuse(Named("TableNotDisabledException", name), false);
  if (keep_splits) {
    for (Bytes& start : RegionStarts(name, "truncateTable")) {
      // A region that was split at a longer key is joined with the region before it.
      if (!start.empty() && start.size() <= kSplitKeyBytesMax)
        descriptor.splits.push_back(std::move(start));
    }
  }
  Check(Drop(name), name, "truncateTable");
  Check(state_.store().CreateTable(descriptor), name, "truncateTable");
  state_.master.SetDisabled(name, false);
}

void Service::enableTable(const wire::TTableName& wire_name) {
  const std::string name = ReadTableName(wire_name);
  Described(name);
  if (!state_.master.IsDisabled(name)) Refuse(Named("TableNotDisabledException", name), false);
  state_.master.SetDisabled(name, false);
}

void Service::disableTable(const wire::TTableName& wire_name) {
  const std::string name = ReadTableName(wire_name);
  Described(name);
  if (state_.master.IsDisabled(name)) Refuse(Named("TableNotEnabledException", name), false);
  state_.master.SetDisabled(name, true);
}

bool Service::tableExists(const wire::TTableName& name) {
  return state_.store().DescribeTable(ReadTableName(name)).ok();
}

bool Service::isTableEnabled(const wire::TTableName& name) { return !isTableDisabled(name); }

bool Service::isTableDisabled(const wire::TTableName& wire_name) {
  const std::string name = ReadTableName(wire_name);
  Described(name);
  return state_.master.IsDisabled(name);
}

bool Service::isTableAvailable(const wire::TTableName& name) { return tableExists(name); }

void Service::getTableDescriptor(wire::TTableDescriptor& table, const wire::TTableName& name) {
  table = Shown(Described(ReadTableName(name)));
}

void Service::getTableDescriptors(std::vector<wire::TTableDescriptor>& tables,
                                  const std::vector<wire::TTableName>& names) {
  for (const wire::TTableName& name : names) {
    const auto descriptor = state_.store().DescribeTable(ReadTableName(name));
    if (descriptor.ok()) tables.push_back(Shown(*descriptor));
  }
}

void Service::getTableDescriptorsByPattern(std::vector<wire::TTableDescriptor>& tables,
                                           const std::string& regex, bool) {
  for (const TableDescriptor& table : AllTables()) {
    if (IsNamedBy(regex, table.name, &context_)) tables.push_back(Shown(table));
  }
}

void Service::getTableDescriptorsByNamespace(std::vector<wire::TTableDescriptor>& tables,
                                             const std::string& space) {
  for (const TableDescriptor& table : AllTables()) {
    if (NamespaceOf(table.name) == space) tables.push_back(Shown(table));
  }
}

void Service::getTableNamesByPattern(std::vector<wire::TTableName>& names, const std::string& regex,
                                     bool) {
  for (const TableDescriptor& table : AllTables()) {
    if (!IsNamedBy(regex, table.name, &context_)) continue;
    ChargeListed(sizeof(wire::TTableName) + table.name.size());
    names.push_back(FullName(table.name));
  }
}

void Service::getTableNamesByNamespace(std::vector<wire::TTableName>& names,
                                       const std::string& space) {
  for (const TableDescriptor& table : AllTables()) {
    if (NamespaceOf(table.name) != space) continue;
    ChargeListed(sizeof(wire::TTableName) + table.name.size());
    names.push_back(FullName(table.name));
  }
}

Status Service::Drop(const std::string& table) {
  return Changing(state_.options.changed, table, {RowMutation()},
                  [&] { return state_.store().DropTable(table); });
}

void Service::AlterFamilies(const std::string& name, const ChangeFamilies& change) {
  for (;;) {
    const TableDescriptor before = Described(name);
    TableDescriptor table = before;
    change(&table);
    const Status altered = Changing(state_.options.changed, name, {RowMutation()},
                                    [&] { return state_.store().AlterTable(table, &before); });
    if (altered.code() != StatusCode::kConflict) return Check(altered, name, "modifyTable");
    // Another client has altered the table first.
    Check(context_.Check(), name, "modifyTable");
  }
}

void Service::addColumnFamily(const wire::TTableName& name,
                              const wire::TColumnFamilyDescriptor& column) {
  AlterFamilies(ReadTableName(name), [&](TableDescriptor* table) {
    if (FindFamily(column.name, table) != table->families.end()) {
      Refuse(Named("InvalidFamilyOperationException", "family '" + column.name + "' exists"),
             false);
    }
    table->families.push_back(hbase::ReadFamily(column));
  });
}

void Service::deleteColumnFamily(const wire::TTableName& name, const std::string& column) {
  AlterFamilies(ReadTableName(name), [&](TableDescriptor* table) {
    table->families.erase(ExistingFamily(column, table));
  });
}

void Service::modifyColumnFamily(const wire::TTableName& name,
                                 const wire::TColumnFamilyDescriptor& column) {
  AlterFamilies(ReadTableName(name), [&](TableDescriptor* table) {
    *ExistingFamily(column.name, table) = hbase::ReadFamily(column);
  });
}

void Service::modifyTable(const wire::TTableDescriptor& wanted) {
  const TableDescriptor table = hbase::ReadDescriptor(wanted);
  CheckAttributes(wanted);
  AlterFamilies(table.name, [&](TableDescriptor* now) {
    now->families = table.families;
    now->split_policy = table.split_policy;
  });
  state_.master.SetAttributes(table.name, OtherAttributes(wanted));
}

void Service::createNamespace(const wire::TNamespaceDescriptor& space) {
  if (space.name.empty() || space.name.size() > kNamespaceBytesMax) {
    RefuseArgument("createNamespace");
  }
  const std::vector<std::string> all = AllNamespaces();
  if (std::find(all.begin(), all.end(), space.name) != all.end()) {
    Refuse(Named("NamespaceExistException", space.name), false);
  }
  if (all.size() >= kNamespacesMax) Refuse("there are too many namespaces", false);
  state_.master.AddNamespace(space.name);
}

void Service::modifyNamespace(const wire::TNamespaceDescriptor&) {
  Refuse("namespaces have no configuration here", false);
}

void Service::deleteNamespace(const std::string& name) {
  wire::TNamespaceDescriptor known;
  getNamespaceDescriptor(known, name);
  const std::vector<TableDescriptor> tables = AllTables();
  const bool used = std::any_of(tables.begin(), tables.end(), [&](const TableDescriptor& table) {
    return NamespaceOf(table.name) == name;
  });
  if (used || name == "default" || name == "hbase") {
    Refuse(Named("constraint.ConstraintException", "the namespace " + name + " is in use"), false);
  }
  state_.master.RemoveNamespace(name);
}

void Service::getNamespaceDescriptor(wire::TNamespaceDescriptor& space, const std::string& name) {
  const std::vector<std::string> all = AllNamespaces();
  if (std::find(all.begin(), all.end(), name) == all.end()) {
    Refuse(Named("NamespaceNotFoundException", name), false);
  }
  space.name = name;
}

void Service::listNamespaceDescriptors(std::vector<wire::TNamespaceDescriptor>& spaces) {
  for (std::string& name : AllNamespaces()) spaces.emplace_back().name = std::move(name);
}

void Service::listNamespaces(std::vector<std::string>& names) { names = AllNamespaces(); }

wire::TThriftServerType::type Service::getThriftServerType() {
  return wire::TThriftServerType::TWO;
}

void Service::getClusterId(std::string& id) { id = "hourglass"; }

void Service::getSlowLogResponses() { Refuse("slow logs are not supported", false); }
void Service::clearSlowLogResponses() { Refuse("slow logs are not supported", false); }
void Service::grant() { Refuse("permissions are not supported", false); }
void Service::revoke() { Refuse("permissions are not supported", false); }

}  // namespace hg::thrift2
