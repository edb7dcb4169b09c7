// The command load: reads cells into an empty database. The lines have the format of `dump`,
// preceded by the table. Consecutive lines of one row become one mutation, so the row is restored
// exactly.

#include "tsd/tables.h"
#include "tsd/tools/cell_line.h"
#include "tsd/tools/tools.h"
#include "tsd/tools/with_room.h"

namespace hg::tsd {
namespace {

/// Number of rows per call of the store.
constexpr size_t kRowsPerCall = 256;

/// Collects the rows of one table and writes them in groups.
class Loader {
 public:
  explicit Loader(Store& store) : store_(store) {}

  Status Add(LoadedCell cell) {
    const bool same_table = cell.table == table_;
    const bool same_row = same_table && !rows_.empty() && rows_.back().key == cell.row;
    if (!same_table || (!same_row && rows_.size() >= kRowsPerCall)) RETURN_IF_ERROR(Flush());
    table_ = cell.table;
    if (!same_row) rows_.push_back({std::move(cell.row), {}});
    rows_.back().changes.push_back(
        PutCell(std::move(cell.family), std::move(cell.qualifier), std::move(cell.value)));
    return {};
  }

  Status Flush() {
    if (rows_.empty()) return {};
    RETURN_IF_ERROR(WithRoom(store_, [this] { return Write(); }));
    rows_.clear();
    return {};
  }

 private:
  Status Write() {
    const std::vector<Status> statuses = store_.MutateRows(table_, rows_);
    for (size_t i = 0; i < rows_.size(); ++i) {
      if (!statuses[i].ok())
        return Prepend(statuses[i], "row " + ToHex(rows_[i].key) + " of " + table_);
    }
    return {};
  }

  Store& store_;
  std::string table_;
  std::vector<RowMutation> rows_;
};

/// Checks that the tables of the settings are empty, because loading into existing data would mix
/// two databases. Other tables of a cluster are ignored.
Status CheckEmpty(const Config& config, Store& store) {
  ASSIGN_OR_RETURN(const auto tables, DescribeTables(config));
  for (const TableDescriptor& table : tables) RETURN_IF_ERROR(CheckTableEmpty(store, table.name));
  return {};
}

int RunLoad(Invocation& call) {
  if (!call.line.words().empty())
    return call.Misused(
        "no words are expected, because cells are read from "
        "standard input");
  if (Status s = call.Open(); !s.ok()) return call.Fail(s);
  Store& store = call.session.cells();
  if (Status s = CheckEmpty(call.session.config(), store); !s.ok()) return call.Fail(s);

  Loader loader(store);
  std::string line;
  uint64_t number = 0;
  while (std::getline(call.in, line)) {
    ++number;
    if (line.empty()) continue;
    Result<LoadedCell> cell = ParseCellLine(line);
    Status s = cell.ok() ? loader.Add(*std::move(cell)) : cell.status();
    if (!s.ok()) return call.Fail(Prepend(s, "line " + std::to_string(number)));
  }
  if (Status s = loader.Flush(); !s.ok()) return call.Fail(s);
  if (Status s = store.Sync(); !s.ok()) return call.Fail(s);
  return kExitOk;
}

}  // namespace

const Command kLoadCommand{
    "load",
    "",
    "Loads cells from standard input into an empty database.",
    "Each line is a cell: TABLE <tab> ROW <tab> FAMILY <tab> QUALIFIER <tab> VALUE. All fields\n"
    "except table and family are hexadecimal. The cells of a row must be on consecutive lines.",
    {},
    "",
    RunLoad};

}  // namespace hg::tsd
