#pragma once
// The cells door to HBase, through its Thrift2 gateway (spec hbase-backend.md): the tables that a
// cluster holds, OpenTSDB's among them.
//
// What is not as in the embedded store: the clock is HBase's; a put after a delete of its column in
// one mutation replaces it only (row_changes.h); MutateIfUnchanged compares first and then guards
// one column; regions cannot be flushed, merged or divided from here. Errors beside those of the
// door: Unavailable, if HBase did not answer in time; then a write may have been carried out, but
// for an Increment, an Append or a kDeleteVersion without a time, which are sent once and say so.

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

/// Thread-safe. Calls block: as long as the options' deadline, and once more the receive timeout.
class HbaseStore : public Store {
 public:
  /// InvalidArgument: the options cannot be. Unavailable: no gateway answers.
  /// With a spool also what Spool::Open says; `files` are its disk, and outlive the store.
  static Result<std::unique_ptr<HbaseStore>> Connect(const HbaseOptions& options,
                                                     FileSystem& files = PosixFileSystem());
  ~HbaseStore() override;

  Status CreateTable(const TableDescriptor& table) override;
  Status AlterTable(const TableDescriptor& table) override;
  Status DropTable(const std::string& table) override;
  Result<TableDescriptor> DescribeTable(const std::string& table) override;
  /// Without HBase's own.
  Result<std::vector<TableDescriptor>> ListTables() override;

  /// Puts go together with those of other callers (put_queue.h). Where the options have a spool,
  /// those of its tables wait there when HBase is away, and are ok; so do Appends. Busy then: it is
  /// full.
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
  /// Columns that the mutation deletes are deleted as old as they were compared, and the first
  /// column that it puts (or the first one compared) must still be what it was. A column that is
  /// added in between stays, beside what is written.
  Result<bool> MutateIfUnchanged(ByteView family, const std::vector<Cell>& cells,
                                 const std::string& table, const RowMutation& mutation) override;
  /// Goes on after the last row if the gateway forgets the scan or is lost.
  Result<std::unique_ptr<ScanCursor>> Scan(const ScanSpec& spec) override;

  [[nodiscard]] StoreCapabilities Capabilities() const override {
    return {.cell_ttl = true, .seek_filters = true, .reverse_scan = true};
  }
  /// Keys only.
  Result<std::vector<RegionInfo>> Regions(const std::string& table) override;
  Status Flush() override;
  Status Compact() override;
  /// Of what waits in the spool.
  Status Sync() override;

  [[nodiscard]] HbaseStats Stats() const;
  /// Whether points may be sent here, as far as is known without asking HBase. Unavailable: every
  /// gateway is away and there is no spool, or its disk fails. Busy: the spool is full.
  [[nodiscard]] Status TakesWrites() const;

 private:
  explicit HbaseStore(std::unique_ptr<Client> client);

  /// The changes as HBase must be told them.
  Result<std::vector<CellChange>> Settle(const std::string& table, const RowMutation& row);
  Status MutateRow(const std::string& table, const RowMutation& row);
  Status OpenSpool(FileSystem& files);
  /// As MutateRows and Append, by HBase or not at all.
  std::vector<Status> WriteRows(const std::string& table, const std::vector<RowMutation>& rows);
  Status AppendNow(const std::string& table, ByteView key, ByteView family, ByteView qualifier,
                   ByteView value);
  /// Fetches rows of keys that can be; nothing else than they are asked for.
  Result<std::vector<Row>> GetBatch(const std::string& table, const std::vector<Bytes>& keys,
                                    const CellSelection& wanted);
  Result<bool> MutationHolds(const std::string& table, const RowMutation& row);

  const std::unique_ptr<Client> client_;
  const std::unique_ptr<PutQueue> puts_;
  std::unique_ptr<Spool> spool_;  // null: there is none. Ends first: it writes through the others
};

}  // namespace hg::hbase
