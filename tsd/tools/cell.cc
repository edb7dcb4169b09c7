// The command cell: reads and writes the cells of any table (storage/store.h).

#include <algorithm>

#include "storage/table_name.h"
#include "tsd/tables.h"
#include "tsd/tools/cell_read.h"
#include "tsd/tools/cell_request.h"
#include "tsd/tools/tools.h"

namespace hg::tsd {
namespace {

/// Refuses writes to OpenTSDB's tables. Other commands write to these tables and keep names, points
/// and rollups consistent.
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

CellChange PutOf(const CellRequest& request) {
  CellChange put = PutCell(request.columns[0].family, *request.columns[0].qualifier, request.value);
  put.timestamp_ms = request.timestamp;
  put.ttl_ms = request.ttl_ms;
  return put;
}

/// Returns the changes that delete the cells that the request names.
Result<std::vector<CellChange>> DeletesOf(Store& store, const CellRequest& request) {
  using Kind = CellChange::Kind;
  CellChange change;
  change.kind = Kind::kDeleteFamily;
  change.timestamp_ms = request.version ? request.version : request.timestamp;
  std::vector<CellChange> changes;
  if (request.columns.empty()) {
    ASSIGN_OR_RETURN(const TableDescriptor table, store.DescribeTable(request.table));
    for (const FamilyDescriptor& family : table.families) {
      change.family = family.name;
      changes.push_back(change);
    }
    return changes;
  }
  const CellColumn& column = request.columns[0];
  change.family = column.family;
  change.qualifier = column.qualifier.value_or("");
  if (request.version || request.newest_version) {
    change.kind = column.qualifier ? Kind::kDeleteVersion : Kind::kDeleteFamilyVersion;
  } else if (column.qualifier) {
    change.kind = Kind::kDeleteColumn;
  }
  changes.push_back(change);
  return changes;
}

/// The result of a write, as JSON: `name` is "done" or "value".
struct Written {
  const char* name = "done";
  std::string value = "true";
};

Result<Written> Change(Store& store, const CellRequest& request) {
  RowMutation mutation{request.row, {}};
  switch (request.verb) {
    case CellVerb::kAppend:
      RETURN_IF_ERROR(store.Append(request.table, request.row, request.columns[0].family,
                                   *request.columns[0].qualifier, request.value, request.ttl_ms));
      return Written{};
    case CellVerb::kIncrement: {
      ASSIGN_OR_RETURN(const int64_t value,
                       store.Increment(request.table, request.row, request.columns[0].family,
                                       *request.columns[0].qualifier, request.by, request.ttl_ms));
      return Written{"value", std::to_string(value)};
    }
    case CellVerb::kPut:
    case CellVerb::kCheckAndPut:
      mutation.changes.push_back(PutOf(request));
      break;
    default: {
      ASSIGN_OR_RETURN(mutation.changes, DeletesOf(store, request));
    }
  }
  if (request.verb == CellVerb::kPut || request.verb == CellVerb::kDelete) {
    RETURN_IF_ERROR(store.Mutate(request.table, {mutation}));
    return Written{};
  }
  ASSIGN_OR_RETURN(const bool done,
                   store.CompareAndMutate(request.checked.family, *request.checked.qualifier,
                                          request.expected, request.table, mutation));
  return Written{"done", done ? "true" : "false"};
}

Status Write(Session& session, const CellRequest& request, std::ostream& out) {
  RETURN_IF_ERROR(CheckMayWrite(session, request.table));
  Store& store = session.cells();
  ASSIGN_OR_RETURN(const Written written, Change(store, request));
  // A running daemon writes with its own level of durability, so this call makes the write durable.
  if (request.synced) RETURN_IF_ERROR(store.Sync());
  const bool has_result = request.verb != CellVerb::kPut && request.verb != CellVerb::kDelete &&
                          request.verb != CellVerb::kAppend;
  if (request.json) {
    out << "{\"" << written.name << "\":" << written.value << "}\n";
  } else if (has_result) {
    out << written.value << '\n';
  }
  return {};
}

void ApplyDurability(const CommandLine& line, Config* config) {
  if (const auto level = line.Value("--durability")) config->Set("tsd.storage.durability", *level);
}

int RunCell(Invocation& call) {
  auto request = ReadCellRequest(call.line);
  if (!request.ok()) return call.Misused(request.status().message());
  const bool writes = WritesCells(request->verb);
  if (Status s = call.Open(writes ? StoreUse::kWork : StoreUse::kLook); !s.ok())
    return call.Fail(s);
  RowProgress progress(call);
  const Status done =
      writes ? Write(call.session, *request, call.out)
             : ReadCells(call.session.cells(), std::move(*request), &progress, call.out);
  return done.ok() ? kExitOk : call.Fail(done);
}

}  // namespace

const Command kCellCommand{
    "cell",
    "get TABLE ROW [COLUMN...] | put TABLE ROW COLUMN VALUE | append TABLE ROW COLUMN VALUE | "
    "increment TABLE ROW COLUMN [BY] | delete TABLE ROW [COLUMN] | "
    "check-and-put TABLE ROW COLUMN VALUE | check-and-delete TABLE ROW [COLUMN] | "
    "scan TABLE [COLUMN...] | count TABLE [COLUMN...] | sum|min|max|avg TABLE COLUMN...",
    "Reads, writes, deletes, counts and aggregates cells of a table.",
    "  tsdb cell put t1 row1 f1:q VALUE\n"
    "  tsdb cell check-and-put t1 row1 f1:q NEW --expect VALUE\n"
    "  tsdb cell scan t1 --filter \"PrefixFilter('r') AND PageFilter(10)\"\n"
    "A column is FAMILY:QUALIFIER, or FAMILY for all columns of the family. `get` and `scan`\n"
    "print a line for each cell: row, column, time in ms and value, separated by tabs. `count`\n"
    "prints the number of rows. `sum`, `min`, `max` and `avg` read the values of 8 bytes that\n"
    "`increment` writes, and ignore other values. `check-and-put` and `check-and-delete` print\n"
    "true if they made the change, otherwise false. Write `-- -5` to increment by a negative\n"
    "number. In rows, qualifiers and values, \\xHH is a byte and \\\\ is a backslash.",
    CellOptions(),
    "",
    RunCell,
    ApplyDurability};

}  // namespace hg::tsd
