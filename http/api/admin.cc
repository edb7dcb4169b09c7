#include "http/api/admin.h"

#include <algorithm>
#include <boost/asio/ip/address.hpp>
#include <charconv>
#include <cmath>
#include <optional>
#include <vector>

#include "http/access/cross_site.h"
#include "http/access/header_names.h"
#include "http/api/handlers.h"
#include "http/request/errors.h"
#include "http/request/replies.h"
#include "http/request/services.h"
#include "http/wire/json_writer.h"
#include "http/wire/maintenance_json.h"
#include "http/wire/table_text.h"
#include "query/request/running_request.h"
#include "storage/for_each_region.h"
#include "storage/lsm/table_attributes.h"
#include "storage/maintenance.h"
#include "storage/region/pre_split.h"

namespace hg::http {
namespace {

Result<std::string> Required(const Parameters& parameters, const char* name) {
  const std::string* value = parameters.Find(name);
  if (value != nullptr && !value->empty()) return *value;
  return Status::InvalidArgument(std::string("Missing parameter ") + name);
}

Result<std::optional<Bytes>> OptionalKey(const Parameters& parameters, const char* name) {
  const std::string* text = parameters.Find(name);
  if (text == nullptr) return std::optional<Bytes>();
  ASSIGN_OR_RETURN(Bytes key, region::ParseKey(*text));
  return std::optional<Bytes>(std::move(key));
}

std::vector<std::string> Words(const std::string& text) {
  std::vector<std::string> words;
  for (size_t begin = 0; begin <= text.size();) {
    const size_t end = std::min(text.find(',', begin), text.size());
    words.push_back(text.substr(begin, end - begin));
    begin = end + 1;
  }
  return words;
}

Result<uint32_t> CountOf(const std::string& text, const char* name) {
  uint32_t count = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), count);
  if (error == std::errc() && end == text.data() + text.size() && count >= 1 &&
      count <= kSplitsMax) {
    return count;
  }
  return Status::InvalidArgument(std::string(name) + " = \"" + text + "\" is no number from 1 to " +
                                 std::to_string(kSplitsMax));
}

/// A region is reported to have most writes of its table only if the table had at least this many
/// writes since the start.
constexpr uint64_t kWritesCompared = 1000;

// The response to calls that have no other result.
constexpr std::string_view kDone = R"({"done":true})";

Result<std::string> ListTables(Store& store) {
  ASSIGN_OR_RETURN(const auto tables, store.ListTables());
  std::string text;
  JsonWriter json(&text);
  json.BeginArray();
  for (const TableDescriptor& table : tables) {
    ASSIGN_OR_RETURN(const auto regions, store.RegionStarts(table.name));
    json.Text("\n");
    json.BeginObject();
    json.Member("table", table.name);
    json.Key("families");
    json.BeginArray();
    for (const FamilyDescriptor& family : table.families) json.String(family.name);
    json.EndArray();
    json.Member("points", table.points);
    json.Member("regions", static_cast<int64_t>(regions.size()));
    json.EndObject();
  }
  json.EndArray();
  return text;
}

void WriteSizes(const RegionInfo& sizes, JsonWriter* json) {
  json->Member("files", static_cast<int64_t>(sizes.file_count));
  json->Member("file_bytes", static_cast<int64_t>(sizes.file_bytes));
  json->Member("memory_bytes", static_cast<int64_t>(sizes.memory_bytes));
  json->Member("references", static_cast<int64_t>(sizes.references));
}

// A region, and the result of a count of its rows.
struct CountedRegion {
  RegionInfo info;
  std::optional<TableCount> count;  // none: the rows were not counted

  // Returns the size by which regions are compared. In HBase, the size is known only if the rows
  // were counted.
  [[nodiscard]] uint64_t Load() const {
    return count ? count->value_bytes : info.file_bytes + info.memory_bytes;
  }
};

