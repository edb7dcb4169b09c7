#include "tsd/counted_store.h"

#include <algorithm>
#include <utility>

namespace hg::tsd {
namespace {

using Counter = std::atomic<uint64_t>;

void Add(Counter* counter, uint64_t by = 1) { counter->fetch_add(by, std::memory_order_relaxed); }
uint64_t Read(const Counter& counter) { return counter.load(std::memory_order_relaxed); }

class CountedCursor : public ScanCursor {
 public:
  CountedCursor(std::unique_ptr<ScanCursor> cursor, Counter* fetches)
      : cursor_(std::move(cursor)), fetches_(fetches) {}
  Status Next(std::vector<Row>* rows) override {
    Add(fetches_);
    return cursor_->Next(rows);
  }
  [[nodiscard]] uint64_t rows_examined() const override { return cursor_->rows_examined(); }

 private:
  const std::unique_ptr<ScanCursor> cursor_;
  Counter* const fetches_;
};

}  // namespace

void ShowStoreCalls(const StoreCalls& calls, const StatVisitor& visit) {
  const std::pair<const char*, uint64_t> kinds[] = {{"increment", calls.increment},
                                                    {"delete", calls.remove},
                                                    {"get", calls.get},
                                                    {"put", calls.put},
                                                    {"append", calls.append},
                                                    {"rowLock", 0},
                                                    {"openScanner", calls.open_scanner},
                                                    {"scan", calls.scan}};
  for (const auto& [kind, count] : kinds)
    visit("hbase.rpcs", std::string("type=") + kind, static_cast<int64_t>(count));
  visit("hbase.rpcs.batched", "", static_cast<int64_t>(calls.batched));
}

StoreCalls CountedStore::calls() const {
  return {.get = Read(counters_->get),
          .put = Read(counters_->put),
          .append = Read(counters_->append),
          .remove = Read(counters_->remove),
          .increment = Read(counters_->increment),
          .open_scanner = Read(counters_->open_scanner),
          .scan = Read(counters_->scan),
          .batched = Read(counters_->batched)};
}

void CountedStore::CountChanges(const RowMutation& row) {
  const auto puts = std::count_if(row.changes.begin(), row.changes.end(), [](const CellChange& c) {
    return c.kind == CellChange::Kind::kPut;
  });
  Add(&counters_->put, static_cast<uint64_t>(puts));
  Add(&counters_->remove, row.changes.size() - static_cast<uint64_t>(puts));
  if (puts > 1) Add(&counters_->batched, static_cast<uint64_t>(puts));
}

std::vector<Status> CountedStore::MutateRows(const std::string& table,
                                             const std::vector<RowMutation>& rows) {
  for (const RowMutation& row : rows) CountChanges(row);
  return store_.MutateRows(table, rows);
}

Status CountedStore::DeleteRow(const std::string& table, ByteView key) {
  Add(&counters_->remove);
  return store_.DeleteRow(table, key);
}

Result<Row> CountedStore::GetCells(const std::string& table, ByteView key,
                                   const CellSelection& wanted) {
  Add(&counters_->get);
  return store_.GetCells(table, key, wanted);
}

std::vector<Result<Row>> CountedStore::GetRows(const std::string& table,
                                               const std::vector<Bytes>& keys,
                                               const CellSelection& wanted) {
  Add(&counters_->get, keys.size());
  return store_.GetRows(table, keys, wanted);
}

Result<std::vector<int64_t>> CountedStore::IncrementColumns(
    const std::string& table, ByteView key, const std::vector<ColumnIncrement>& columns,
    std::optional<int64_t> ttl_ms) {
  Add(&counters_->increment, columns.size());
  return store_.IncrementColumns(table, key, columns, ttl_ms);
}

Status CountedStore::AppendColumns(const std::string& table, ByteView key,
                                   const std::vector<ColumnAppend>& columns,
                                   std::optional<int64_t> ttl_ms) {
  Add(&counters_->append, columns.size());
  return store_.AppendColumns(table, key, columns, ttl_ms);
}

Result<bool> CountedStore::CompareAndMutate(ByteView family, ByteView qualifier,
                                            const Expected& expected, const std::string& table,
                                            const RowMutation& mutation) {
  CountChanges(mutation);
  return store_.CompareAndMutate(family, qualifier, expected, table, mutation);
}

Result<bool> CountedStore::MutateIfUnchanged(ByteView family, const std::vector<Cell>& cells,
                                             const std::string& table,
                                             const RowMutation& mutation) {
  CountChanges(mutation);
  return store_.MutateIfUnchanged(family, cells, table, mutation);
}

Result<std::unique_ptr<ScanCursor>> CountedStore::Scan(const ScanSpec& spec) {
  Add(&counters_->open_scanner);
  ASSIGN_OR_RETURN(std::unique_ptr<ScanCursor> cursor, store_.Scan(spec));
  return std::unique_ptr<ScanCursor>(
      std::make_unique<CountedCursor>(std::move(cursor), &counters_->scan));
}

}  // namespace hg::tsd
