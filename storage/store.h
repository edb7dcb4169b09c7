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
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "storage/base/bytes.h"
#include "storage/base/status.h"
#include "storage/model/key_layout.h"
#include "storage/series_matcher.h"

namespace hg {

/// One stored value. In results: newest version only, timestamps as stored (points: their data time
/// in ms).
struct Cell {
  Bytes family;
  Bytes qualifier;
  Bytes value;
  int64_t timestamp_ms = 0;

  bool operator==(const Cell&) const = default;
};

/// One row: cells sorted by family, then qualifier bytes.
struct Row {
  Bytes key;
  std::vector<Cell> cells;

  [[nodiscard]] bool empty() const { return cells.empty(); }
};

/// One change inside a row mutation.
struct CellChange {
  enum class Kind {
    kPut,           // sets family:qualifier := value
    kDeleteColumn,  // all versions of family:qualifier up to now; value unused
    kDeleteFamily,  // all of a family up to now; qualifier and value unused
  };
  Kind kind = Kind::kPut;
  Bytes family;
  Bytes qualifier;
  Bytes value;
  std::optional<int64_t> timestamp_ms;  // kPut: explicit cell time; none = the store's clock
};

/// All or nothing, in order, one row.
struct RowMutation {
  Bytes key;
  std::vector<CellChange> changes;
};

/// What a compare-and-set expects of one column: a value of ≥ 1 bytes, or none = absent (or empty).
using Expected = std::optional<Bytes>;

/// A family of a new table.
struct FamilyDescriptor {
  Bytes name;
};

struct TableDescriptor {
  std::string name;
  std::vector<FamilyDescriptor> families;
  /// True for the data table: family "t" holds points natively where the engine can (engine.md §8).
  bool points = false;
  /// First keys of the regions that a new table is made with, behind those of its salt buckets. In
  /// any order, no two alike, none empty. Of no meaning where the table exists.
  std::vector<Bytes> splits = {};
};

struct ScanSpec {
  std::string table;
  Bytes start;                    // first key; "" = from the beginning
  Bytes stop;                     // first key not given; "" = to the end
  Bytes family;                   // "" = all families
  std::vector<Bytes> qualifiers;  // only these columns of `family`; empty = all
  bool keys_only = false;         // cells come without values
  size_t batch_rows = 128;        // rows per fetch; ≥ 1
};

/// One reader's position. One thread at a time. Rows ascend by key; a row comes once, whole, as of
/// a moment between the scan's start and its delivery.
class ScanCursor {
 public:
  virtual ~ScanCursor() = default;
  /// Fills `rows` with the next ≤ batch_rows rows; empty = end.
  virtual Status Next(std::vector<Row>* rows) = 0;
};

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

  /// Idempotent: the same descriptor again is ok, another one Conflict.
  virtual Status CreateTable(const TableDescriptor& table) = 0;
  virtual Result<std::vector<TableDescriptor>> ListTables() = 0;

  /// Each row atomic, rows independent and in order. The first failure ends the call.
  virtual Status Mutate(const std::string& table, const std::vector<RowMutation>& rows) = 0;
  /// Deletes the row with all families.
  virtual Status DeleteRow(const std::string& table, ByteView key) = 0;
  /// The row's cells; no such row = no cells. family "" = all; qualifiers empty = all.
  virtual Result<Row> Get(const std::string& table, ByteView key, ByteView family = {},
                          const std::vector<Bytes>& qualifiers = {}) = 0;
  /// Adds to an 8-byte big-endian counter (absent = 0); the new value. Another width:
  /// InvalidArgument.
  virtual Result<int64_t> Increment(const std::string& table, ByteView key, ByteView family,
                                    ByteView qualifier, int64_t by) = 0;
  /// Appends bytes to one cell (absent = empty), atomically.
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

// Convenience over Mutate, for the many callers that touch one cell.
inline CellChange PutCell(Bytes family, Bytes qualifier, Bytes value) {
  return {CellChange::Kind::kPut, std::move(family), std::move(qualifier), std::move(value), {}};
}
inline CellChange DeleteColumn(Bytes family, Bytes qualifier) {
  return {CellChange::Kind::kDeleteColumn, std::move(family), std::move(qualifier), {}, {}};
}

}  // namespace hg
