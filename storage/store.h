#pragma once
// The cells door: tables of ordered rows and cells (spec region-store.md §11). Names and ids,
// metadata, annotations, trees, dump and load enter here. Implementations: region/embedded_store
// (ours), tests/support/model_store (oracle), later hbase. Nobody above storage can tell which is
// behind it.
//
// Threads: every call is thread-safe and blocks; call it from pools, not from a network loop.
// Errors: NotFound (table or family), InvalidArgument, Busy, Unavailable, Corruption, IoError,
// Unsupported. Acknowledged (ok) means durable at the store's level (spec region-store.md §11.4).

#include <cstdint>
#include <limits>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "storage/base/bytes.h"
#include "storage/base/status.h"
#include "storage/row_filter.h"
#include "storage/table_descriptor.h"

namespace hg {

/// One stored value. In results: timestamps as stored (points: their data time in ms).
struct Cell {
  Bytes family;
  Bytes qualifier;
  Bytes value;
  int64_t timestamp_ms = 0;

  bool operator==(const Cell&) const = default;
};

/// One row: cells sorted by family, then qualifier bytes; versions of one column newest first.
struct Row {
  Bytes key;
  std::vector<Cell> cells;

  [[nodiscard]] bool empty() const { return cells.empty(); }
};

/// One change inside a row mutation.
struct CellChange {
  enum class Kind {
    kPut,                  // sets family:qualifier := value
    kDeleteColumn,         // all versions of family:qualifier up to its time; value unused
    kDeleteFamily,         // all of a family up to its time; qualifier and value unused
    kDeleteVersion,        // the version of exactly its time; without a time: the newest one
    kDeleteFamilyVersion,  // the versions of exactly its time of all columns; needs a time
  };
  Kind kind = Kind::kPut;
  Bytes family;
  Bytes qualifier;
  Bytes value;
  /// Explicit time; none = the store's clock. Tables of points go by arrival: their deletes have
  /// none, and none of one version.
  std::optional<int64_t> timestamp_ms = {};
  /// kPut: ms after its time until which it is seen, at most the family's TTL; not in tables of
  /// points.
  std::optional<int64_t> ttl_ms = {};
};

/// All or nothing, in order, one row.
struct RowMutation {
  Bytes key;
  std::vector<CellChange> changes;
};

/// What a compare-and-set expects of one column: a value of ≥ 1 bytes, or none = absent (or empty).
using Expected = std::optional<Bytes>;

/// Which cells of a row are wanted. A cell must meet all that is asked for.
struct CellSelection {
  Bytes family;                   // "" = all families
  std::vector<Bytes> qualifiers;  // only these columns; empty = all
  std::vector<Bytes> prefixes;    // only columns that begin with one of these; empty = all
  Bytes column_min;               // columns in [min, max) by their bytes
  Bytes column_max;               // "" = no end
  /// Cell times in [min_ms, max_ms); the greatest max_ms is no bound. Of a time range without the
  /// newest versions those are given that the family still keeps.
  int64_t min_ms = std::numeric_limits<int64_t>::min();
  int64_t max_ms = std::numeric_limits<int64_t>::max();
  int32_t max_versions = 1;      // of each column, the newest in the time range
  bool keys_only = false;        // cells come without values
  bool first_cell_only = false;  // the first of the chosen cells of each row
};

struct ScanSpec : CellSelection {
  std::string table;
  Bytes start;  // first key; "" = from the beginning
  Bytes stop;   // first key not given; "" = to the end
  /// Rows descend: `start` is the greatest key ("" = from the end), `stop` the first one not given.
  bool reversed = false;
  size_t batch_rows = 128;           // rows per fetch; ≥ 1
  size_t batch_bytes = SIZE_MAX;     // a fetch ends with the row that brings it to so many bytes
  uint64_t limit_rows = UINT64_MAX;  // of the whole scan
  bool fill_cache = true;            // blocks that are read for it stay in the block cache
  RowFilter filter;                  // rows that do not pass are not given
};

/// One reader's position. One thread at a time. Rows ascend by key, or descend; a row comes once,
/// whole, as of a moment between the scan's start and its delivery. It must end before its store.
class ScanCursor {
 public:
  virtual ~ScanCursor() = default;
  /// Fills `rows` with the next rows, at most batch_rows; empty = end.
  virtual Status Next(std::vector<Row>* rows) = 0;
  /// Rows looked at so far, given or not (spec region-store.md Q24).
  [[nodiscard]] virtual uint64_t rows_examined() const { return 0; }
};

/// What Increment adds to one column.
struct ColumnIncrement {
  Bytes family;
  Bytes qualifier;
  int64_t by = 0;
};

/// What a store can do; callers ask it, never for the backend's name.
struct StoreCapabilities {
  bool cell_ttl = false;
  bool seek_filters = false;  // templates jump over rows instead of reading them
  bool region_admin = false;  // Flush, Compact and sizes of regions
  bool reverse_scan = false;
};

/// The first key behind all that begin with the prefix: its last byte below FF raised, the rest cut
/// off. "" = there is none (spec region-store.md Q11). A scan of a prefix is [prefix, this).
inline Bytes AfterPrefix(Bytes prefix) {
  while (!prefix.empty() && static_cast<uint8_t>(prefix.back()) == 0xFF) prefix.pop_back();
  if (!prefix.empty()) prefix.back() = static_cast<char>(static_cast<uint8_t>(prefix.back()) + 1);
  return prefix;
}

/// A table's part, for the tools.
struct RegionInfo {
  Bytes start;
  Bytes stop;  // "" = end of the table
  uint64_t file_bytes = 0;
  uint64_t file_count = 0;
  uint64_t memory_bytes = 0;
  /// Files, or pairs of files, that other regions have, too, since a split: the next merge rewrites
  /// them.
  uint64_t references = 0;
};

class Store {
 public:
  virtual ~Store() = default;

