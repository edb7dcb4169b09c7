#include "storage/local/local_store.h"

#include "storage/base/survive.h"

namespace hg::local {

/// A scan uses a connection of its own and returns the connection to the store at the end.
class LocalStore::Cursor : public ScanCursor {
 public:
  Cursor(LocalStore* store, LocalClient daemon, RequestContext* watch)
      : store_(store), daemon_(std::move(daemon)), memory_(watch) {}
  ~Cursor() override {
    // If this fails or throws, the connection ends with the cursor, and the scan with it.
    (void)Survive([this] {
      const bool ended = ReadAnswer(daemon_.Ask(Request(Call::kEndScan))).ok();
      if (ended) store_->GiveBack(std::move(daemon_));
    });
  }

  Status Next(std::vector<Row>* rows) override {
    rows->clear();
    memory_.Remove(memory_.held());
    RETURN_IF_ERROR(ReadAnswer(daemon_.Ask(Request(Call::kNext)), rows, &examined_));
    for (const Row& row : *rows) RETURN_IF_ERROR(CountRow(row, &memory_));
    return {};
  }
  [[nodiscard]] uint64_t rows_examined() const override { return examined_; }

 private:
  LocalStore* const store_;
  LocalClient daemon_;
  uint64_t examined_ = 0;
  MemoryTally memory_;  // charges the rows returned last
};

Result<LocalClient> LocalStore::Take() {
  {
    const std::lock_guard lock(mutex_);
    if (!idle_.empty()) {
      LocalClient daemon = std::move(idle_.back());
      idle_.pop_back();
      return daemon;
    }
  }
  return LocalClient::Connect(folder_, layout_);
}

void LocalStore::GiveBack(LocalClient daemon) {
  const std::lock_guard lock(mutex_);
  idle_.push_back(std::move(daemon));
}

Result<Bytes> LocalStore::Ask(const Bytes& request) {
  ASSIGN_OR_RETURN(LocalClient daemon, Take());
  ASSIGN_OR_RETURN(Bytes answer, daemon.Ask(request));
  GiveBack(std::move(daemon));
  return answer;
}

template <typename... T>
Status LocalStore::AskStatus(Call call, const T&... arguments) {
  return ReadAnswer(Ask(Request(call, arguments...)));
}

template <typename R, typename... T>
Result<R> LocalStore::AskFor(Call call, const T&... arguments) {
  R result{};
  RETURN_IF_ERROR(ReadAnswer(Ask(Request(call, arguments...)), &result));
  return result;
}

Result<std::unique_ptr<LocalStore>> LocalStore::Connect(const std::string& folder,
                                                        const KeyLayout& layout) {
  std::unique_ptr<LocalStore> store(new LocalStore(folder, layout));
  ASSIGN_OR_RETURN(store->capabilities_, store->AskFor<StoreCapabilities>(Call::kCapabilities));
  return store;
}

Status LocalStore::CreateTable(const TableDescriptor& table) {
  return AskStatus(Call::kCreateTable, table);
}
Status LocalStore::AlterTable(const TableDescriptor& table, const TableDescriptor* before) {
  return AskStatus(Call::kAlterTable, table,
                   before == nullptr ? std::nullopt : std::optional(*before));
}
Status LocalStore::DropTable(const std::string& table) {
  return AskStatus(Call::kDropTable, table);
}
Result<TableDescriptor> LocalStore::DescribeTable(const std::string& table) {
  return AskFor<TableDescriptor>(Call::kDescribeTable, table);
}
Result<std::vector<TableDescriptor>> LocalStore::ListTables() {
  return AskFor<std::vector<TableDescriptor>>(Call::kListTables);
}

std::vector<Status> LocalStore::MutateRows(const std::string& table,
                                           const std::vector<RowMutation>& rows) {
  const auto done = AskFor<std::vector<Status>>(Call::kMutateRows, table, rows);
  if (done.ok() && done->size() == rows.size()) return *done;
  return std::vector<Status>(rows.size(), done.ok() ? Garbled() : done.status());
}
Status LocalStore::DeleteRow(const std::string& table, ByteView key) {
  return AskStatus(Call::kDeleteRow, table, key);
}
Result<Row> LocalStore::GetCells(const std::string& table, ByteView key,
                                 const CellSelection& wanted) {
  ASSIGN_OR_RETURN(Row row, AskFor<Row>(Call::kGetCells, table, key, wanted));
  MemoryTally memory(wanted.context);
  RETURN_IF_ERROR(CountRow(row, &memory));
  return row;
}
std::vector<Result<Row>> LocalStore::GetRows(const std::string& table,
                                             const std::vector<Bytes>& keys,
                                             const CellSelection& wanted) {
  const auto rows = AskFor<std::vector<Result<Row>>>(Call::kGetRows, table, keys, wanted);
  if (rows.ok() && rows->size() == keys.size()) return *rows;
  return std::vector<Result<Row>>(keys.size(), rows.ok() ? Garbled() : rows.status());
}
Result<std::vector<int64_t>> LocalStore::IncrementColumns(
    const std::string& table, ByteView key, const std::vector<ColumnIncrement>& columns,
    std::optional<int64_t> ttl_ms) {
  ASSIGN_OR_RETURN(auto sums, AskFor<std::vector<int64_t>>(Call::kIncrementColumns, table, key,
                                                           columns, ttl_ms));
  if (sums.size() != columns.size()) return Garbled();
  return sums;
}
Status LocalStore::AppendColumns(const std::string& table, ByteView key,
                                 const std::vector<ColumnAppend>& columns,
                                 std::optional<int64_t> ttl_ms) {
  return AskStatus(Call::kAppendColumns, table, key, columns, ttl_ms);
}
Result<bool> LocalStore::CompareAndMutate(ByteView family, ByteView qualifier,
                                          const Expected& expected, const std::string& table,
                                          const RowMutation& mutation) {
  return AskFor<bool>(Call::kCompareAndMutate, family, qualifier, expected, table, mutation);
}
Result<bool> LocalStore::MutateIfUnchanged(ByteView family, const std::vector<Cell>& cells,
                                           const std::string& table, const RowMutation& mutation) {
  return AskFor<bool>(Call::kMutateIfUnchanged, family, cells, table, mutation);
}

Result<std::unique_ptr<ScanCursor>> LocalStore::Scan(const ScanSpec& spec) {
  ASSIGN_OR_RETURN(LocalClient daemon, Take());
  const auto answer = daemon.Ask(Request(Call::kScan, spec));
  if (const Status opened = ReadAnswer(answer); !opened.ok()) {
    if (answer.ok()) GiveBack(std::move(daemon));
    return opened;
  }
  return std::unique_ptr<ScanCursor>(
      std::make_unique<Cursor>(this, std::move(daemon), spec.context));
}

Result<std::vector<RegionInfo>> LocalStore::Regions(const std::string& table,
                                                    RequestContext* /*context*/) {
  return AskFor<std::vector<RegionInfo>>(Call::kRegions, table);
}
Result<std::vector<Bytes>> LocalStore::RegionStarts(const std::string& table) {
  return AskFor<std::vector<Bytes>>(Call::kRegionStarts, table);
}
Status LocalStore::Flush() { return AskStatus(Call::kFlush); }
Status LocalStore::Compact(RequestContext* /*context*/) { return AskStatus(Call::kCompact); }
Status LocalStore::CompactTable(const std::string& table, RequestContext* /*context*/) {
  return AskStatus(Call::kCompactTable, table);
}
Result<Bytes> LocalStore::Split(const std::string& table, ByteView key_of_region,
                                const std::optional<Bytes>& at) {
  return AskFor<Bytes>(Call::kSplit, table, key_of_region, at);
}
Status LocalStore::MergeRegions(const std::string& table, const Bytes& boundary,
                                RequestContext* /*context*/) {
  return AskStatus(Call::kMergeRegions, table, boundary);
}
Status LocalStore::Sync() { return AskStatus(Call::kSync); }

}  // namespace hg::local