Result<std::vector<CountedRegion>> CountRegions(Store& store, const std::string& table, bool rows,
                                                RequestContext& watch, const RowsRead& rows_read) {
  std::vector<CountedRegion> all;
  if (!rows) {
    ASSIGN_OR_RETURN(auto regions, store.Regions(table, &watch));
    for (RegionInfo& region : regions) all.push_back({std::move(region), {}});
    return all;
  }
  using List = std::vector<CountedRegion>;
  const auto count = [&](const RegionInfo& region) -> Result<List> {
    ASSIGN_OR_RETURN(const TableCount found, CountRegion(store, table, region, watch, rows_read));
    return List{{region, found}};
  };
  return ForEachRegion<List>(store, table, &watch, {}, count,
                             [](List* list, List one) { list->push_back(std::move(one[0])); });
}

// The sums over the regions of a table.
struct TableLoad {
  size_t regions = 0;
  uint64_t bytes = 0;
  uint64_t writes = 0;
};

// Writes the share of a region in `total`. Returns true if the share is so large that the region is
// reported: above three quarters for one of two regions, and above about half for one of many
// regions.
bool WriteShare(const char* name, uint64_t part, uint64_t total, size_t regions, JsonWriter* json) {
  if (total == 0) return false;
  const double share = static_cast<double>(part) / static_cast<double>(total);
  json->Member(name, std::round(share * 1000) / 1000);
  return regions >= 2 && share > 0.5 + 0.5 / static_cast<double>(regions);
}

// Writes the shares of the region in the bytes and the writes of its table, and a warning if it has
// most of them.
void WriteShares(const CountedRegion& region, const TableLoad& table, JsonWriter* json) {
  const bool bytes = WriteShare("share", region.Load(), table.bytes, table.regions, json);
  const bool writes =
      WriteShare("write_share", region.info.writes, table.writes, table.regions, json) &&
      table.writes >= kWritesCompared;
  if (!bytes && !writes) return;
  json->Member("warning", bytes && writes
                              ? "this region has most bytes and most writes of the table"
                          : bytes ? "this region has most bytes of the table"
                                  : "this region has most writes of the table");
}

// Returns the regions as JSON. If `total` is set, the result has one element per table, with the
// sums of its regions.
Result<std::string> ListRegions(Store& store, const Parameters& parameters, bool total,
                                RequestContext& watch, const RowsRead& rows_read) {
  ASSIGN_OR_RETURN(auto tables, store.ListTables());
  if (const std::string* one = parameters.Find("table")) {
    RETURN_IF_ERROR(store.RegionStarts(*one).status());
    std::erase_if(tables, [&](const TableDescriptor& table) { return table.name != *one; });
  }
  std::string text;
  JsonWriter json(&text);
  json.BeginArray();
  const bool rows = !total && parameters.Find("rows") != nullptr;
  for (const TableDescriptor& table : tables) {
    ASSIGN_OR_RETURN(const auto regions, CountRegions(store, table.name, rows, watch, rows_read));
    TableLoad load{regions.size()};
    for (const CountedRegion& region : regions) {
      load.bytes += region.Load();
      load.writes += region.info.writes;
    }
    RegionInfo sum;
    for (const CountedRegion& counted : regions) {
      const RegionInfo& region = counted.info;
      sum.file_count += region.file_count;
      sum.file_bytes += region.file_bytes;
      sum.memory_bytes += region.memory_bytes;
      sum.references += region.references;
      if (total) continue;
      json.Text("\n");
      json.BeginObject();
      json.Member("table", table.name);
      json.Member("start", region::KeyText(region.start));
      json.Member("stop", region::KeyText(region.stop));
      WriteSizes(region, &json);
      if (store.Capabilities().region_admin) {
        json.Member("writes", static_cast<int64_t>(region.writes));
        json.Member("reads", static_cast<int64_t>(region.reads));
      }
      if (counted.count) {
        json.Member("rows", static_cast<int64_t>(counted.count->rows));
        json.Member("value_bytes", static_cast<int64_t>(counted.count->value_bytes));
      }
      WriteShares(counted, load, &json);
      json.EndObject();
    }
    if (!total) continue;
    json.Text("\n");
    json.BeginObject();
    json.Member("table", table.name);
    json.Member("regions", static_cast<int64_t>(regions.size()));
    WriteSizes(sum, &json);
    json.EndObject();
  }
  json.EndArray();
  return text;
}