  /// Idempotent: the same descriptor again is ok, another one Conflict. Of a descriptor that asks
  /// for what cannot be: InvalidArgument or Unsupported.
  virtual Status CreateTable(const TableDescriptor& table) = 0;
  /// Gives the table the descriptor's families: attributes of known ones change for what is read
  /// and for files as they are rewritten, new ones are empty, those left out are gone.
  virtual Status AlterTable(const TableDescriptor& table) = 0;
  virtual Status DropTable(const std::string& table) = 0;
  virtual Result<TableDescriptor> DescribeTable(const std::string& table) = 0;
  virtual Result<std::vector<TableDescriptor>> ListTables() = 0;

  /// A status for each row, in their order (spec region-store.md W18). Each row is atomic and
  /// stands for itself: one that is refused or fails keeps no other from being written. Of two rows
  /// with one key the later is applied after the earlier; between keys no order is promised. ok:
  /// durable at the store's level. Of a row that failed nothing is there, except after Unavailable
  /// and IoError: then it may be (A9).
  virtual std::vector<Status> MutateRows(const std::string& table,
                                         const std::vector<RowMutation>& rows) = 0;
  /// The same where one answer will do: the status of the first row that failed, else ok. The rows
  /// behind it were tried, too: what must not come without another row takes a call of its own.
  Status Mutate(const std::string& table, const std::vector<RowMutation>& rows);
  /// Deletes the row with all families.
  virtual Status DeleteRow(const std::string& table, ByteView key) = 0;
  /// The row's cells; no such row = no cells. family "" = all; qualifiers empty = all.
  virtual Result<Row> Get(const std::string& table, ByteView key, ByteView family = {},
                          const std::vector<Bytes>& qualifiers = {}) = 0;
  /// The same, of the cells chosen.
  virtual Result<Row> GetCells(const std::string& table, ByteView key,
                               const CellSelection& wanted) = 0;
  /// A row for each key, or why it cannot be had, in their order: as of GetCells. A key may come
  /// twice.
  virtual std::vector<Result<Row>> GetRows(const std::string& table, const std::vector<Bytes>& keys,
                                           const CellSelection& wanted);
  /// Adds to an 8-byte big-endian counter (absent = 0); the new value. Another width:
  /// InvalidArgument.
  virtual Result<int64_t> Increment(const std::string& table, ByteView key, ByteView family,
                                    ByteView qualifier, int64_t by) = 0;
  /// The same for several columns of a row at once; the new values in their order. A column that
  /// comes twice is added to twice.
  virtual Result<std::vector<int64_t>> IncrementColumns(
      const std::string& table, ByteView key, const std::vector<ColumnIncrement>& columns) = 0;
  /// Appends bytes to one cell (absent = empty), atomically. InvalidArgument: they alone, or with
  /// what is there if the store looks at it, are over a value's limit; a store that keeps what is
  /// appended beside it until both are read need not look.
  virtual Status Append(const std::string& table, ByteView key, ByteView family, ByteView qualifier,
                        ByteView value) = 0;
  /// Applies the mutation iff family:qualifier of that row is as expected; false = it was not.
  virtual Result<bool> CompareAndMutate(ByteView family, ByteView qualifier,
                                        const Expected& expected, const std::string& table,
                                        const RowMutation& mutation) = 0;
  /// Applies the mutation iff the row's cells of `family` are `cells`, as Get gave them: columns,
  /// values and times; false = they are not. For a rewrite that rests on the whole row.
  virtual Result<bool> MutateIfUnchanged(ByteView family, const std::vector<Cell>& cells,
                                         const std::string& table, const RowMutation& mutation) = 0;
  virtual Result<std::unique_ptr<ScanCursor>> Scan(const ScanSpec& spec) = 0;

