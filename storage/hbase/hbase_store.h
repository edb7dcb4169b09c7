#pragma once
// Implements the cell store over HBase through HBase's Thrift2 gateway (hbase-backend.md). The
// store uses the tables of a cluster, including the tables of OpenTSDB.
//
// Differences from the embedded store:
// - The times of cells come from the clock of HBase.
// - If one mutation deletes a column and then puts it, the put replaces only the newest version
//   (row_changes.h).
// - MutateIfUnchanged reads and compares all cells, but its write depends on only one of the
//   compared columns.
// - Regions cannot be flushed, merged or split.
// - Unavailable also means that HBase did not answer in time. In this case, a write may have been
//   executed. Increment, Append and kDeleteVersion without a time are sent only once; the messages
//   of their errors say so.

#include <memory>
#include <string>
#include <vector>

#include "storage/base/file.h"
#include "storage/hbase/hbase_stats.h"
#include "storage/hbase/options.h"
#include "storage/store.h"

namespace hg::hbase {

struct Client;
class PutQueue;
class Spool;

/// A cell store in HBase. The functions for tables and regions are in hbase_tables.cc. MutateRows,
/// DeleteRow, Append and the functions for the spool are in hbase_writes.cc. Scan is in
/// hbase_scan.cc.
///
/// Thread-safe. A call blocks for at most the deadline of the options plus one receive timeout.
class HbaseStore : public Store {
 public:
  /// Connects to the gateways. Returns InvalidArgument if the options are invalid, and Unavailable
  /// if no gateway responds. With a spool, Connect also returns the same errors as Spool::Open.
  /// `files` has the files of the spool and must outlive the store.
  static Result<std::unique_ptr<HbaseStore>> Connect(const HbaseOptions& options,
                                                     FileSystem& files = PosixFileSystem());
  ~HbaseStore() override;

  Status CreateTable(const TableDescriptor& table) override;
  Status AlterTable(const TableDescriptor& table, const TableDescriptor* before = nullptr) override;
  Status DropTable(const std::string& table) override;
  /// Deletes all rows of the table. Keeps families, attributes and regions. If a step fails, the
  /// table may stay disabled. In this case, another call continues the work.
  Status TruncateTable(const std::string& table);
  Result<TableDescriptor> DescribeTable(const std::string& table) override;
  /// Returns the tables of HBase, without the system tables.
  Result<std::vector<TableDescriptor>> ListTables() override;

  /// Sends the puts of several callers together (put_queue.h). If there is a spool, puts and
  /// appends to its tables wait in the spool while HBase is unreachable, and the result is ok.
  /// Returns Busy if the spool is full.
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
  /// Deletes of columns apply only to the versions that were compared. HBase itself checks only one
  /// of the compared columns, preferably a column that the mutation changes. Columns that were
  /// added meanwhile stay.
  Result<bool> MutateIfUnchanged(ByteView family, const std::vector<Cell>& cells,
                                 const std::string& table, const RowMutation& mutation) override;
  /// If the gateway loses the scan, the scan continues after the last row that was returned.
  Result<std::unique_ptr<ScanCursor>> Scan(const ScanSpec& spec) override;

  [[nodiscard]] StoreCapabilities Capabilities() const override { return {.seek_filters = true}; }
  /// Sets only the keys of the regions, because HBase does not report the other members of
  /// RegionInfo.
  Result<std::vector<RegionInfo>> Regions(const std::string& table,
                                          RequestContext* context) override;
  Status Flush() override;
  Status Compact(RequestContext* context) override;
  /// Syncs the log of the spool, so that writes that wait in the spool survive a power failure.
  Status Sync() override;

  [[nodiscard]] HbaseStats Stats() const;
  /// Returns whether the store accepts points now, without a request to HBase. Returns Unavailable
  /// if all gateways are unreachable and there is no spool, or if the disk of the spool fails.
  /// Returns Busy if the spool is full.
  [[nodiscard]] Status TakesWrites() const;

 private:
  explicit HbaseStore(std::unique_ptr<Client> client);

  /// Converts the changes of a mutation to changes that have the same effect in HBase
  /// (SettleOrder).
  Result<std::vector<CellChange>> Settle(const std::string& table, const RowMutation& row);
  Status MutateRow(const std::string& table, const RowMutation& row);
  Status OpenSpool(FileSystem& files);
  /// Returns Unavailable while writes to the table wait in the spool.
  [[nodiscard]] Status MayDelete(const std::string& table) const;
  /// WriteRows and AppendNow write rows like MutateRows and AppendColumns, but never to the spool.
  std::vector<Status> WriteRows(const std::string& table, const std::vector<RowMutation>& rows);
  Status AppendNow(const std::string& table, ByteView key, const ColumnAppend& column,
                   std::optional<int64_t> ttl_ms);
  /// Fetches the rows with these keys. The caller must have checked the keys.
  Result<std::vector<Row>> GetBatch(const std::string& table, const std::vector<Bytes>& keys,
                                    const CellSelection& wanted);
  Result<bool> MutationHolds(const std::string& table, const RowMutation& row);

  const std::unique_ptr<Client> client_;
  const std::unique_ptr<PutQueue> puts_;
  // Null if there is no spool. The spool is destroyed first, because it writes through the other
  // members.
  std::unique_ptr<Spool> spool_;
};

}  // namespace hg::hbase