// Counts rows and cells. It reads the whole table.
Result<std::string> Count(Store& store, const Parameters& parameters, RequestContext& watch) {
  ASSIGN_OR_RETURN(const std::string table, Required(parameters, "table"));
  ASSIGN_OR_RETURN(const TableCount count, CountTable(store, table, watch));
  std::string text;
  JsonWriter json(&text);
  json.BeginObject();
  json.Member("table", table);
  json.Member("rows", static_cast<int64_t>(count.rows));
  json.Member("cells", static_cast<int64_t>(count.cells));
  json.Member("value_bytes", static_cast<int64_t>(count.value_bytes));
  json.EndObject();
  return text;
}

Result<std::string> Create(Store& store, const Parameters& parameters) {
  TableDescriptor table;
  ASSIGN_OR_RETURN(table.name, Required(parameters, "table"));
  ASSIGN_OR_RETURN(const std::string families, Required(parameters, "families"));
  ASSIGN_OR_RETURN(const TableChange change, ParseTableText(families));
  RETURN_IF_ERROR(ChangeTable(change, &table));
  table.splits = change.splits;
  if (const std::string* keys = parameters.Find("splits")) {
    for (const std::string& text : Words(*keys)) {
      ASSIGN_OR_RETURN(table.splits.emplace_back(), region::ParseKey(text));
    }
  }
  if (const std::string* n = parameters.Find("uniform")) {
    ASSIGN_OR_RETURN(const uint32_t count, CountOf(*n, "uniform"));
    table.splits = region::UniformSplits(count);
  }
  if (const std::string* n = parameters.Find("hex")) {
    ASSIGN_OR_RETURN(const uint32_t count, CountOf(*n, "hex"));
    table.splits = region::HexSplits(count);
  }
  RETURN_IF_ERROR(store.CreateTable(table));
  return std::string(kDone);
}

Result<std::string> Alter(Store& store, const Parameters& parameters) {
  ASSIGN_OR_RETURN(const std::string name, Required(parameters, "table"));
  ASSIGN_OR_RETURN(const std::string families, Required(parameters, "families"));
  ASSIGN_OR_RETURN(const TableChange change, ParseTableText(families));
  if (!change.splits.empty()) {
    return Status::Unsupported("SPLITS '" + region::KeyText(change.splits[0]) +
                               "': only a new table has them; split regions of this one");
  }
  constexpr int kTries = 10;
  Status altered;
  for (int i = 0; i < kTries; ++i) {
    ASSIGN_OR_RETURN(const TableDescriptor before, store.DescribeTable(name));
    TableDescriptor table = before;
    RETURN_IF_ERROR(ChangeTable(change, &table));
    altered = store.AlterTable(table, &before);
    if (altered.code() != StatusCode::kConflict) break;  // else another client was first
  }
  RETURN_IF_ERROR(altered);
  return std::string(kDone);
}

/// Returns the descriptor of the table. Its splits are the first keys of the regions that the table
/// has now.
Result<TableDescriptor> FindTable(Store& store, const Parameters& parameters) {
  ASSIGN_OR_RETURN(const std::string name, Required(parameters, "table"));
  ASSIGN_OR_RETURN(TableDescriptor table, store.DescribeTable(name));
  ASSIGN_OR_RETURN(table.splits, store.RegionStarts(table.name));
  std::erase(table.splits, Bytes());
  return table;
}

// Removes splits that CreateTable would refuse. A region that was split at such a key is joined
// with the region before it when the table is created again.
void RemoveLongSplits(TableDescriptor* table) {
  std::erase_if(table->splits, [](const Bytes& key) { return key.size() > kSplitKeyBytesMax; });
}

Result<std::string> Describe(Store& store, const Parameters& parameters) {
  ASSIGN_OR_RETURN(TableDescriptor table, FindTable(store, parameters));
  const auto regions = static_cast<int64_t>(table.splits.size() + 1);
  RemoveLongSplits(&table);
  std::string text;
  JsonWriter json(&text);
  json.BeginObject();
  json.Member("table", table.name);
  json.Member("points", table.points);
  json.Member("regions", regions);
  json.Key("families");
  json.BeginArray();
  for (const FamilyDescriptor& family : table.families) {
    json.Text("\n");
    json.BeginObject();
    json.Member("NAME", family.name);
    for (const lsm::FamilyAttribute& attribute : lsm::FamilyAttributes())
      json.Member(attribute.name, attribute.text(family));
    json.EndObject();
  }
  json.EndArray();
  for (const auto& [name, value] : lsm::DescribeSplitPolicy(table.split_policy))
    json.Member(name, AttributeText(name, value));
  json.Text("\n");
  json.Member("create", TableText(table));
  json.EndObject();
  return text;
}

