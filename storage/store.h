#pragma once
// The interface of the cell store: tables of ordered rows and cells (region-store.md §11). The cell
// store holds names and ids, metadata, annotations and trees, and shows points as cells.
// Implementations are engine/embedded_store, hbase/hbase_store, local/local_store, and, for tests,
// tests/support/model_store. Code above storage/ does not depend on which implementation is used.
//
// Threads: every function of the cell store is thread-safe and blocks. Call these functions from
// thread pools, not from a network loop.
//
// Errors: functions may return NotFound (table or family), InvalidArgument, Conflict, Busy,
// Unavailable, Exhausted, LimitExceeded, Corruption, IoError and Unsupported. If a write returns
// ok, it is durable at the level of the store (region-store.md §11.4).

#include <cstdint>
#include <limits>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "storage/base/bytes.h"
#include "storage/base/invariant.h"
#include "storage/base/request_context.h"
#include "storage/base/status.h"
#include "storage/row_filter.h"
#include "storage/table_descriptor.h"

namespace hg {

class RequestContext;

/// One stored value. In results, the timestamp is the stored timestamp. For a point, it is the time
/// of the point in ms.
struct Cell {
  Bytes family;
  Bytes qualifier;
  Bytes value;
  int64_t timestamp_ms = 0;

  bool operator==(const Cell&) const = default;
};

/// One row. Cells are sorted by family, and within a family by qualifier bytes. Among the versions
/// of one column, the newest version is first.
struct Row {
  Bytes key;
  std::vector<Cell> cells;

