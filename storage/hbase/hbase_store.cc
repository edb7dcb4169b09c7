#include "storage/hbase/hbase_store.h"

#include <algorithm>
#include <limits>
#include <map>
#include <utility>

#include "storage/hbase/check_request.h"
#include "storage/hbase/client.h"
#include "storage/hbase/filter_bytes.h"
#include "storage/hbase/put_queue.h"
#include "storage/hbase/row_changes.h"
#include "storage/hbase/spool.h"
#include "storage/hbase/wire_types.h"
#include "storage/points/filter_row.h"

namespace hg::hbase {
namespace {

using Service = wire::THBaseServiceClient;

Status CheckOptions(const HbaseOptions& options) {
  if (options.gateways.empty()) return Status::InvalidArgument("no HBase gateway is configured");
  if (options.connections < 1 || options.connections > 16) {
    return Status::InvalidArgument(std::to_string(options.connections) +
                                   " connections to a gateway: 1 to 16 are allowed");
  }
  if (options.compact && options.transport == Transport::kHttp) {
    return Status::InvalidArgument(
        "gateways support only the binary protocol over HTTP, not the compact protocol");
  }
  return {};
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

}  // namespace

HbaseStore::HbaseStore(std::unique_ptr<Client> client)
    : client_(std::move(client)), puts_(std::make_unique<PutQueue>(client_.get())) {}
HbaseStore::~HbaseStore() = default;

Result<std::unique_ptr<HbaseStore>> HbaseStore::Connect(const HbaseOptions& options,
                                                        FileSystem& files) {
  RETURN_IF_ERROR(CheckOptions(options));
  auto client = std::make_unique<Client>(options);
  const auto greet = [](Service& service) { (void)service.getThriftServerType(); };
  RETURN_IF_ERROR(client->Send({"getThriftServerType", ""}, greet));
  std::unique_ptr<HbaseStore> store(new HbaseStore(std::move(client)));
  if (options.spool) RETURN_IF_ERROR(store->OpenSpool(files));
  return store;
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
  Row row = Chosen(Bytes(key), std::move(result), wanted);
  MemoryTally memory(wanted.context);
  RETURN_IF_ERROR(CountRow(row, &memory));
  return row;
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

Result<std::vector<int64_t>> HbaseStore::IncrementColumns(
    const std::string& table, ByteView key, const std::vector<ColumnIncrement>& columns,
    std::optional<int64_t> ttl_ms) {
  RETURN_IF_ERROR(CheckKey(key));
  // The call to HBase names each column once, with the sum of its increments. The result of each
  // increment is computed from the last value that HBase returns.
  std::map<std::pair<Bytes, Bytes>, uint64_t> totals;
  for (const ColumnIncrement& column : columns) {
    totals[{column.family, column.qualifier}] += static_cast<uint64_t>(column.by);
  }
  wire::TIncrement increment;
  increment.row = Bytes(key);
  increment.__set_durability(DurabilityOf(client_->options.write_ahead));
  increment.__set_returnResults(true);
  if (ttl_ms) increment.__set_attributes(TtlAttribute(*ttl_ms));
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
    if (cell.value.size() != 8) return Status::IoError("HBase returned a counter not of 8 bytes");
    const std::pair<Bytes, Bytes> column(cell.family, cell.qualifier);
    before[column] = ReadBig64(cell.value.data()) - totals[column];
  }
  std::vector<int64_t> sums;
  for (const ColumnIncrement& column : columns) {
    const auto sum = before.find({column.family, column.qualifier});
    if (sum == before.end()) return Status::IoError("HBase returned no value of a counter");
    sum->second += static_cast<uint64_t>(column.by);
    sums.push_back(static_cast<int64_t>(sum->second));
  }
  return sums;
}

Result<bool> HbaseStore::MutationHolds(const std::string& table, const RowMutation& row) {
  const auto deletes_family = [](const CellChange& change) {
    return change.kind == CellChange::Kind::kDeleteFamily;
  };
  CellSelection changed;
  if (std::ranges::any_of(row.changes, deletes_family)) {
    changed.max_versions = std::numeric_limits<int32_t>::max();
  } else {
    for (const CellChange& change : row.changes) changed.qualifiers.push_back(change.qualifier);
  }
  ASSIGN_OR_RETURN(const Row now, GetCells(table, row.key, changed));
  return std::all_of(row.changes.begin(), row.changes.end(), [&](const CellChange& change) {
    if (deletes_family(change)) {
      return std::ranges::none_of(now.cells, [&](const Cell& c) {
        return c.family == change.family &&
               c.timestamp_ms <= change.timestamp_ms.value_or(c.timestamp_ms);
      });
    }
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
  // The column may differ from the expected value because an earlier attempt already changed it.
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
    if (change.timestamp_ms) continue;
    if (change.kind == CellChange::Kind::kDeleteFamily && change.family == family) {
      for (const Cell& cell : cells)
        change.timestamp_ms = std::max(change.timestamp_ms.value_or(0), cell.timestamp_ms);
    }
    if (change.kind != CellChange::Kind::kDeleteColumn) continue;
    if (const auto cell = compared(change); cell != cells.end()) {
      change.timestamp_ms = cell->timestamp_ms;
    }
  }
  // The guard is preferably an existing column that the mutation changes: the comparison then fails
  // if another writer compacted or deleted the row. An absent column would also be absent in a
  // deleted row.
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
  if (spool_) stats.spool = spool_->Stats();
  return stats;
}

Status HbaseStore::TakesWrites() const {
  const Status reachable = client_->pool.Reachable();
  if (!spool_) return reachable;
  return reachable.ok() && !spool_->holding() ? Status() : spool_->Room();
}

Status HbaseStore::Sync() { return spool_ ? spool_->Sync() : Status(); }

Status HbaseStore::Flush() {
  return Status::Unsupported("HBase's gateway cannot flush; in HBase's shell: flush 'TABLE'");
}

Status HbaseStore::Compact(RequestContext* /*context*/) {
  return Status::Unsupported(
      "HBase's gateway cannot compact; in HBase's shell: major_compact 'TABLE'");
}

}  // namespace hg::hbase