Result<std::string> Drop(Store& store, const Parameters& parameters) {
  ASSIGN_OR_RETURN(const std::string table, Required(parameters, "table"));
  RETURN_IF_ERROR(store.DropTable(table));
  return std::string(kDone);
}

// Deletes all rows and keeps the regions. A table of HBase is refused, because it has attributes
// that the descriptor does not contain, so it could not be created again from its descriptor.
Result<std::string> Truncate(Store& store, const Parameters& parameters) {
  ASSIGN_OR_RETURN(TableDescriptor table, FindTable(store, parameters));
  if (!store.Capabilities().region_admin) {
    return Status::Unsupported("table '" + table.name +
                               "' is not in the embedded store: use 'tsdb table truncate' with the "
                               "settings of the daemon, or truncate_preserve of HBase's shell");
  }
  RemoveLongSplits(&table);
  RETURN_IF_ERROR(store.DropTable(table.name));
  RETURN_IF_ERROR(Prepend(store.CreateTable(table),
                          "table '" + table.name + "' was dropped but not created again"));
  return std::string(kDone);
}

Result<std::string> Split(Store& store, const Parameters& parameters) {
  ASSIGN_OR_RETURN(const std::string table, Required(parameters, "table"));
  ASSIGN_OR_RETURN(const auto at, OptionalKey(parameters, "at"));
  ASSIGN_OR_RETURN(const auto region, OptionalKey(parameters, "region"));
  ASSIGN_OR_RETURN(const Bytes key, store.Split(table, region ? *region : at.value_or(""), at));
  std::string text;
  JsonWriter json(&text);
  json.BeginObject();
  json.Member("at", region::KeyText(key));
  json.EndObject();
  return text;
}

Result<std::string> Merge(Store& store, const Parameters& parameters, RequestContext& watch) {
  ASSIGN_OR_RETURN(const std::string table, Required(parameters, "table"));
  ASSIGN_OR_RETURN(const auto at, OptionalKey(parameters, "at"));
  if (!at) return Status::InvalidArgument("Missing parameter at");
  RETURN_IF_ERROR(store.MergeRegions(table, *at, &watch));
  return std::string(kDone);
}

/// Returns whether the text "ADDRESS:PORT" of a client has a loopback address.
bool IsLoopback(std::string_view remote) {
  namespace ip = boost::asio::ip;
  boost::system::error_code error;
  const auto address = ip::make_address(remote.substr(0, remote.rfind(':')), error);
  if (error) return false;
  if (address.is_v6() && address.to_v6().is_v4_mapped())
    return ip::make_address_v4(ip::v4_mapped, address.to_v6()).is_loopback();
  return address.is_loopback();
}

/// Returns true if the client is on this machine. A loopback address does not prove this, because a
/// proxy on this machine may forward requests of other machines. The result is false if a header of
/// a proxy is present, or if Host does not name this machine.
bool FromThisMachine(const Request& request) {
  const std::string* host = request.Header("host");
  return IsLoopback(request.remote) && !WasForwarded(request) &&
         (host == nullptr || IsThisMachine(*host));
}

/// Returns true for calls that read or write files, or that wait for other calls that do.
bool TakesLong(std::string_view call) { return AdminChanges(call) || call == "count"; }

void SendAnswer(const Result<std::string>& answer, const Request& request, ResponseWriter& out) {
  if (!answer.ok()) return SendStatus(out, request, answer.status());
  SendJson(out, request, *answer);
}

