#pragma once
// The cell store of a daemon on this machine (local_server.h). Each call runs in the store of the
// daemon. In addition to the errors of Store, a call may return two errors: Unavailable if the
// daemon has stopped (a write may have been executed), and LimitExceeded if a response would be too
// large.

#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "storage/local/local_client.h"
#include "storage/model/key_layout.h"
#include "storage/store.h"

namespace hg::local {

/// Sends each call to the daemon. Thread-safe, because concurrent calls use separate connections.
class LocalStore : public Store {
 public:
  /// Connects to the daemon that uses the folder. Returns the same errors as LocalClient::Connect.
  static Result<std::unique_ptr<LocalStore>> Connect(const std::string& folder,
                                                     const KeyLayout& layout);

  Status CreateTable(const TableDescriptor& table) override;
  Status AlterTable(const TableDescriptor& table, const TableDescriptor* before) override;
  Status DropTable(const std::string& table) override;
  Result<TableDescriptor> DescribeTable(const std::string& table) override;
  Result<std::vector<TableDescriptor>> ListTables() override;
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
  [[nodiscard]] StoreCapabilities Capabilities() const override { return capabilities_; }
  /// Ignores `context`. The daemon ends the read when it stops.
  Result<std::vector<RegionInfo>> Regions(const std::string& table,
                                          RequestContext* context) override;
  Result<std::vector<Bytes>> RegionStarts(const std::string& table) override;
  Status Flush() override;
  Status Compact(RequestContext* context) override;
  Status CompactTable(const std::string& table, RequestContext* context) override;
  Result<Bytes> Split(const std::string& table, ByteView key_of_region,
                      const std::optional<Bytes>& at) override;
  Status MergeRegions(const std::string& table, const Bytes& boundary,
                      RequestContext* context) override;
  Status Sync() override;

 private:
  class Cursor;

  LocalStore(std::string folder, const KeyLayout& layout)
      : folder_(std::move(folder)), layout_(layout) {}

  /// Returns an idle connection, or a new one if none is idle.
  Result<LocalClient> Take();
  void GiveBack(LocalClient daemon);
  /// Sends the request on an idle or new connection and returns the response.
  Result<Bytes> Ask(const Bytes& request);
  template <typename... T>
  Status AskStatus(Call call, const T&... arguments);
  template <typename R, typename... T>
  Result<R> AskFor(Call call, const T&... arguments);

  const std::string folder_;
  const KeyLayout layout_;
  StoreCapabilities capabilities_;
  std::mutex mutex_;
  std::vector<LocalClient> idle_;  // guarded by mutex_
};

}  // namespace hg::local
