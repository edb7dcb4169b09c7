#pragma once
// Implements the cell store over HBase through its Thrift2 gateway (hbase-backend.md). It uses the
// tables of a cluster, including those of OpenTSDB.
//
// Differences from the embedded store:
// - Cell times come from the clock of HBase.
// - A put after a delete of its column in one mutation only replaces the newest version
//   (row_changes.h).
// - MutateIfUnchanged reads and compares all cells, but its write is conditional on one column
// only.
// - Regions cannot be flushed, merged or split.
// - Unavailable also means that HBase did not answer in time. A write may then have been executed.
//   Increment, Append and kDeleteVersion without a time are sent only once, and their messages say
//   so.

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

/// The functions for tables and regions are in hbase_tables.cc, MutateRows, DeleteRow, Append and
/// the functions for the spool in hbase_writes.cc, and Scan in hbase_scan.cc.
///
/// Thread-safe. Calls block for at most the deadline of the options plus one receive timeout.
class HbaseStore : public Store {
 public:
  /// Connects to the gateways. InvalidArgument: invalid options. Unavailable: no gateway responds.
  /// With a spool, also fails like Spool::Open. `files` has the spool and must outlive the store.
  static Result<std::unique_ptr<HbaseStore>> Connect(const HbaseOptions& options,
                                                     FileSystem& files = PosixFileSystem());
  ~HbaseStore() override;

  Status CreateTable(const TableDescriptor& table) override;
  Status AlterTable(const TableDescriptor& table) override;
  Status DropTable(const std::string& table) override;
  /// Deletes all rows. Keeps families, attributes and regions. If a step fails, the table may stay
  /// disabled; another call then continues.
  Status TruncateTable(const std::string& table);
  Result<TableDescriptor> DescribeTable(const std::string& table) override;
  /// Does not list the system tables of HBase.
  Result<std::vector<TableDescriptor>> ListTables() override;

  /// Sends puts together with those of other callers (put_queue.h). If there is a spool, puts and
  /// appends to its tables wait in it while HBase is unreachable, and the result is ok. Busy: the
  /// spool is full.
  std::vector<Status> MutateRows(const std::string& table,
                                 const std::vector<RowMutation>& rows) override;
  Status DeleteRow(const std::string& table, ByteView key) override;
  Result<Row> Get(const std::string& table, ByteView key, ByteView family = {},
                  const std::vector<Bytes>& qualifiers = {}) override;
  Result<Row> GetCells(const std::string& table, ByteView key,
                       const CellSelection& wanted) override;
  std::vector<Result<Row>> GetRows(const std::string& table, const std::vector<Bytes>& keys,
                                   const CellSelection& wanted) override;
  Result<int64_t> Increment(const std::string& table, ByteView key, ByteView family,
                            ByteView qualifier, int64_t by) override;
  Result<std::vector<int64_t>> IncrementColumns(
      const std::string& table, ByteView key, const std::vector<ColumnIncrement>& columns) override;
  Status Append(const std::string& table, ByteView key, ByteView family, ByteView qualifier,
                ByteView value) override;
  Result<bool> CompareAndMutate(ByteView family, ByteView qualifier, const Expected& expected,
                                const std::string& table, const RowMutation& mutation) override;
  /// Deletes of columns apply only to the versions that were compared. HBase itself checks only one
  /// of the compared columns, preferably one that the mutation changes. Other new columns stay.
  Result<bool> MutateIfUnchanged(ByteView family, const std::vector<Cell>& cells,
                                 const std::string& table, const RowMutation& mutation) override;
  /// If the gateway loses the scan, the scan continues after the last row.
  Result<std::unique_ptr<ScanCursor>> Scan(const ScanSpec& spec) override;

  [[nodiscard]] StoreCapabilities Capabilities() const override {
    return {.cell_ttl = true, .seek_filters = true, .reverse_scan = true};
  }
  /// Sets only the keys of the regions, because HBase does not report the other members.
  Result<std::vector<RegionInfo>> Regions(const std::string& table) override;
  Status Flush() override;
  Status Compact() override;
  /// Syncs the log of the spool, so that writes that wait in it survive a power failure.
  Status Sync() override;

  [[nodiscard]] HbaseStats Stats() const;
  /// Returns whether the store accepts points now, without a request to HBase. Unavailable: all
  /// gateways are unreachable and there is no spool, or the disk of the spool fails. Busy: the
  /// spool is full.
  [[nodiscard]] Status TakesWrites() const;

 private:
  explicit HbaseStore(std::unique_ptr<Client> client);

  /// Converts the changes of a mutation to changes with which HBase has the same effect
  /// (SettleOrder).
  Result<std::vector<CellChange>> Settle(const std::string& table, const RowMutation& row);
  Status MutateRow(const std::string& table, const RowMutation& row);
  Status OpenSpool(FileSystem& files);
  /// Writes rows like MutateRows and Append, but never to the spool.
  std::vector<Status> WriteRows(const std::string& table, const std::vector<RowMutation>& rows);
  Status AppendNow(const std::string& table, ByteView key, ByteView family, ByteView qualifier,
                   ByteView value);
  /// Fetches the rows with these keys, which must already be checked.
  Result<std::vector<Row>> GetBatch(const std::string& table, const std::vector<Bytes>& keys,
                                    const CellSelection& wanted);
  Result<bool> MutationHolds(const std::string& table, const RowMutation& row);

  const std::unique_ptr<Client> client_;
  const std::unique_ptr<PutQueue> puts_;
  std::unique_ptr<Spool>
      // null if there is no spool. Destroyed first, because the spool writes through other members.
      spool_;
};

}  // namespace hg::hbase