  [[nodiscard]] bool empty() const { return cells.empty(); }
  /// Returns the first cell with the qualifier, or nullptr if there is no such cell.
  [[nodiscard]] const Cell* Find(ByteView qualifier) const {
    for (const Cell& cell : cells)
      if (cell.qualifier == qualifier) return &cell;
    return nullptr;
  }
};

/// One change inside a row mutation.
struct CellChange {
  enum class Kind {
    kPut,  // sets family:qualifier := value
    // Deletes all versions of family:qualifier up to timestamp_ms. `value` is unused.
    kDeleteColumn,
    // Deletes all cells of a family up to timestamp_ms. `qualifier` and `value` are unused.
    kDeleteFamily,
    // Deletes the version of family:qualifier with exactly the time timestamp_ms. If there is no
    // time, deletes the newest version.
    kDeleteVersion,
    // Deletes the versions of all columns of a family with exactly the time timestamp_ms. This
    // change needs a time.
    kDeleteFamilyVersion,
  };
  Kind kind = Kind::kPut;
  Bytes family;
  Bytes qualifier;
  Bytes value;
  /// The explicit time of the change; nullopt = the clock of the store. Points tables order writes
  /// by arrival. In a points table, deletes have no time, and kDeleteVersion and
  /// kDeleteFamilyVersion are not supported.
  std::optional<int64_t> timestamp_ms = {};
  /// kPut: the number of ms after its time for which the cell is visible. It is at most the TTL of
  /// the family. A TTL is not allowed in points tables.
  std::optional<int64_t> ttl_ms = {};
};

/// Changes of one row, which are applied in order and atomically.
struct RowMutation {
  Bytes key;
  std::vector<CellChange> changes;
};

/// The expected value of a column in a compare-and-set. An expected value has at least one byte.
/// nullopt means that the column must be absent or have an empty value.
using Expected = std::optional<Bytes>;

/// Selects cells of a row. A selected cell must meet all conditions.
struct CellSelection {
  Bytes family;                   // "" = all families
  std::vector<Bytes> qualifiers;  // only these columns; empty = all columns
  std::vector<Bytes> prefixes;    // only columns that begin with one of these prefixes; empty = all
  Bytes column_min;               // only columns in [column_min, column_max) by their bytes
  Bytes column_max;               // "" = no end
  /// Selects cells with times in [min_ms, max_ms). If max_ms is the maximum value, there is no
  /// upper bound. If the range excludes the newest versions of a column, older versions are
  /// returned only if the family still keeps them.
  int64_t min_ms = std::numeric_limits<int64_t>::min();
  int64_t max_ms = std::numeric_limits<int64_t>::max();
  int32_t max_versions = 1;      // maximum number of versions of each column in the time range
  bool keys_only = false;        // return cells without values
  bool first_cell_only = false;  // return only the first selected cell of each row
  /// The context of the request; nullptr means no limits. The read reports its work to the context,
  /// and charges the memory of rows to the context before the rows are copied. The charge ends when
  /// the rows are returned; in a scan, it ends at the next fetch. Therefore a caller that keeps
  /// rows must charge them itself. Errors of the context end the read. The context must outlive the
  /// scan.
  RequestContext* context = nullptr;
};

struct ScanSpec : CellSelection {
  std::string table;
  Bytes start;  // first key; "" = first key of the table
  Bytes stop;   // first key that is not returned; "" = no end
  /// If `reversed` is true, rows are returned in descending order. `start` is then the greatest key
  /// ("" = last key of the table), and `stop` is the first key that is not returned.
  bool reversed = false;
  size_t batch_rows = 128;           // maximum number of rows per fetch; ≥ 1
  size_t batch_bytes = SIZE_MAX;     // a fetch ends with the row that reaches this number of bytes
  uint64_t limit_rows = UINT64_MAX;  // maximum number of rows of the whole scan
  bool fill_cache = true;            // whether the block cache keeps the blocks that the scan reads
  RowFilter filter;                  // only matching rows are returned
};

/// A scan for one reader. Not thread-safe. The rows are in ascending order of keys, or in
/// descending order if ScanSpec::reversed is true. Each row is returned once and complete, in a
/// state that the row had at some time between the start of the scan and its return. The cursor
/// must be destroyed before its store.
class ScanCursor {
 public:
  virtual ~ScanCursor() = default;
  /// Sets `rows` to the next rows, at most batch_rows. If `rows` is empty, the scan has ended.
  virtual Status Next(std::vector<Row>* rows) = 0;
  /// Returns the number of rows that the scan has examined so far, including rows that were not
  /// returned (region-store.md Q24).
  [[nodiscard]] virtual uint64_t rows_examined() const { return 0; }
};

/// The increment of one column.
struct ColumnIncrement {
  Bytes family;
  Bytes qualifier;
  int64_t by = 0;
};

/// The bytes that are appended to one column.
struct ColumnAppend {
  Bytes family;
  Bytes qualifier;
  Bytes value;
};

/// The optional features of a store. Callers should check these features instead of the name of the
/// backend.
struct StoreCapabilities {
  // Whether the store skips rows that a kTemplate filter excludes, instead of reading these rows.
  bool seek_filters = false;
  bool region_admin = false;  // the store supports Flush and Compact, and Regions returns sizes
};

/// Returns the first key after all keys with the prefix. The function increments the last byte that
/// is not FF and cuts off the bytes after it. "" means that there is no such key (region-store.md
/// Q11). A scan of a prefix has the range [prefix, AfterPrefix(prefix)).
inline Bytes AfterPrefix(Bytes prefix) {
  while (!prefix.empty() && static_cast<uint8_t>(prefix.back()) == 0xFF) prefix.pop_back();
  if (!prefix.empty()) prefix.back() = static_cast<char>(static_cast<uint8_t>(prefix.back()) + 1);
  return prefix;
}

/// A region of a table, for the command-line tools.
struct RegionInfo {
  Bytes start;
  Bytes stop;  // "" = end of the table
  uint64_t file_bytes = 0;
  uint64_t file_count = 0;
  uint64_t memory_bytes = 0;
  /// Number of files (or pairs of files) that this region has shared with other regions since a
  /// split. The next merge of the region rewrites these files.
  uint64_t references = 0;
  /// The load of the region since the store was opened, or since the region was created if that was
  /// later. `writes` is the number of points and cells that were written. `reads` is the number of
  /// gets and scans that read the region. Records that were in the log when the store was opened
  /// count as written. Both numbers are 0 if the store has no regions of its own
  /// (StoreCapabilities::region_admin).
  uint64_t writes = 0;
  uint64_t reads = 0;
};

class Store {
 public:
  virtual ~Store() = default;

