// The command cell: reads and writes the cells of any table (storage/store.h).

#include <algorithm>
#include <charconv>

#include "storage/region/pre_split.h"
#include "storage/table_name.h"
#include "tsd/tables.h"
#include "tsd/tools/tools.h"

namespace hg::tsd {
namespace {

constexpr OptionSpec kOptions[] = {
    {"--prefix", "KEY", "scan, count: only rows that begin with the key"},
    {"--start", "KEY", "scan, count: the first row"},
    {"--stop", "KEY", "scan, count: the first row that is not read"},
    {"--limit", "N", "scan, count: number of rows at most"},
    {"--versions", "N", "get, scan: number of newest versions of each cell; the default is 1"},
};

struct Column {
  Bytes family;
  std::optional<Bytes> qualifier;  // none: the whole family
};

Result<Column> ReadColumn(const std::string& text) {
  const size_t colon = text.find(':');
  Column column{text.substr(0, colon), {}};
  if (column.family.empty()) {
    return Status::InvalidArgument("column '" + text + "': expected FAMILY or FAMILY:QUALIFIER");
  }
  if (colon != std::string::npos) {
    ASSIGN_OR_RETURN(column.qualifier, region::ParseKey(text.substr(colon + 1)));
  }
  return column;
}

Result<uint64_t> ReadCount(const CommandLine& line, const char* option, uint64_t fallback,
                           uint64_t most) {
  const auto text = line.Value(option);
  if (!text) return fallback;
  uint64_t count = 0;
  const auto [end, error] = std::from_chars(text->data(), text->data() + text->size(), count);
  if (error == std::errc() && end == text->data() + text->size() && count >= 1 && count <= most)
    return count;
  return Status::InvalidArgument("Invalid value for " + std::string(option) + ": " + *text +
                                 " (expected 1 to " + std::to_string(most) + ")");
}

/// The objects that the words and options of a call name. Keys, qualifiers and values are decoded.
struct Wanted {
  std::string verb;
  std::string table;
  Bytes row;
  std::optional<Column> column;
  Bytes value;
  ScanSpec scan;  // also the selection of get
};

Result<Wanted> ReadWanted(const CommandLine& line) {
  const std::vector<std::string>& words = line.words();
  Wanted wanted;
  if (words.empty()) return Status::InvalidArgument("expected get, put, scan, delete or count");
  wanted.verb = words[0];
  const bool one_row = wanted.verb == "get" || wanted.verb == "put" || wanted.verb == "delete";
  if (!one_row && wanted.verb != "scan" && wanted.verb != "count")
    return Status::InvalidArgument("no such action: " + wanted.verb);
  const size_t least = wanted.verb == "put" ? 5 : one_row ? 3 : 2;
  const size_t most = wanted.verb == "put" ? 5 : one_row ? 4 : 3;
  if (words.size() < least)
    return Status::InvalidArgument(wanted.verb + " needs " + std::to_string(least - 1) +
                                   " words after it");
  if (words.size() > most) return Status::InvalidArgument("unexpected word: " + words[most]);
  wanted.table = words[1];
  wanted.scan.table = wanted.table;
  if (one_row) {
    ASSIGN_OR_RETURN(wanted.row, region::ParseKey(words[2]));
  }
  const size_t column = one_row ? 3 : 2;
  if (words.size() > column) {
    ASSIGN_OR_RETURN(wanted.column, ReadColumn(words[column]));
    wanted.scan.family = wanted.column->family;
    if (wanted.column->qualifier) wanted.scan.qualifiers = {*wanted.column->qualifier};
  }
  if (wanted.verb == "put") {
    if (!wanted.column->qualifier)
      return Status::InvalidArgument("column '" + words[3] + "': expected FAMILY:QUALIFIER");
    ASSIGN_OR_RETURN(wanted.value, region::ParseKey(words[4]));
  }
  if (const auto prefix = line.Value("--prefix")) {
    ASSIGN_OR_RETURN(wanted.scan.start, region::ParseKey(*prefix));
    wanted.scan.stop = AfterPrefix(wanted.scan.start);
  }
  if (const auto start = line.Value("--start")) {
    ASSIGN_OR_RETURN(const Bytes key, region::ParseKey(*start));
    wanted.scan.start = std::max(wanted.scan.start, key);
  }
  if (const auto stop = line.Value("--stop")) {
    ASSIGN_OR_RETURN(const Bytes key, region::ParseKey(*stop));
    if (wanted.scan.stop.empty() || (!key.empty() && key < wanted.scan.stop))
      wanted.scan.stop = key;
  }
  ASSIGN_OR_RETURN(wanted.scan.limit_rows, ReadCount(line, "--limit", UINT64_MAX, UINT64_MAX));
  ASSIGN_OR_RETURN(const uint64_t versions, ReadCount(line, "--versions", 1, INT32_MAX));
  wanted.scan.max_versions = static_cast<int32_t>(versions);
  wanted.scan.batch_bytes = size_t{4} << 20;
  if (wanted.verb == "count") wanted.scan.keys_only = wanted.scan.first_cell_only = true;
  return wanted;
}

void Print(const Row& row, std::ostream& out) {
  for (const Cell& cell : row.cells) {
    out << region::KeyText(row.key) << '\t' << region::KeyText(cell.family) << ':'
        << region::KeyText(cell.qualifier) << '\t' << cell.timestamp_ms << '\t'
        << region::KeyText(cell.value) << '\n';
  }
}

/// Refuses writes to OpenTSDB's tables. Other commands write to them and keep names, points and
/// rollups consistent.
Status CheckMayWrite(Session& session, const std::string& table) {
  ASSIGN_OR_RETURN(const std::vector<TableDescriptor> own, DescribeTables(session.config()));
  const bool is_own = std::any_of(own.begin(), own.end(), [&](const TableDescriptor& mine) {
    return mine.name == WithoutDefaultNamespace(table);
  });
  if (!is_own) return {};
  return Status::InvalidArgument("table '" + table +
                                 "' belongs to OpenTSDB: use 'tsdb import', 'tsdb uid' or 'tsdb "
                                 "scan --delete'");
}

Status Write(Session& session, const Wanted& wanted) {
  RETURN_IF_ERROR(CheckMayWrite(session, wanted.table));
  Store& store = session.cells();
  if (wanted.verb == "put") {
    return store.Mutate(
        wanted.table,
        {{wanted.row, {PutCell(wanted.column->family, *wanted.column->qualifier, wanted.value)}}});
  }
  if (!wanted.column) return store.DeleteRow(wanted.table, wanted.row);
  CellChange change;
  change.kind =
      wanted.column->qualifier ? CellChange::Kind::kDeleteColumn : CellChange::Kind::kDeleteFamily;
  change.family = wanted.column->family;
  change.qualifier = wanted.column->qualifier.value_or("");
  return store.Mutate(wanted.table, {{wanted.row, {change}}});
}

Status Read(Store& store, const Wanted& wanted, std::ostream& out) {
  if (wanted.verb == "get") {
    ASSIGN_OR_RETURN(const Row row, store.GetCells(wanted.table, wanted.row, wanted.scan));
    Print(row, out);
    return {};
  }
  ASSIGN_OR_RETURN(const auto cursor, store.Scan(wanted.scan));
  uint64_t count = 0;
  for (std::vector<Row> rows;;) {
    RETURN_IF_ERROR(cursor->Next(&rows));
    if (rows.empty()) break;
    count += rows.size();
    if (wanted.verb == "count") continue;
    for (const Row& row : rows) Print(row, out);
  }
  if (wanted.verb == "count") out << count << '\n';
  return {};
}

int RunCell(Invocation& call) {
  const auto wanted = ReadWanted(call.line);
  if (!wanted.ok()) return call.Misused(wanted.status().message());
  const bool writes = wanted->verb == "put" || wanted->verb == "delete";
  if (Status s = call.Open(writes ? StoreUse::kWork : StoreUse::kLook); !s.ok())
    return call.Fail(s);
  const Status done =
      writes ? Write(call.session, *wanted) : Read(call.session.cells(), *wanted, call.out);
  return done.ok() ? kExitOk : call.Fail(done);
}

}  // namespace

const Command kCellCommand{
    "cell",
    "get TABLE ROW [COLUMN] | put TABLE ROW COLUMN VALUE | delete TABLE ROW [COLUMN] | "
    "scan TABLE [COLUMN] | count TABLE [COLUMN]",
    "Reads, writes, deletes and counts cells of a table.",
    "  tsdb cell put t1 row1 f1:q VALUE\n"
    "  tsdb cell scan t1 --prefix r --limit 10\n"
    "A column is FAMILY:QUALIFIER, or FAMILY for all of its columns. get and scan print a line "
    "for\n"
    "each cell: row, column, time in ms and value, separated by tabs. count prints the number of\n"
    "rows. In rows, qualifiers and values, \\xHH is a byte and \\\\ is a backslash.",
    kOptions,
    "",
    RunCell};

}  // namespace hg::tsd
