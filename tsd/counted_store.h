#pragma once
// A cell store that passes all calls to another cell store and counts them, for the statistics
// hbase.rpcs. OpenTSDB gets these numbers from its HBase client library (opentsdb-schema.md §20).

#include <atomic>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "storage/store.h"
#include "tsd/backend.h"

namespace hg::tsd {

/// The numbers of calls to a cell store, for each kind of call that OpenTSDB distinguishes.
struct StoreCalls {
  uint64_t get = 0, put = 0, append = 0, remove = 0, increment = 0;
  uint64_t open_scanner = 0, scan = 0;
  uint64_t batched = 0;  // number of puts that came with other puts in one row mutation
};

/// Passes the numbers of calls to `visit`, under the names that OpenTSDB uses.
void ShowStoreCalls(const StoreCalls& calls, const StatVisitor& visit);

/// Passes every call to another store. Counts one put for each cell that is put, and one delete for
/// each delete; conditional puts and deletes count as well. The object is thread-safe.
class CountedStore : public Store {
 public:
  /// `store` must outlive the object.
  explicit CountedStore(Store& store) : CountedStore(store, std::make_shared<Counters>()) {}

  [[nodiscard]] StoreCalls calls() const;

  Status CreateTable(const TableDescriptor& table) override { return store_.CreateTable(table); }
  Status AlterTable(const TableDescriptor& table, const TableDescriptor* before) override {
    return store_.AlterTable(table, before);
  }
  Status DropTable(const std::string& table) override { return store_.DropTable(table); }
  Result<TableDescriptor> DescribeTable(const std::string& table) override {
    return store_.DescribeTable(table);
  }
  Result<std::vector<TableDescriptor>> ListTables() override { return store_.ListTables(); }
  std::vector<Status> MutateRows(const std::string& table,
                                 const std::vector<RowMutation>& rows) override;
  Status DeleteRow(const std::string& table, ByteView key) override;
  Result<Row> GetCells(const std::string& table, ByteView key,
                       const CellSelection& wanted) override;
  std::vector<Result<Row>> GetRows(const std::string& table, const std::vector<Bytes>& keys,
                                   const CellSelection& wanted) override;
  Result<std::vector<int64_t>> IncrementColumns(const std::string& table, ByteView key,
                                                const std::vector<ColumnIncrement>& columns,
                                                std::optional<int64_t> ttl_ms) override;
  Status AppendColumns(const std::string& table, ByteView key,
                       const std::vector<ColumnAppend>& columns,
                       std::optional<int64_t> ttl_ms) override;
  Result<bool> CompareAndMutate(ByteView family, ByteView qualifier, const Expected& expected,
                                const std::string& table, const RowMutation& mutation) override;
  Result<bool> MutateIfUnchanged(ByteView family, const std::vector<Cell>& cells,
                                 const std::string& table, const RowMutation& mutation) override;
  Result<std::unique_ptr<ScanCursor>> Scan(const ScanSpec& spec) override;
  [[nodiscard]] StoreCapabilities Capabilities() const override { return store_.Capabilities(); }
  Result<std::vector<RegionInfo>> Regions(const std::string& table,
                                          RequestContext* context) override {
    return store_.Regions(table, context);
  }
  Result<std::vector<Bytes>> RegionStarts(const std::string& table) override {
    return store_.RegionStarts(table);
  }
  Status Flush() override { return store_.Flush(); }
  Status Compact(RequestContext* context) override { return store_.Compact(context); }
  Status CompactTable(const std::string& table, RequestContext* context) override {
    return store_.CompactTable(table, context);
  }
  Result<Bytes> Split(const std::string& table, ByteView key_of_region,
                      const std::optional<Bytes>& at) override {
    return store_.Split(table, key_of_region, at);
  }
  Status MergeRegions(const std::string& table, const Bytes& boundary,
                      RequestContext* context) override {
    return store_.MergeRegions(table, boundary, context);
  }
  Store& CommittedLater() override { return later_ ? *later_ : *this; }
  Status Sync() override { return store_.Sync(); }

 private:
  using Counter = std::atomic<uint64_t>;
  struct Counters {
    Counter get{0}, put{0}, append{0}, remove{0}, increment{0}, open_scanner{0}, scan{0},
        batched{0};
  };

  CountedStore(Store& store, std::shared_ptr<Counters> counters)
      : store_(store), counters_(std::move(counters)) {
    Store& later = store.CommittedLater();
    if (&later != &store) later_.reset(new CountedStore(later, counters_));
  }
  void CountChanges(const RowMutation& row);

  Store& store_;
  /// The counters. later_ uses the same counters. Scan cursors increment these counters, so a
  /// cursor must not outlive this object.
  const std::shared_ptr<Counters> counters_;
  /// Counts the calls to store_.CommittedLater(). nullptr: that function returns store_ itself.
  std::unique_ptr<CountedStore> later_;
};

}  // namespace hg::tsd
