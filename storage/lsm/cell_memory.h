#pragma once
// The rows of cells that a memtable has for one table, sorted by key.

#include <atomic>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <shared_mutex>
#include <vector>

#include "storage/base/fair_shared_mutex.h"
#include "storage/base/status.h"
#include "storage/lsm/cell_row.h"

namespace hg::lsm {

struct KeyedRow {
  Bytes key;
  CellRow row;
  bool left_out = false;  // whether the row is large and was not copied; CellMemory::Get copies it
};

/// A row in a memtable. Most rows are one small put, such as names and ids. A row with one small
/// put is stored as encoded bytes, which need a third of the memory. A wide row has many columns
/// and stores each column separately. Reading or changing one column of a wide row does not access
/// its other columns.
class HeldRow {
 public:
  HeldRow();
  ~HeldRow();
  HeldRow(HeldRow&&) noexcept;
  HeldRow& operator=(HeldRow&&) noexcept;

  [[nodiscard]] bool wide() const;
  /// Returns the number of cells in the row, including tombstones of columns.
  [[nodiscard]] size_t cells() const;
  [[nodiscard]] CellRow Get(const ColumnChoice& wanted = {}) const;
  /// Returns all columns of the row, and may leave the row empty. Call Take instead of Get if you
  /// then replace the row with Set.
  CellRow Take();
  void Set(CellRow row);
  /// TakeColumn and PutColumn are only for wide rows. TakeColumn removes a column from the row and
  /// returns it, or returns an empty row if the column does not exist. Then PutColumn can put back
  /// the changed column, even if no other column is left.
  CellRow TakeColumn(uint8_t family, ByteView qualifier);
  void PutColumn(uint8_t family, ByteView qualifier, CellRow column);
  /// EraseFamily and DeleteFamily are for tables with the order kByArrival. EraseFamily removes all
  /// cells of the family. DeleteFamily also adds a tombstone. Both access only the columns of the
  /// family.
  void EraseFamily(uint8_t family);
  void DeleteFamily(uint8_t family, int64_t tombstone_ms);
  /// Returns the size of the column's value, in bytes. This function is for tables with the order
  /// kByArrival. The result for a row with one small put may be some bytes too large.
  [[nodiscard]] size_t ValueBytes(uint8_t family, ByteView qualifier) const;
  /// Adds cells with lsm::AddVersions. Only the changed columns of a wide row are accessed, and
  /// their families' tombstones. If a column and the tombstones of its family have more than 64
  /// cells, the column is tidied only after it has got about as many new cells. Thus the average
  /// time for a new cell does not grow with their number.
  void AddVersions(Families families, CellVersions added);
  /// Returns the approximate size of the row in bytes, including the map node.
  [[nodiscard]] size_t MemoryBytes() const;
  /// Returns the approximate size in bytes of what Get reads for the selected columns.
  [[nodiscard]] size_t CopiedBytes(const ColumnChoice& wanted) const;

 private:
  struct Large;
  [[nodiscard]] size_t FamilyCount() const;
  template <typename Visit>
  void ForEachColumn(const ColumnChoice& wanted, const Visit& visit) const;
  void Set(CellRow row, size_t cells_max);
  void PutColumns(CellRow row);
  void AddToColumn(Families families, CellVersion cell);
  bool AppendToColumn(const Bytes& key, CellVersion* cell, size_t max);
  [[nodiscard]] CellRow Unpack() const;
  // At most one of the following members is set. If none is set, the row is empty.
  std::unique_ptr<char[]> packed_;  // size in two bytes, followed by the output of EncodeCellRow
  std::unique_ptr<Large> large_;
};

/// The rows of one table in a memtable. Thread-safe. Rows are changed only through a Writer, which
/// holds the lock of this object, so readers see each mutation completely or not at all. The engine
/// creates a Writer under its write lock, except during log replay.
class CellMemory {
 public:
  using Rows = std::map<Bytes, HeldRow, std::less<>>;

  /// `total` counts the bytes of several memtables. It must outlive this object.
  explicit CellMemory(std::atomic<size_t>* total) : total_(*total) {}

