#include "storage/thrift2/service.h"

#include <algorithm>
#include <map>
#include <optional>
#include <span>
#include <utility>

#include "storage/changed_rows.h"
#include "storage/points/row_part.h"

namespace hg::thrift2 {
namespace {

using Kind = CellChange::Kind;

template <typename Request>
bool IsSynced(const Request& request) {
  return request.__isset.durability && request.durability == wire::TDurability::FSYNC_WAL;
}

bool IsSynced(const wire::TRowMutations& row) {
  return std::any_of(row.mutations.begin(), row.mutations.end(), [](const wire::TMutation& one) {
    return one.__isset.put ? IsSynced(one.put) : IsSynced(one.deleteSingle);
  });
}

// Returns the memory of the changes of a row.
int64_t BytesOf(const RowMutation& row) {
  size_t bytes = sizeof row + row.key.size();
  for (const CellChange& change : row.changes) {
    bytes += sizeof change + change.family.size() + change.qualifier.size() + change.value.size();
  }
  return static_cast<int64_t>(bytes);
}

// Returns the cells that a delete of a column or of a family can affect. `cells` are the cells of a
// row in the order of the store.
std::span<const Cell> CellsOf(const CellChange& change, std::span<const Cell> cells) {
  const bool of_family =
      change.kind == Kind::kDeleteFamily || change.kind == Kind::kDeleteFamilyVersion;
  const auto compare = [&](const Cell& cell) {
    const int family = cell.family.compare(change.family);
    return family != 0 || of_family ? family : cell.qualifier.compare(change.qualifier);
  };
  const auto first = std::partition_point(cells.begin(), cells.end(),
                                          [&](const Cell& cell) { return compare(cell) < 0; });
  const auto last = std::partition_point(first, cells.end(),
                                         [&](const Cell& cell) { return compare(cell) == 0; });
  return {first, last};
}

// Returns whether the store reads the complete row before it applies the changes. This is the case
// for deletes of columns that have the names of compacted cells.
bool NeedsRow(const TableDescriptor& table, const RowMutation& row) {
  return table.points &&
         std::any_of(row.changes.begin(), row.changes.end(), [](const auto& change) {
           return change.kind == Kind::kDeleteColumn &&
                  points::NamesSeveralPoints(change.qualifier);
         });
}

// Returns whether the gets differ in their rows only.
bool WantTheSame(const std::vector<wire::TGet>& gets) {
  return std::all_of(gets.begin(), gets.end(), [&](const wire::TGet& get) {
    wire::TGet as_first = get;
    as_first.row = gets[0].row;
    return as_first == gets[0];
  });
}

}  // namespace

TableDescriptor Service::Described(const std::string& table) {
  auto descriptor = state_.store().DescribeTable(table);
  if (!descriptor.ok()) Check(descriptor.status(), table, "getTableDescriptor");
  return std::move(*descriptor);
}

TableDescriptor Service::Known(const std::string& table) {
  BeginCall();  // the time in which the client sent the request does not count
  if (state_.master.IsDisabled(table)) Refuse(table + " is disabled.", false);
  return Described(table);
}

std::vector<Status> Service::Write(const std::string& table, const std::vector<RowMutation>& rows) {
  return Changing(state_.options.changed, table, rows,
                  [&] { return state_.store().MutateRows(table, rows); });
}

void Service::SyncIf(bool synced) {
  if (synced) Check(state_.store().Sync(), "", "sync");
}

wire::TResult Service::Answer(CellChoice* choice, Row row) {
  Check(context_.Step(1 + row.cells.size()), "", "get");
  choice->Keep(&row, &context_);
  Check(CountRow(row, &*reply_), "", "get");
  CheckResponse(reply_->held(), state_.options.response_bytes_max, "get fewer rows");
  return WriteRow(std::move(row));
}

std::vector<wire::TResult> Service::GetAll(const std::string& table,
                                           const std::vector<wire::TGet>& gets,
                                           const std::string& method) {
  const TableDescriptor known = Known(table);
  for (const wire::TGet& get : gets) CheckFamilies(known, get.columns);
  std::vector<wire::TResult> results;
  results.reserve(gets.size());
  if (gets.size() > 1 && WantTheSame(gets)) {
    CellChoice choice(gets[0], method);
    CellSelection wanted = choice.selection();
    wanted.context = &context_;
    constexpr size_t kRowsAtOnce = 64;
    std::vector<Bytes> keys;
    for (size_t at = 0; at < gets.size(); at += keys.size()) {
      keys.clear();
      for (size_t i = at; i < gets.size() && keys.size() < kRowsAtOnce; ++i) {
        CheckRowKey(gets[i].row, method);
        keys.push_back(gets[i].row);
      }
      for (Result<Row>& row : state_.store().GetRows(table, keys, wanted)) {
        Check(row.status(), table, method);
        results.push_back(Answer(&choice, std::move(*row)));
      }
    }
    return results;
  }
  for (const wire::TGet& get : gets) {
    Check(context_.Check(), table, method);  // the filters of all gets may be long
    CellChoice choice(get, method);
    CellSelection wanted = choice.selection();
    wanted.context = &context_;
    auto row = state_.store().GetCells(table, get.row, wanted);
    Check(row.status(), table, method);
    results.push_back(Answer(&choice, std::move(*row)));
  }
  return results;
}

bool Service::exists(const std::string& table, const wire::TGet& get) {
  return GetAll(table, {get}, "exists")[0].__isset.row;
}

void Service::existsAll(std::vector<bool>& found, const std::string& table,
                        const std::vector<wire::TGet>& gets) {
  for (const wire::TResult& result : GetAll(table, gets, "existsAll")) {
    found.push_back(result.__isset.row);
  }
}

void Service::get(wire::TResult& result, const std::string& table, const wire::TGet& get) {
  if (get.existence_only) RefuseArgument("get");
  result = std::move(GetAll(table, {get}, "get")[0]);
}

void Service::getMultiple(std::vector<wire::TResult>& results, const std::string& table,
                          const std::vector<wire::TGet>& gets) {
  if (std::any_of(gets.begin(), gets.end(), [](const auto& get) { return get.existence_only; })) {
    RefuseArgument("getMultiple");
  }
  results = GetAll(table, gets, "getMultiple");
}

void Service::put(const std::string& table, const wire::TPut& put) {
  Known(table);
  Check(Write(table, {{put.row, ReadPut(put, "put")}})[0], table, "put");
  SyncIf(IsSynced(put));
}

template <typename Read>
void Service::WriteAll(const TableDescriptor& table, size_t count, const std::string& method,
                       const Read& read) {
  constexpr size_t kRowsAtOnce = 1000, kChangesAtOnce = 10'000, kStepsPerChange = 64;
  constexpr size_t kStepsPerRow = 1'000'000;  // a row that the store must read may be very long
  MemoryTally memory(&context_);
  std::vector<RowMutation> rows;
  size_t changes = 0;
  Status refused;
  for (size_t i = 0; i < count; ++i) {
    rows.push_back(read(i, &memory));
    const size_t more = rows.back().changes.size();
    changes += more;
    const bool needs_row = NeedsRow(table, rows.back());
    const size_t steps = needs_row ? kStepsPerRow : more * kStepsPerChange;
    Check(context_.Step(steps), table.name, method);
    const bool full = rows.size() == kRowsAtOnce || changes >= kChangesAtOnce;
    if (i + 1 < count && !full && !needs_row) continue;
    // If the store refuses one row, the other rows are still written.
    for (Status& status : Write(table.name, rows)) {
      if (refused.ok()) refused = std::move(status);
    }
    rows.clear();
    changes = 0;
    memory.Remove(memory.held());
  }
  Check(refused, table.name, method, true);
}

void Service::putMultiple(const std::string& table, const std::vector<wire::TPut>& puts) {
  if (state_.store().DescribeTable(table).status().code() == StatusCode::kNotFound) {
    const std::string count = std::to_string(puts.size());
    Refuse("Failed " + count + " actions: " + table + ": " + count +
               " times, servers with issues: null",
           true);
  }
  const TableDescriptor known = Known(table);
  for (const wire::TPut& put : puts) {
    Check(context_.Step(1 + put.columnValues.size()), table, "putMultiple");
    CheckPut(put, "putMultiple");
  }
  WriteAll(known, puts.size(), "putMultiple", [&](size_t i, MemoryTally* memory) {
    const wire::TPut& put = puts[i];
    RowMutation row{put.row, ReadPut(put, "putMultiple")};
    Check(memory->Add(BytesOf(row)), table, "putMultiple");
    return row;
  });
  SyncIf(std::any_of(puts.begin(), puts.end(), [](const auto& put) { return IsSynced(put); }));
}

// A points table applies a delete to the data that it has when the delete arrives. The cells that a
// delete with a timestamp covers are therefore read first. A point of these columns that is written
// between the read and the delete is deleted, too.
void Service::SettleTimes(const TableDescriptor& table, RowMutation* row, MemoryTally* memory) {
  const auto is_timed = [](const CellChange& change) {
    return change.kind == Kind::kDeleteVersion ||
           (change.kind != Kind::kPut && change.timestamp_ms.has_value());
  };
  if (!table.points || std::none_of(row->changes.begin(), row->changes.end(), is_timed)) return;
  const int64_t before = BytesOf(*row);
  CellSelection all;
  all.context = &context_;
  const auto now = state_.store().GetCells(table.name, row->key, all);
  Check(now.status(), table.name, "deleteSingle");
  MemoryTally read(&context_);
  Check(CountRow(*now, &read), table.name, "deleteSingle");
  const std::span<const Cell> cells = now->cells;
  std::vector<bool> deleted(cells.size());  // a later delete of the same cell changes nothing
  std::vector<CellChange> settled;
  for (CellChange& change : row->changes) {
    if (!is_timed(change)) {
      settled.push_back(std::move(change));
      continue;
    }
    const bool exact =
        change.kind == Kind::kDeleteVersion || change.kind == Kind::kDeleteFamilyVersion;
    const std::span<const Cell> some = CellsOf(change, cells);
    Check(context_.Step(1 + some.size()), table.name, "deleteSingle");
    for (const Cell& cell : some) {
      const auto at = static_cast<size_t>(&cell - cells.data());
      const int64_t time = change.timestamp_ms.value_or(cell.timestamp_ms);
      if (deleted[at] || (exact ? cell.timestamp_ms != time : cell.timestamp_ms > time)) continue;
      deleted[at] = true;
      settled.push_back(DeleteColumn(cell.family, cell.qualifier));
      CheckChanges(settled.size());
    }
  }
  row->changes = std::move(settled);
  const int64_t growth = BytesOf(*row) - before;
  Check(memory->Add(std::max<int64_t>(growth, 0)), table.name, "deleteSingle");
}

void Service::deleteSingle(const std::string& table, const wire::TDelete& gone) {
  const TableDescriptor known = Known(table);
  MemoryTally memory(&context_);
  std::vector<RowMutation> rows = {{gone.row, ReadDelete(known, gone, "deleteSingle")}};
  SettleTimes(known, &rows[0], &memory);
  Check(Write(table, rows)[0], table, "deleteSingle");
  SyncIf(IsSynced(gone));
}

void Service::deleteMultiple(std::vector<wire::TDelete>&, const std::string& table,
                             const std::vector<wire::TDelete>& all) {
  const TableDescriptor known = Known(table);
  for (const wire::TDelete& gone : all) {
    Check(context_.Step(1 + gone.columns.size()), table, "deleteMultiple");
    CheckDelete(gone, "deleteMultiple");
  }
  WriteAll(known, all.size(), "deleteMultiple", [&](size_t i, MemoryTally* memory) {
    RowMutation row{all[i].row, ReadDelete(known, all[i], "deleteMultiple")};
    Check(memory->Add(BytesOf(row)), table, "deleteMultiple");
    SettleTimes(known, &row, memory);
    return row;
  });
  SyncIf(std::any_of(all.begin(), all.end(), [](const auto& gone) { return IsSynced(gone); }));
}

bool Service::CheckAndMutate(const TableDescriptor& table, const std::string& row,
                             const std::string& family, const std::string& qualifier,
                             wire::TCompareOperator::type op, const std::string& value,
                             RowMutation mutation, bool synced, const std::string& method) {
  CheckRowKey(row, method);
  if (row != mutation.key) Refuse("java.io.IOException: doesn't match the original one", false);
  MemoryTally memory(&context_);
  SettleTimes(table, &mutation, &memory);
  const auto mutate = [&](const Expected& expected) {
    const auto compare_and_mutate = [&] {
      return state_.store().CompareAndMutate(family, qualifier, expected, table.name, mutation);
    };
    const auto done =
        OnlyAdds(family, qualifier, expected, mutation)
            ? compare_and_mutate()
            : Changing(state_.options.changed, table.name, {mutation}, compare_and_mutate);
    Check(done.status(), table.name, method);
    if (*done) SyncIf(synced);
    return *done;
  };
  if (op == wire::TCompareOperator::EQUAL) {
    return mutate(value.empty() ? Expected() : Expected(value));
  }
  // The store can only compare for equality. For other comparisons, this function reads the stored
  // value and compares it. The change then requires that the stored value is still equal to the
  // value read.
  for (;;) {
    Check(context_.Step(1), table.name, method);
    CellSelection wanted;
    wanted.family = family;
    wanted.qualifiers = {qualifier};
    wanted.context = &context_;
    const auto now = state_.store().GetCells(table.name, row, wanted);
    Check(now.status(), table.name, method);
    const Bytes* const stored = now->cells.empty() ? nullptr : &now->cells[0].value;
    if (!Compares(op, value, stored)) return false;
    if (mutate(stored == nullptr || stored->empty() ? Expected() : Expected(*stored))) return true;
  }
}

bool Service::checkAndPut(const std::string& table, const std::string& row,
                          const std::string& family, const std::string& qualifier,
                          const std::string& value, const wire::TPut& put) {
  return CheckAndMutate(Known(table), row, family, qualifier, wire::TCompareOperator::EQUAL, value,
                        {put.row, ReadPut(put, "checkAndPut")}, IsSynced(put), "checkAndPut");
}

bool Service::checkAndDelete(const std::string& table, const std::string& row,
                             const std::string& family, const std::string& qualifier,
                             const std::string& value, const wire::TDelete& gone) {
  const TableDescriptor known = Known(table);
  return CheckAndMutate(known, row, family, qualifier, wire::TCompareOperator::EQUAL, value,
                        {gone.row, ReadDelete(known, gone, "checkAndDelete")}, IsSynced(gone),
                        "checkAndDelete");
}

bool Service::checkAndMutate(const std::string& table, const std::string& row,
                             const std::string& family, const std::string& qualifier,
                             wire::TCompareOperator::type op, const std::string& value,
                             const wire::TRowMutations& mutations) {
  const TableDescriptor known = Known(table);
  if (op < wire::TCompareOperator::LESS || op > wire::TCompareOperator::GREATER) {
    RefuseArgument("checkAndMutate");
  }
  return CheckAndMutate(known, row, family, qualifier, op, value,
                        ReadMutations(known, mutations, "checkAndMutate"), IsSynced(mutations),
                        "checkAndMutate");
}

void Service::mutateRow(const std::string& table, const wire::TRowMutations& row) {
  const TableDescriptor known = Known(table);
  std::vector<RowMutation> rows = {ReadMutations(known, row, "mutateRow")};
  CheckRowKey(row.row, "mutateRow");
  MemoryTally memory(&context_);
  SettleTimes(known, &rows[0], &memory);
  Check(Write(table, rows)[0], table, "mutateRow", true);
  SyncIf(IsSynced(row));
}

void Service::increment(wire::TResult& result, const std::string& table,
                        const wire::TIncrement& increment) {
  CheckRowKey(increment.row, "increment");
  if (increment.columns.empty()) RefuseArgument("increment");
  CheckChanges(increment.columns.size());
  Known(table);
  std::vector<ColumnIncrement> columns;
  for (const wire::TColumnIncrement& column : increment.columns) {
    columns.push_back({column.family, column.qualifier, column.amount});
  }
  const auto sums =
      state_.store().IncrementColumns(table, increment.row, columns, TtlOf(increment.attributes));
  Check(sums.status(), table, "increment");
  SyncIf(IsSynced(increment));
  if (increment.__isset.returnResults && !increment.returnResults) return;
  result.__set_row(increment.row);
  for (size_t i = 0; i < columns.size(); ++i) {
    wire::TColumnValue& cell = result.columnValues.emplace_back();
    cell.family = std::move(columns[i].family);
    cell.qualifier = std::move(columns[i].qualifier);
    AppendBig(&cell.value, static_cast<uint64_t>((*sums)[i]), 8);
  }
}

// All columns are changed atomically, as in HBase.
void Service::append(wire::TResult& result, const std::string& table, const wire::TAppend& append) {
  CheckRowKey(append.row, "append");
  if (append.columns.empty()) RefuseArgument("append");
  CheckChanges(append.columns.size());
  Known(table);
  // The values of one column are joined, because the store takes each column once.
  std::map<std::pair<ByteView, ByteView>, Bytes> joined;
  MemoryTally memory(&context_);
  for (const wire::TColumnValue& cell : append.columns) {
    Check(memory.Add(static_cast<int64_t>(sizeof cell + cell.value.size())), table, "append");
    joined[{cell.family, cell.qualifier}] += cell.value;
  }
  wire::TGet now;
  now.row = append.row;
  now.__isset.columns = true;
  std::vector<ColumnAppend> columns;
  for (auto& [name, value] : joined) {
    wire::TColumn& column = now.columns.emplace_back();
    column.family = name.first;
    column.__set_qualifier(Bytes(name.second));
    columns.push_back({column.family, column.qualifier, std::move(value)});
  }
  // The store reads and writes all columns at once and reports no work. If a response cannot hold
  // the columns, or the call ends, the append fails here, before anything has changed.
  if (columns.size() > 1) {
    (void)GetAll(table, {now}, "append");
    EndCall();
  }
  Check(context_.Check(), table, "append");
  Check(state_.store().AppendColumns(table, append.row, columns, TtlOf(append.attributes)), table,
        "append");
  SyncIf(IsSynced(append));
  if (append.__isset.returnResults && !append.returnResults) return;
  get(result, table, now);
}

std::unique_ptr<CallContext> Service::NewContext() const {
  return std::make_unique<CallContext>(state_.memory, state_.stopping, state_.options.call_time);
}

int32_t Service::openScanner(const std::string& table, const wire::TScan& scan) {
  const auto id = state_.scanners.Add(
      std::make_shared<Scanner>(table, scan, NewContext(), "openScanner"), number_);
  Check(id.status(), table, "openScanner");
  return *id;
}

void Service::getScannerRows(std::vector<wire::TResult>& results, int32_t id, int32_t rows) {
  if (rows < 0) RefuseArgument("getScannerRows");
  const std::shared_ptr<Scanner> scanner = state_.scanners.Use(id);
  if (!scanner) {
    wire::TIllegalArgument error;
    error.__set_message("Invalid scanner Id");
    throw error;
  }
  try {
    const std::lock_guard lock(scanner->mutex);
    const TableDescriptor known = Known(scanner->table());
    CheckFamilies(known, scanner->columns());
    scanner->Fetch(state_.store(), static_cast<size_t>(rows), socket_,
                   state_.options.response_bytes_max, &*reply_, &results);
  } catch (...) {
    // The scanner is closed, because it may have passed rows that the client did not get.
    state_.scanners.Remove(id);
    throw;
  }
  state_.scanners.Done(id);
}

void Service::closeScanner(int32_t id) { state_.scanners.Remove(id); }

void Service::getScannerResults(std::vector<wire::TResult>& results, const std::string& table,
                                const wire::TScan& scan, int32_t rows) {
  if (rows < 0) RefuseArgument("getScannerResults");
  CheckFamilies(Known(table), scan.columns);
  Scanner scanner(table, scan, NewContext(), "getScannerResults");
  scanner.Fetch(state_.store(), static_cast<size_t>(rows), socket_,
                state_.options.response_bytes_max, &*reply_, &results);
}

}  // namespace hg::thrift2