  /// Creates a table. Returns ok if the table already exists with the same descriptor. Returns
  /// Conflict if the table exists with another descriptor. Returns InvalidArgument or Unsupported
  /// if the descriptor is invalid.
  virtual Status CreateTable(const TableDescriptor& table) = 0;
  /// Changes the families of the table to the families of the descriptor. Changed attributes apply
  /// to reads at once, and to files when the files are rewritten. New families are empty. Families
  /// that are not in the descriptor are deleted. `before` is the descriptor that the caller has
  /// read and changed. If the table has other attributes by now, AlterTable changes nothing and
  /// returns Conflict, so that concurrent changes do not undo each other. HBase has no such check,
  /// so on HBase a change that another client makes during the call may be lost. If `before` is
  /// nullptr, the descriptor replaces any other.
  virtual Status AlterTable(const TableDescriptor& table,
                            const TableDescriptor* before = nullptr) = 0;
  virtual Status DropTable(const std::string& table) = 0;
  virtual Result<TableDescriptor> DescribeTable(const std::string& table) = 0;
  virtual Result<std::vector<TableDescriptor>> ListTables() = 0;

  /// Applies the mutations and returns a status for each mutation, in order (region-store.md W18).
  /// Each row is atomic and independent: a rejected or failed row does not prevent the other rows.
  /// Two mutations of the same row are applied in order. Mutations of different rows may be applied
  /// in any order. The status ok means that the row is durable at the level of the store. A failed
  /// row has no effect, except that after Unavailable and IoError the row may have been written
  /// (region-store.md A9).
  virtual std::vector<Status> MutateRows(const std::string& table,
                                         const std::vector<RowMutation>& rows) = 0;
  /// Applies the mutations as MutateRows does, but returns only the status of the first failed row,
  /// or ok. Later rows are written even if an earlier row fails. A row that depends on another row
  /// needs a separate call.
  Status Mutate(const std::string& table, const std::vector<RowMutation>& rows);
  /// Deletes the row in all families of the table.
  virtual Status DeleteRow(const std::string& table, ByteView key) = 0;
  /// Returns the cells of the row. A row that does not exist has no cells. An empty `family` means
  /// all families, and empty `qualifiers` mean all columns.
  Result<Row> Get(const std::string& table, ByteView key, ByteView family = {},
                  const std::vector<Bytes>& qualifiers = {});
  /// Returns the selected cells of the row. A row that does not exist has no cells.
  virtual Result<Row> GetCells(const std::string& table, ByteView key,
                               const CellSelection& wanted) = 0;
  /// Returns the result of GetCells for each key, in order. A key may occur twice in `keys`.
  virtual std::vector<Result<Row>> GetRows(const std::string& table, const std::vector<Bytes>& keys,
                                           const CellSelection& wanted);
  /// Adds to 8-byte big-endian counters of a row atomically and returns the new values in order. An
  /// absent counter counts as 0. If a column occurs twice, it is incremented twice. Returns
  /// InvalidArgument if a stored value does not have 8 bytes. `ttl_ms` is the TTL of the new cells
  /// (CellChange::ttl_ms). If it is nullopt, each new cell has the TTL of the cell that it
  /// replaces.
  virtual Result<std::vector<int64_t>> IncrementColumns(const std::string& table, ByteView key,
                                                        const std::vector<ColumnIncrement>& columns,
                                                        std::optional<int64_t> ttl_ms) = 0;
  /// Appends bytes to cells of a row atomically. An absent cell counts as empty. The columns must
  /// differ. Returns InvalidArgument if the appended bytes exceed the size limit of a value. A
  /// store may also check the total length. Some stores cannot check the total length, because they
  /// join appended bytes only when the cell is read. In a points table, returns InvalidArgument if
  /// there are several columns and one of them is the append cell (storage/codec/append_cell.h).
  /// Returns Unsupported if there are several columns and the store can append only to one column.
  /// `ttl_ms` is the TTL of the new cells (CellChange::ttl_ms). If it is nullopt, each new cell has
  /// the TTL of the cell that it replaces.
  virtual Status AppendColumns(const std::string& table, ByteView key,
                               const std::vector<ColumnAppend>& columns,
                               std::optional<int64_t> ttl_ms) = 0;
  // IncrementColumns and AppendColumns for one column.
  Result<int64_t> Increment(const std::string& table, ByteView key, ByteView family,
                            ByteView qualifier, int64_t by, std::optional<int64_t> ttl_ms = {});
  Status Append(const std::string& table, ByteView key, ByteView family, ByteView qualifier,
                ByteView value, std::optional<int64_t> ttl_ms = {});
  /// If family:qualifier of the row has the expected value, applies the mutation and returns true.
  /// Otherwise changes nothing and returns false.
  virtual Result<bool> CompareAndMutate(ByteView family, ByteView qualifier,
                                        const Expected& expected, const std::string& table,
                                        const RowMutation& mutation) = 0;
  /// If the cells of `family` in the row are equal to `cells` (columns, values and times, as Get
  /// returned them), applies the mutation and returns true. Otherwise returns false. This function
  /// is used to rewrite whole rows.
  virtual Result<bool> MutateIfUnchanged(ByteView family, const std::vector<Cell>& cells,
                                         const std::string& table, const RowMutation& mutation) = 0;
  virtual Result<std::unique_ptr<ScanCursor>> Scan(const ScanSpec& spec) = 0;

