#include "tsd/tables.h"

#include <rapidjson/document.h>

#include <set>

#include "tsd/rollup/automatic_rollups.h"

namespace hg::tsd {
namespace {

/// Returns the tables that these fields of the intervals name. The table of the default interval is
/// the data table, and not returned.
Result<std::set<std::string>> RollupTables(const Config& config,
                                           std::initializer_list<const char*> fields) {
  std::set<std::string> names;
  if (!config.Bool("tsd.rollups.enable")) return names;
  ASSIGN_OR_RETURN(const std::string text, config.JsonText("tsd.rollups.config"));
  rapidjson::Document document;
  document.Parse(text.data(), text.size());
  if (document.HasParseError() || !document.IsObject() || !document.HasMember("intervals") ||
      !document["intervals"].IsArray())
    return Status::InvalidArgument("setting tsd.rollups.config = \"" + text +
                                   "\" is not a JSON object with a list of \"intervals\"");
  for (const auto& interval : document["intervals"].GetArray()) {
    if (!interval.IsObject()) continue;
    for (const char* field : fields)
      if (auto it = interval.FindMember(field); it != interval.MemberEnd() && it->value.IsString())
        names.insert(it->value.GetString());
  }
  names.erase(config.String("tsd.storage.hbase.data_table"));
  return names;
}

}  // namespace

Result<std::vector<TableDescriptor>> DescribeTables(const Config& config) {
  std::vector<TableDescriptor> tables = {
      {config.String("tsd.storage.hbase.uid_table"), {{"id"}, {"name"}}, false},
      {config.String("tsd.storage.hbase.data_table"), {{"t"}}, true},
      {config.String("tsd.storage.hbase.tree_table"), {{"t"}}, false},
      {config.String("tsd.storage.hbase.meta_table"), {{"name"}}, false},
  };
  ASSIGN_OR_RETURN(const std::set<std::string> rollups,
                   RollupTables(config, {"table", "preAggregationTable"}));
  for (const std::string& name : rollups) tables.push_back({name, {{"t"}}, false});
  if (config.Bool("tsd.rollups.automatic"))
    tables.push_back(
        {RollupStateTable(config.String("tsd.storage.hbase.data_table")), {{"t"}}, false});
  return tables;
}

Result<std::set<std::string>> PreAggregateTables(const Config& config) {
  return RollupTables(config, {"preAggregationTable"});
}

Status EnsureTable(const TableDescriptor& table, Store& store) {
  Status known = store.DescribeTable(table.name).status();
  if (known.code() != StatusCode::kNotFound) return known;
  return Prepend(store.CreateTable(table), "table " + table.name);
}

Status CheckTableEmpty(Store& store, const std::string& table) {
  ScanSpec spec;
  spec.table = table;
  spec.batch_rows = 1;
  ASSIGN_OR_RETURN(const auto cursor, store.Scan(spec));
  std::vector<Row> rows;
  RETURN_IF_ERROR(cursor->Next(&rows));
  return rows.empty() ? Status() : Status::Conflict("table " + table + " is not empty");
}

}  // namespace hg::tsd
