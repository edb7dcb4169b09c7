#pragma once
// The cell store of the embedded engine.

#include <memory>
#include <string>
#include <vector>

#include "storage/engine/engine.h"
#include "storage/store.h"

namespace hg::engine {

/// Implements Store on an Engine. Thread-safe. The engine must outlive the object.
class EmbeddedStore : public Store {
 public:
  explicit EmbeddedStore(Engine& engine)
      : engine_(engine), later_(new EmbeddedStore(engine, nullptr)) {}

  Status CreateTable(const TableDescriptor& table) override;
  Status AlterTable(const TableDescriptor& table, const TableDescriptor* before = nullptr) override;
  Status DropTable(const std::string& table) override;
  Result<TableDescriptor> DescribeTable(const std::string& table) override;
  Result<std::vector<TableDescriptor>> ListTables() override;
  std::vector<Status> MutateRows(const std::string& table,
                                 const std::vector<RowMutation>& rows) override;
  Status DeleteRow(const std::string& table, ByteView key) override;
  Result<Row> GetCells(const std::string& table, ByteView key,
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
  std::vector<Result<Row>> GetRows(const std::string& table, const std::vector<Bytes>& keys,
                                   const CellSelection& wanted) override;
  Result<std::unique_ptr<ScanCursor>> Scan(const ScanSpec& spec) override;
  [[nodiscard]] StoreCapabilities Capabilities() const override {
    return {.seek_filters = true, .region_admin = true};
  }
  Result<std::vector<RegionInfo>> Regions(const std::string& table,
                                          RequestContext* context) override;
  Result<std::vector<Bytes>> RegionStarts(const std::string& table) override;
  Status Flush() override { return engine_.Flush(); }
  Status Compact(RequestContext* context) override { return engine_.Compact(context); }
  Status CompactTable(const std::string& table, RequestContext* context) override;
  Result<Bytes> Split(const std::string& table, ByteView key_of_region,
                      const std::optional<Bytes>& at) override;
  Status MergeRegions(const std::string& table, const Bytes& boundary,
                      RequestContext* context) override;
  Store& CommittedLater() override { return later_ ? *later_ : *this; }
  Status Sync() override { return engine_.Sync(); }

 private:
  EmbeddedStore(Engine& engine, std::nullptr_t) : engine_(engine) {}

  /// Waits until the position is committed. Returns at once if this object is the store of
  /// CommittedLater, whose writes are committed later.
  Status Commit(LogPosition position) {
    return later_ ? engine_.CommitAndWait(position) : Status();
  }

  Engine& engine_;
  const std::unique_ptr<EmbeddedStore> later_;  // the store of CommittedLater; null in that store
};

}  // namespace hg::engine