Result<std::string> Backup(const Request& request, Maintenance& store, ResponseWriter& out) {
  if (request.method != Method::kPost) return ProgressJson(store.BackupProgress());
  ASSIGN_OR_RETURN(const std::string folder, Required(request.parameters, "folder"));
  if (!folder.starts_with('/') || folder.find('\0') != std::string::npos) {
    return Status::InvalidArgument("folder = \"" + folder + "\" is no absolute path");
  }
  ASSIGN_OR_RETURN(const CopyProgress done, store.Backup(folder, [&](const CopyProgress&) {
    return !out.Cancelled() && request.running->Check().ok();
  }));
  return ProgressJson(done);
}

Result<std::string> Check(Maintenance& store, RequestContext& watch) {
  ASSIGN_OR_RETURN(const CheckReport report, store.Check(&watch));
  return ReportJson(report);
}

}  // namespace

bool AdminChanges(std::string_view call) {
  return call != "tables" && call != "describe" && call != "regions" && call != "sizes" &&
         call != "count";
}

Result<std::string> RunAdminCall(Store& store, std::string_view call, const Parameters& parameters,
                                 RequestContext& watch, const RowsRead& rows_read) {
  if (call == "tables") return ListTables(store);
  if (call == "regions") return ListRegions(store, parameters, false, watch, rows_read);
  if (call == "sizes") return ListRegions(store, parameters, true, watch, {});
  if (call == "count") return Count(store, parameters, watch);
  if (call == "describe") return Describe(store, parameters);
  if (call == "create") return Create(store, parameters);
  if (call == "alter") return Alter(store, parameters);
  if (call == "drop") return Drop(store, parameters);
  if (call == "truncate") return Truncate(store, parameters);
  if (call == "split") return Split(store, parameters);
  if (call == "merge") return Merge(store, parameters, watch);
  if (call == "flush") {
    RETURN_IF_ERROR(store.Flush());
    return std::string(kDone);
  }
  if (call == "compact") {
    const std::string* table = parameters.Find("table");
    RETURN_IF_ERROR(table != nullptr ? store.CompactTable(*table, &watch) : store.Compact(&watch));
    return std::string(kDone);
  }
  return Status::NotFound("no such call: \"" + std::string(call) +
                          "\"; there are tables, describe, regions, sizes, count, create, alter, "
                          "drop, truncate, split, merge, flush, compact");
}

void HandleAdmin(const Request& request, Services& services, ResponseWriter& out) {
  if (!services.options.admin_remote) {
    constexpr std::string_view kSetting = "tsd.http.admin.remote lets others in";
    if (!FromThisMachine(request)) {
      return SendError(out, request, 403, "This call is only for clients on the same machine",
                       kSetting);
    }
    // A browser on this machine also sends requests for pages of other sites.
    if (request.Header("origin") != nullptr) {
      return SendError(out, request, 403, "This call is not for pages in a browser", kSetting);
    }
  }
  const std::string call = request.Segment(1);
  const bool of_files = call == "backup" || call == "check";
  if (of_files && services.maintenance == nullptr)
    return SendError(out, request, 501, "This store has no files, so there is no backup or check");
  const bool progress = call == "backup" && request.method != Method::kPost;
  if (AdminChanges(call) && request.method != Method::kPost && !progress)
    return SendMethodNotAllowed(out, request);
  if (call == "drop" && services.maintenance == nullptr) {
    return SendError(out, request, 501,
                     "This call is not for tables of HBase, because other daemons may use them",
                     "Use HBase's shell");
  }
  AdminCalls::Slot slot;
  const bool counts = call == "regions" && request.parameters.Find("rows") != nullptr;
  if ((TakesLong(call) || counts) && !progress) {
    slot = services.admin_calls.Begin(call);
    if (slot == nullptr) {
      return SendStatus(out, request,
                        Status::Busy("Another call of " + call + " runs; try again after its end"));
    }
    out.TakesLong();
  }
  // The work of an administrator has no time limit. The end of its client, a kill and a stop end
  // it.
  if (AdminChanges(call)) request.running->BeginAnswer();
  const auto result =
      call == "backup"  ? Backup(request, *services.maintenance, out)
      : call == "check" ? Check(*services.maintenance, *request.running)
                        : RunAdminCall(services.cells, call, request.parameters, *request.running);
  slot.reset();  // while a slow client reads, other clients may make this call
  SendAnswer(result, request, out);
}

}  // namespace hg::http