  [[nodiscard]] virtual StoreCapabilities Capabilities() const { return {}; }
  virtual Result<std::vector<RegionInfo>> Regions(const std::string& table) = 0;
  /// All memory becomes files before it returns. Unsupported over HBase.
  virtual Status Flush() = 0;
  /// Merges each region's files into one. Unsupported over HBase.
  virtual Status Compact() = 0;

  // Of one table; Unsupported unless an engine has its own regions.
  virtual Status CompactTable(const std::string& table) {
    return Status::Unsupported("the regions of " + table + " are not this store's");
  }
  /// Divides the region that has this key, at the given key or in the middle of its files. The key
  /// it was divided at. InvalidArgument: the key is not inside of the region. Conflict: files of an
  /// earlier split are still shared, or there is nothing to be divided.
  virtual Result<Bytes> Split(const std::string& table, ByteView key_of_region,
                              const std::optional<Bytes>& at) {
    (void)key_of_region, (void)at;
    return Status::Unsupported("the regions of " + table + " are not this store's");
  }
  /// Joins the region that begins with the key and the one before it. InvalidArgument: no region
  /// does, or they must stay apart.
  virtual Status MergeRegions(const std::string& table, const Bytes& boundary) {
    (void)boundary;
    return Status::Unsupported("the regions of " + table + " are not this store's");
  }
  /// Everything acknowledged so far survives a power cut once this returns ok.
  virtual Status Sync() = 0;
};

inline Status Store::Mutate(const std::string& table, const std::vector<RowMutation>& rows) {
  for (Status& status : MutateRows(table, rows)) {
    if (!status.ok()) return std::move(status);
  }
  return {};
}

inline std::vector<Result<Row>> Store::GetRows(const std::string& table,
                                               const std::vector<Bytes>& keys,
                                               const CellSelection& wanted) {
  std::vector<Result<Row>> rows;
  rows.reserve(keys.size());
  for (const Bytes& key : keys) rows.push_back(GetCells(table, key, wanted));
  return rows;
}

// Convenience over Mutate, for the many callers that touch one cell.
inline CellChange PutCell(Bytes family, Bytes qualifier, Bytes value) {
  return {
      CellChange::Kind::kPut, std::move(family), std::move(qualifier), std::move(value), {}, {}};
}
inline CellChange DeleteColumn(Bytes family, Bytes qualifier) {
  return {CellChange::Kind::kDeleteColumn, std::move(family), std::move(qualifier), {}, {}, {}};
}

}  // namespace hg
