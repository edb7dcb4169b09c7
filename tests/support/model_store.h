#pragma once
// A cell store over a std::map. It is the reference with which every other Store is compared
// (region-store.md §11).
//
// Generic tables keep every put and delete. Each read computes which cells are visible by HBase's
// rules and by the attributes of the family (region-store.md D12–D17). Tables of points store plain
// cells in the order of their arrival. Server times increase strictly over the whole store. All
// puts of one row mutation have the same server time, so none of the points that were written
// together counts as newer than the others (opentsdb-schema.md §9.4).
//
// The object is thread-safe; it has one mutex. The clock must outlive the store.

#include <map>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

#include "storage/base/clock.h"
#include "storage/store.h"

namespace hg {

class ModelStore : public Store {
 public:
  explicit ModelStore(const Clock& clock = SystemClock()) : clock_(clock) {}

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
  Result<std::vector<RegionInfo>> Regions(const std::string& table,
                                          RequestContext* context) override;
  /// The following three functions do nothing, because the model has no files.
  Status Flush() override { return {}; }
  Status Compact(RequestContext* /*context*/) override { return {}; }
  Status Sync() override { return {}; }

  /// Writes the whole content, including tombstones, to a file, as lines of hexadecimal text.
  Status SaveTo(const std::string& path) const;
  /// Replaces the content by the content of a file that SaveTo has written. NotFound: the file does
  /// not exist. Corruption: a line of the file is invalid.
  Status LoadFrom(const std::string& path);

  /// The limits for the sizes of row keys and values, in bytes. They are the limits of HBase
  /// (region-store.md D3, D10).
  static constexpr size_t kKeyBytesMax = 32767;
  static constexpr size_t kValueBytesMax = 10 << 20;

 private:
  friend class ModelCursor;
  using Column = std::pair<Bytes, Bytes>;  // a family and a qualifier
  // A change of a row. Tables of points, which are in the order of arrival, keep only the puts that
  // are still visible.
  struct Event {
    CellChange::Kind kind = CellChange::Kind::kPut;
    Column column;  // if the qualifier is empty, the change is of the whole family
    int64_t timestamp_ms = 0;
    int64_t expires_ms = INT64_MAX;  // the last time at which the put is visible
    Bytes value;
  };
  struct StoredRow {
    std::vector<Event> events;  // changes of the row, in the order in which they arrived
  };
  struct Table {
    TableDescriptor descriptor;
    std::map<Bytes, StoredRow> rows;
  };

  // Callers of the following functions must hold mutex_.
  Result<Table*> FindTable(const std::string& name);
  static Status CheckKey(ByteView key);
  static Status CheckFamily(const Table& table, ByteView family);
  static Status CheckTtl(const Table& table, std::optional<int64_t> ttl_ms);
  static Status CheckMutation(const Table& table, const RowMutation& mutation);
  int64_t NextStamp();
  void Apply(Table* table, const RowMutation& mutation);
  static void Add(const Table& table, StoredRow* row, Event event);
  /// Puts `value`, which was computed from the visible cell `old`; null = the column had no cell.
  /// If `ttl_ms` is not set, the new cell has the TTL of `old`.
  static void PutOver(const Table& table, StoredRow* row, const Column& column, const Cell* old,
                      int64_t stamp, std::optional<int64_t> ttl_ms, Bytes value);
  /// Returns the deletes (tombstones) of this family in the row, in the order in which they
  /// arrived.
  static std::vector<const Event*> MarksOf(const StoredRow& row, const Bytes& family);
  /// Returns whether a tombstone of the family hides the put. If `range` is set, only tombstones in
  /// this time range are considered.
  static bool Hidden(const FamilyDescriptor& family, const std::vector<const Event*>& marks,
                     const Event& put, const CellSelection* range);
  /// Returns the cells of the row that a reader sees now, in the order of a read.
  std::vector<Cell> Visible(const Table& table, const StoredRow& row,
                            const CellSelection& wanted) const;
  /// Finds the newest visible version of a column. Returns false if there is no such version.
  bool Find(const Table& table, ByteView key, const Column& column, Cell* cell) const;
  Row Select(const Table& table, const Bytes& key, const CellSelection& wanted) const;

  const Clock& clock_;
  mutable std::mutex mutex_;
  std::map<std::string, Table> tables_;  // guarded by mutex_
  int64_t last_stamp_ms_ = 0;            // the last server time; guarded by mutex_
};

}  // namespace hg