  /// Changes one row. A Writer holds the lock of the CellMemory. Keep it briefly and without I/O. A
  /// reference that a Writer returns is valid until the next call or the end of the Writer.
  class Writer {
   public:
    explicit Writer(CellMemory& memory)
        : memory_(memory), lock_(memory.mutex_), at_(memory.rows_.end()) {}
    ~Writer() { PutBack(); }
    Writer(const Writer&) = delete;
    Writer& operator=(const Writer&) = delete;
    /// Returns the row, and creates the row if it does not exist.
    CellRow& Row(ByteView key);
    /// Returns the row, or null if the row does not exist.
    CellRow* Find(ByteView key);
    /// Returns the row for a change of only this column, and creates the row if it does not exist.
    /// If the row is wide, the result may contain only this column. Only tables with the order
    /// kByArrival may use Column and FindColumn.
    CellRow& Column(ByteView key, uint8_t family, ByteView qualifier);
    /// Returns the row for a change of only this column, or null if the row does not exist.
    CellRow* FindColumn(ByteView key, uint8_t family, ByteView qualifier);
    /// Only tables with the order kByArrival may use EraseFamily and DeleteFamily. EraseFamily
    /// removes all cells of the family. DeleteFamily also adds a tombstone, and creates the row if
    /// it does not exist.
    void EraseFamily(ByteView key, uint8_t family);
    void DeleteFamily(ByteView key, uint8_t family, int64_t tombstone_ms);
    /// Adds cells to the row with lsm::AddVersions, and creates the row if it does not exist. Only
    /// tables with the order kByTime may use this function.
    void AddVersions(ByteView key, Families families, CellVersions added);

   private:
    struct ColumnName {
      uint8_t family;
      Bytes qualifier;
    };
    [[nodiscard]] bool Has(ByteView key) const {
      return at_ != memory_.rows_.end() && at_->first == key;
    }
    /// Moves at_ to the row with this key. If the row does not exist, sets at_ to the end and
    /// returns false.
    bool MoveTo(ByteView key);
    /// Like MoveTo, but creates the row if it does not exist. The row stays in the memtable.
    HeldRow& Held(ByteView key);
    void Make(ByteView key);
    void TakeOut();
    void TakeOutColumn(uint8_t family, ByteView qualifier);
    void PutBack();
    void Account();

    CellMemory& memory_;
    std::unique_lock<FairSharedMutex> lock_;
    Rows::iterator at_;                 // the row that was requested last, or the end
    CellRow row_;                       // the row at at_, or the requested column of this row
    std::optional<ColumnName> column_;  // the column in row_, if row_ has one column of a wide row
    size_t accounted_ = 0;
  };

  /// Copies the row to *row. Returns false if the row does not exist.
  bool Get(ByteView key, CellRow* row) const;
  /// Copies the selected columns to *row. The memory of the copy is charged to `memory` first. If
  /// the charge fails, Get returns its error. If `memory` is null, there is no limit. Returns false
  /// if the row does not exist.
  Result<bool> Get(ByteView key, const ColumnChoice& wanted, MemoryTally* memory,
                   CellRow* row) const;
  /// Charges the copy of the selected columns of the row to `memory`. Returns the error of the
  /// charge. If `memory` is null or the row does not exist, nothing is charged. The row may grow a
  /// little before it is copied.
  Status Charge(ByteView key, const ColumnChoice& wanted, MemoryTally* memory) const;
  /// Returns the size of a column's value (HeldRow::ValueBytes), or 0 if the column does not exist.
  [[nodiscard]] size_t ValueBytes(ByteView key, uint8_t family, ByteView qualifier) const;
  /// Appends copies of at most `max` rows with key ≥ first (key > first if `after` is true) and key
  /// < stop. An empty `stop` means that the range has no end. A row that is wide or has more than
  /// kCopiedBytes is returned without its columns (KeyedRow::left_out).
  void Copy(ByteView first, bool after, ByteView stop, size_t max,
            std::vector<KeyedRow>* out) const;
  static constexpr size_t kCopiedBytes = 16 << 10;
  /// Appends every n-th key in [start, stop) to *keys.
  void SampleKeys(ByteView start, ByteView stop, size_t n, std::vector<Bytes>* keys) const;
  /// Runs f(rows) while other threads may read and writers wait, so f must be short. Readers use
  /// this function if they also read other state that changes together with these rows.
  template <typename F>
  void WithShared(F&& f) const {
    std::shared_lock lock(mutex_);
    f(rows_);
  }
  [[nodiscard]] size_t bytes() const { return bytes_.load(std::memory_order_relaxed); }
  [[nodiscard]] bool empty() const { return size_.load(std::memory_order_acquire) == 0; }

 private:
  // The mutex is fair, because a writer that waits for it holds the engine's write lock. A fair
  // mutex does not let overlapping readers delay the writer.
  mutable FairSharedMutex mutex_;
  Rows rows_;  // guarded by mutex_
  std::atomic<size_t> size_{0};
  std::atomic<size_t> bytes_{0};
  std::atomic<size_t>& total_;
};

}  // namespace hg::lsm