  [[nodiscard]] virtual StoreCapabilities Capabilities() const { return {}; }
  /// Returns the regions in key order. Reads all rows in memory to compute the memory of each
  /// region. `context` is the context of the request, as in CellSelection; its errors end the read.
  virtual Result<std::vector<RegionInfo>> Regions(const std::string& table,
                                                  RequestContext* context = nullptr) = 0;
  /// Returns the first keys of all regions in key order. The first key of the first region is "". A
  /// store with regions of its own reads no rows for this function.
  virtual Result<std::vector<Bytes>> RegionStarts(const std::string& table);
  /// Writes all unflushed data to files before it returns. HBase returns Unsupported.
  virtual Status Flush() = 0;
  /// Merges the files of each region into one file. HBase returns Unsupported. `context` is that of
  /// the request; its errors (RequestContext::Check) end this function, CompactTable and
  /// MergeRegions, which then change nothing further.
  virtual Status Compact(RequestContext* context = nullptr) = 0;

  // The following functions are for one table. An engine without regions of its own returns
  // Unsupported.
  virtual Status CompactTable(const std::string& table, RequestContext* /*context*/ = nullptr) {
    return Status::Unsupported("the regions of " + table + " are not this store's");
  }
  /// Splits the region that contains `key_of_region`, at the key `at` or in the middle of the
  /// region's files. Returns the split key. Returns InvalidArgument if `at` is not inside the
  /// region. Returns Conflict if files of an earlier split are still shared, or if there is nothing
  /// to split.
  virtual Result<Bytes> Split(const std::string& table, ByteView key_of_region,
                              const std::optional<Bytes>& at) {
    (void)key_of_region, (void)at;
    return Status::Unsupported("the regions of " + table + " are not this store's");
  }
  /// Merges the region that begins with `boundary` with the region before it. Returns
  /// InvalidArgument if no region begins with `boundary`, or if the two regions must stay separate.
  virtual Status MergeRegions(const std::string& table, const Bytes& boundary,
                              RequestContext* /*context*/ = nullptr) {
    (void)boundary;
    return Status::Unsupported("the regions of " + table + " are not this store's");
  }
  /// Returns a handle of the same store for writes that become durable with a later commit. If the
  /// store has a log in this process, writes with this handle do not wait until they are durable.
  /// The result ok means that the writes are applied and appended to the log, in their order. The
  /// caller must not acknowledge anything that depends on these writes before a later position of
  /// the log is committed (Points::Commit). Stores without a log in this process return themselves.
  /// The handle is valid as long as the store exists.
  virtual Store& CommittedLater() { return *this; }
  /// Makes all acknowledged writes durable. If Sync returns ok, these writes survive a power
  /// failure.
  virtual Status Sync() = 0;
};

inline Status Store::Mutate(const std::string& table, const std::vector<RowMutation>& rows) {
  for (Status& status : MutateRows(table, rows)) {
    if (!status.ok()) return std::move(status);
  }
  return {};
}

inline Result<Row> Store::Get(const std::string& table, ByteView key, ByteView family,
                              const std::vector<Bytes>& qualifiers) {
  CellSelection wanted;
  wanted.family = family;
  wanted.qualifiers = qualifiers;
  return GetCells(table, key, wanted);
}

inline Result<int64_t> Store::Increment(const std::string& table, ByteView key, ByteView family,
                                        ByteView qualifier, int64_t by,
                                        std::optional<int64_t> ttl_ms) {
  ASSIGN_OR_RETURN(const std::vector<int64_t> sums,
                   IncrementColumns(table, key, {{Bytes(family), Bytes(qualifier), by}}, ttl_ms));
  INVARIANT(sums.size() == 1);
  return sums[0];
}

inline Status Store::Append(const std::string& table, ByteView key, ByteView family,
                            ByteView qualifier, ByteView value, std::optional<int64_t> ttl_ms) {
  return AppendColumns(table, key, {{Bytes(family), Bytes(qualifier), Bytes(value)}}, ttl_ms);
}

inline Result<std::vector<Bytes>> Store::RegionStarts(const std::string& table) {
  ASSIGN_OR_RETURN(std::vector<RegionInfo> regions, Regions(table));
  std::vector<Bytes> starts;
  starts.reserve(regions.size());
  for (RegionInfo& region : regions) starts.push_back(std::move(region.start));
  return starts;
}

/// Reports the work and charges the memory of a row that was already read. This function is for
/// stores that know the size of a row only after they have read the row.
inline Status CountRow(const Row& row, MemoryTally* memory) {
  constexpr uint64_t kStepsPerRow = 64, kStepsPerCell = 32, kBytesPerStep = 64;
  uint64_t bytes = row.key.size();
  for (const Cell& cell : row.cells)
    bytes += sizeof cell + cell.family.size() + cell.qualifier.size() + cell.value.size();
  RETURN_IF_ERROR(
      memory->Step(kStepsPerRow + row.cells.size() * kStepsPerCell + bytes / kBytesPerStep));
  return memory->Add(static_cast<int64_t>(bytes));
}

inline std::vector<Result<Row>> Store::GetRows(const std::string& table,
                                               const std::vector<Bytes>& keys,
                                               const CellSelection& wanted) {
  std::vector<Result<Row>> rows;
  rows.reserve(keys.size());
  for (const Bytes& key : keys) rows.push_back(GetCells(table, key, wanted));
  return rows;
}

// Each of the following functions creates a change of one cell.
inline CellChange PutCell(Bytes family, Bytes qualifier, Bytes value) {
  return {
      CellChange::Kind::kPut, std::move(family), std::move(qualifier), std::move(value), {}, {}};
}
inline CellChange DeleteColumn(Bytes family, Bytes qualifier) {
  return {CellChange::Kind::kDeleteColumn, std::move(family), std::move(qualifier), {}, {}, {}};
}

}  // namespace hg
