#include "storage/hbase/hbase_store.h"

#include <algorithm>
#include <chrono>
#include <map>
#include <thread>
#include <utility>

#include "storage/hbase/check_request.h"
#include "storage/hbase/client.h"
#include "storage/hbase/filter_bytes.h"
#include "storage/hbase/put_queue.h"
#include "storage/hbase/row_changes.h"
#include "storage/hbase/wire_types.h"
#include "storage/points/filter_row.h"

namespace hg::hbase {
namespace {

using Service = wire::THBaseServiceClient;

Status CheckOptions(const HbaseOptions& options) {
  if (options.gateways.empty()) return Status::InvalidArgument("no gateway of HBase is named");
  if (options.connections < 1 || options.connections > 16) {
    return Status::InvalidArgument(std::to_string(options.connections) +
                                   " connections to a gateway: 1 to 16 are allowed");
  }
  if (options.compact && options.transport == Transport::kHttp) {
    return Status::InvalidArgument("gateways speak the binary protocol over HTTP, not the compact");
  }
  return {};
}

// HBase takes a put of the millisecond of a delete for an older one, whatever came first: whoever
// hears that something was deleted may put it again at once.
void LetDeleteGrowOld() { std::this_thread::sleep_for(std::chrono::milliseconds(1)); }

size_t BytesOf(const RowMutation& row) {
  size_t bytes = 0;
  for (const CellChange& change : row.changes) {
    bytes += row.key.size() + change.family.size() + change.qualifier.size() + change.value.size();
  }
  return bytes;
}

bool Selects(const CellSelection& wanted, wire::TGet* get) {
  get->columns = ChosenColumns(wanted);
  get->__isset.columns = !get->columns.empty();
  get->__set_maxVersions(wanted.max_versions);
  if (Bytes filter = FilterBytes(wanted, {}); !filter.empty()) get->__set_filterBytes(filter);
  if (AllTimes(wanted)) return true;
  wire::TTimeRange range;
  const bool any = ChosenTimes(wanted, &range);
  get->__set_timeRange(range);
  return any;
}

Row Chosen(Bytes key, wire::TResult result, const CellSelection& wanted) {
  Row row = ReadRow(std::move(result));
  row.key = std::move(key);
  std::erase_if(row.cells, [&](const Cell& cell) {
    return !points::ColumnChosen(wanted, cell.family, cell.qualifier);
  });
  points::Strip(wanted, &row.cells);
  return row;
}

// Without a time it is the newest version that goes: a second time, the one below it.
bool DeletesMoreAgain(const CellChange& change) {
  return change.kind == CellChange::Kind::kDeleteVersion && !change.timestamp_ms;
}

// Rows of puts that are sent together.
class PutBatch {
 public:
  PutBatch(PutQueue* queue, const HbaseOptions& options, const std::string& table,
           std::vector<Status>* statuses)
      : queue_(queue), options_(options), table_(table), statuses_(statuses) {}

  void Add(size_t place, wire::TPut put, size_t bytes) {
    if (puts_.size() == options_.batch_rows || bytes_ + bytes > options_.batch_bytes) Send();
    puts_.push_back({std::move(put), bytes});
    places_.push_back(place);
    bytes_ += bytes;
  }

  void Send() {
    if (puts_.empty()) return;
    std::vector<Status> sent = queue_->Send(table_, std::exchange(puts_, {}));
    for (size_t i = 0; i < sent.size(); ++i) (*statuses_)[places_[i]] = std::move(sent[i]);
    places_.clear();
    bytes_ = 0;
  }

 private:
  PutQueue* const queue_;
  const HbaseOptions& options_;
  const std::string& table_;
  std::vector<Status>* const statuses_;
  std::vector<PutQueue::Put> puts_;
  std::vector<size_t> places_;  // of their statuses
  size_t bytes_ = 0;
};

}  // namespace

HbaseStore::HbaseStore(std::unique_ptr<Client> client)
    : client_(std::move(client)), puts_(std::make_unique<PutQueue>(client_.get())) {}
HbaseStore::~HbaseStore() = default;

Result<std::unique_ptr<HbaseStore>> HbaseStore::Connect(const HbaseOptions& options) {
  RETURN_IF_ERROR(CheckOptions(options));
  auto client = std::make_unique<Client>(options);
  const auto greet = [](Service& service) { (void)service.getThriftServerType(); };
  RETURN_IF_ERROR(client->Send({"getThriftServerType", ""}, greet));
  return std::unique_ptr<HbaseStore>(new HbaseStore(std::move(client)));
}

Result<std::vector<CellChange>> HbaseStore::Settle(const std::string& table,
                                                   const RowMutation& row) {
  RETURN_IF_ERROR(CheckMutation(row));
  return SettleOrder(row.changes, [&](const Bytes& family) -> Result<std::vector<Bytes>> {
    CellSelection names;
    names.family = family;
    names.keys_only = true;
    ASSIGN_OR_RETURN(const Row present, GetCells(table, row.key, names));
    std::vector<Bytes> qualifiers;
    for (const Cell& cell : present.cells) qualifiers.push_back(cell.qualifier);
    return qualifiers;
  });
}

Status HbaseStore::MutateRow(const std::string& table, const RowMutation& row) {
  ASSIGN_OR_RETURN(const std::vector<CellChange> changes, Settle(table, row));
  if (changes.empty()) return {};
  const wire::TRowMutations mutations =
      WriteChanges(row.key, changes, DurabilityOf(client_->options.write_ahead));
  const bool again = std::none_of(changes.begin(), changes.end(), DeletesMoreAgain);
  RETURN_IF_ERROR(client_->Send({"mutateRow", table, again ? Repeat::kAlways : Repeat::kIfNotDone},
                                [&](Service& service) { service.mutateRow(table, mutations); }));
  if (DeletesNow(changes)) LetDeleteGrowOld();
  return {};
}

std::vector<Status> HbaseStore::MutateRows(const std::string& table,
                                           const std::vector<RowMutation>& rows) {
  std::vector<Status> statuses(rows.size());
  PutBatch batch(puts_.get(), client_->options, table, &statuses);
  bool refused = false;
  for (size_t i = 0; i < rows.size(); ++i) {
    const RowMutation& row = rows[i];
    const auto is_put = [](const CellChange& c) { return c.kind == CellChange::Kind::kPut; };
    if (row.changes.empty() || !std::all_of(row.changes.begin(), row.changes.end(), is_put)) {
      batch.Send();
      statuses[i] = MutateRow(table, row);
      continue;
    }
    RowMutation settled{row.key, {}};
    auto changes = Settle(table, row);
    if (!changes.ok()) {
      statuses[i] = changes.status();
      refused = true;
      continue;
    }
    settled.changes = std::move(*changes);
    wire::TPut put;
    if (WritePut(settled, DurabilityOf(client_->options.write_ahead), &put)) {
      batch.Add(i, std::move(put), BytesOf(settled));
    } else {
      batch.Send();
      statuses[i] = MutateRow(table, row);
    }
  }
  batch.Send();
  // What was refused here was not asked about; without its table nothing can be.
  const bool missing = std::any_of(statuses.begin(), statuses.end(), [](const Status& status) {
    return status.code() == StatusCode::kNotFound;
  });
  if (refused && missing) {
    const Status there = DescribeTable(table).status();
    if (there.code() == StatusCode::kNotFound) std::fill(statuses.begin(), statuses.end(), there);
  }
  return statuses;
}

Status HbaseStore::DeleteRow(const std::string& table, ByteView key) {
  RETURN_IF_ERROR(CheckKey(key));
  wire::TDelete gone;
  gone.row = Bytes(key);
  gone.__set_durability(DurabilityOf(client_->options.write_ahead));
  RETURN_IF_ERROR(client_->Send({"deleteSingle", table},
                                [&](Service& service) { service.deleteSingle(table, gone); }));
  LetDeleteGrowOld();
  return {};
}

Result<Row> HbaseStore::Get(const std::string& table, ByteView key, ByteView family,
                            const std::vector<Bytes>& qualifiers) {
  CellSelection wanted;
  wanted.family = Bytes(family);
  wanted.qualifiers = qualifiers;
  return GetCells(table, key, wanted);
}

Result<Row> HbaseStore::GetCells(const std::string& table, ByteView key,
                                 const CellSelection& wanted) {
  RETURN_IF_ERROR(CheckKey(key));
  wire::TGet get;
  get.row = Bytes(key);
  if (!Selects(wanted, &get)) return Row{Bytes(key), {}};
  wire::TResult result;
  RETURN_IF_ERROR(client_->Send({"get", table}, [&](Service& service) {
    result = {};
    service.get(result, table, get);
  }));
  return Chosen(Bytes(key), std::move(result), wanted);
}

std::vector<Result<Row>> HbaseStore::GetRows(const std::string& table,
                                             const std::vector<Bytes>& keys,
                                             const CellSelection& wanted) {
  std::vector<Result<Row>> rows(keys.size(), Row());
  for (size_t at = 0; at < keys.size();) {
    std::vector<Bytes> some;
    std::vector<size_t> places;
    for (; at < keys.size() && some.size() < client_->options.batch_rows; ++at) {
      if (Status s = CheckKey(keys[at]); !s.ok()) {
        rows[at] = s;
        continue;
      }
      some.push_back(keys[at]);
      places.push_back(at);
    }
    auto batch = GetBatch(table, some, wanted);
    for (size_t i = 0; i < places.size(); ++i) {
      if (batch.ok()) {
        rows[places[i]] = std::move((*batch)[i]);
      } else {
        rows[places[i]] = batch.status();
      }
    }
  }
  return rows;
}

Result<std::vector<Row>> HbaseStore::GetBatch(const std::string& table,
                                              const std::vector<Bytes>& keys,
                                              const CellSelection& wanted) {
  std::vector<Row> rows;
  rows.reserve(keys.size());
  wire::TGet get;
  const bool any = Selects(wanted, &get) && !keys.empty();
  std::vector<wire::TResult> results(keys.size());
  if (any) {
    std::vector<wire::TGet> gets(keys.size(), get);
    for (size_t i = 0; i < keys.size(); ++i) gets[i].row = keys[i];
    RETURN_IF_ERROR(client_->Send({"getMultiple", table}, [&](Service& service) {
      results.clear();
      service.getMultiple(results, table, gets);
    }));
  }
  if (results.size() != keys.size()) {
    return Status::IoError("HBase answers " + std::to_string(keys.size()) + " gets with " +
                           std::to_string(results.size()) + " rows");
  }
  for (size_t i = 0; i < keys.size(); ++i) {
    rows.push_back(Chosen(keys[i], std::move(results[i]), wanted));
  }
  return rows;
}

Result<int64_t> HbaseStore::Increment(const std::string& table, ByteView key, ByteView family,
                                      ByteView qualifier, int64_t by) {
  ASSIGN_OR_RETURN(const std::vector<int64_t> sums,
                   IncrementColumns(table, key, {{Bytes(family), Bytes(qualifier), by}}));
  return sums[0];
}

Result<std::vector<int64_t>> HbaseStore::IncrementColumns(
    const std::string& table, ByteView key, const std::vector<ColumnIncrement>& columns) {
  RETURN_IF_ERROR(CheckKey(key));
  // HBase is told each column once; sums in between are counted back from the last one.
  std::map<std::pair<Bytes, Bytes>, uint64_t> totals;
  for (const ColumnIncrement& column : columns) {
    totals[{column.family, column.qualifier}] += static_cast<uint64_t>(column.by);
  }
  wire::TIncrement increment;
  increment.row = Bytes(key);
  increment.__set_durability(DurabilityOf(client_->options.write_ahead));
  increment.__set_returnResults(true);
  for (const auto& [column, total] : totals) {
    wire::TColumnIncrement& one = increment.columns.emplace_back();
    one.family = column.first;
    one.qualifier = column.second;
    one.__set_amount(static_cast<int64_t>(total));
  }
  wire::TResult result;
  RETURN_IF_ERROR(client_->Send({"increment", table, Repeat::kIfNotDone}, [&](Service& service) {
    result = {};
    service.increment(result, table, increment);
  }));
  std::map<std::pair<Bytes, Bytes>, uint64_t> before;
  for (const wire::TColumnValue& cell : result.columnValues) {
    if (cell.value.size() != 8) return Status::IoError("HBase counts in other than 8 bytes");
    const std::pair<Bytes, Bytes> column(cell.family, cell.qualifier);
    before[column] = ReadBig64(cell.value.data()) - totals[column];
  }
  std::vector<int64_t> sums;
  for (const ColumnIncrement& column : columns) {
    const auto sum = before.find({column.family, column.qualifier});
    if (sum == before.end()) return Status::IoError("HBase counts without an answer");
    sum->second += static_cast<uint64_t>(column.by);
    sums.push_back(static_cast<int64_t>(sum->second));
  }
  return sums;
}

Status HbaseStore::Append(const std::string& table, ByteView key, ByteView family,
                          ByteView qualifier, ByteView value) {
  RETURN_IF_ERROR(CheckKey(key));
  wire::TAppend append;
  append.row = Bytes(key);
  append.__set_durability(DurabilityOf(client_->options.write_ahead));
  append.__set_returnResults(false);
  wire::TColumnValue& cell = append.columns.emplace_back();
  cell.family = Bytes(family);
  cell.qualifier = Bytes(qualifier);
  cell.value = Bytes(value);
  return client_->Send({"append", table, Repeat::kIfNotDone}, [&](Service& service) {
    wire::TResult unused;
    service.append(unused, table, append);
  });
}

Result<bool> HbaseStore::MutationHolds(const std::string& table, const RowMutation& row) {
  ASSIGN_OR_RETURN(const Row now, GetCells(table, row.key, {}));
  return std::all_of(row.changes.begin(), row.changes.end(), [&](const CellChange& change) {
    const auto cell = std::find_if(now.cells.begin(), now.cells.end(), [&](const Cell& c) {
      return c.family == change.family && c.qualifier == change.qualifier;
    });
    if (change.kind == CellChange::Kind::kPut) {
      return cell != now.cells.end() && cell->value == change.value;
    }
    return change.kind != CellChange::Kind::kDeleteColumn || cell == now.cells.end();
  });
}

Result<bool> HbaseStore::CompareAndMutate(ByteView family, ByteView qualifier,
                                          const Expected& expected, const std::string& table,
                                          const RowMutation& mutation) {
  ASSIGN_OR_RETURN(std::vector<CellChange> changes, Settle(table, mutation));
  const RowMutation settled{mutation.key, std::move(changes)};
  const wire::TRowMutations wanted =
      WriteChanges(settled.key, settled.changes, DurabilityOf(client_->options.write_ahead));
  bool done = false;
  CallTrace trace;
  RETURN_IF_ERROR(client_->Send(
      {"checkAndMutate", table},
      [&](Service& service) {
        done = service.checkAndMutate(table, settled.key, Bytes(family), Bytes(qualifier),
                                      wire::TCompareOperator::EQUAL, expected.value_or(""), wanted);
      },
      &trace));
  // The column may be other than expected because an earlier attempt made it so.
  if (!done && trace.repeated_blindly) {
    ASSIGN_OR_RETURN(done, MutationHolds(table, settled));
  }
  if (done && DeletesNow(settled.changes)) LetDeleteGrowOld();
  return done;
}

Result<bool> HbaseStore::MutateIfUnchanged(ByteView family, const std::vector<Cell>& cells,
                                           const std::string& table, const RowMutation& mutation) {
  ASSIGN_OR_RETURN(const Row now, Get(table, mutation.key, family));
  if (now.cells != cells) return false;
  const auto compared = [&](const CellChange& change) {
    return std::find_if(cells.begin(), cells.end(), [&](const Cell& cell) {
      return cell.family == change.family && cell.qualifier == change.qualifier;
    });
  };
  RowMutation dated = mutation;
  for (CellChange& change : dated.changes) {
    if (change.kind != CellChange::Kind::kDeleteColumn || change.timestamp_ms) continue;
    if (const auto cell = compared(change); cell != cells.end()) {
      change.timestamp_ms = cell->timestamp_ms;
    }
  }
  // A column that is there and is to be changed, if there is one: it fails where another one has
  // folded the row, or deleted it. That a column is absent holds of a deleted row, too.
  const Cell* guard = nullptr;
  for (const CellChange& change : dated.changes) {
    const auto cell = compared(change);
    if (cell == cells.end() || cell->family != family || cell->value.empty()) continue;
    guard = &*cell;
    break;
  }
  if (guard != nullptr) {
    return CompareAndMutate(family, guard->qualifier, guard->value, table, dated);
  }
  const auto put = std::find_if(dated.changes.begin(), dated.changes.end(), [&](const auto& c) {
    return c.kind == CellChange::Kind::kPut && c.family == family;
  });
  if (put != dated.changes.end()) {
    return CompareAndMutate(family, put->qualifier, std::nullopt, table, dated);
  }
  if (!cells.empty()) {
    const Expected expected = cells[0].value.empty() ? Expected() : Expected(cells[0].value);
    return CompareAndMutate(family, cells[0].qualifier, expected, table, dated);
  }
  RETURN_IF_ERROR(Mutate(table, {dated}));
  return true;
}

HbaseStats HbaseStore::Stats() const {
  HbaseStats stats;
  stats.calls = client_->counters.Read();
  stats.gateways = client_->pool.Connections();
  puts_->AddStats(&stats);
  return stats;
}

Status HbaseStore::Flush() {
  return Status::Unsupported("HBase's gateway cannot flush; in HBase's shell: flush 'TABLE'");
}

Status HbaseStore::Compact() {
  return Status::Unsupported(
      "HBase's gateway cannot compact; in HBase's shell: major_compact 'TABLE'");
}

}  // namespace hg::hbase
