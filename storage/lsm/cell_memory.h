#pragma once
// The memtable of a cell table: sorted rows that are not in a file yet.

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
  bool left_out = false;  // whether the row is wide and was not copied; CellMemory::Get reads it
};

/// A row in a memtable. Most rows are one small put, such as names and ids. Such a row is stored as
/// encoded bytes, which need a third of the memory. A wide row has many columns and stores each
/// column separately. Reading or changing one column then does not touch the others.
class HeldRow {
 public:
  HeldRow();
  ~HeldRow();
  HeldRow(HeldRow&&) noexcept;
  HeldRow& operator=(HeldRow&&) noexcept;

  [[nodiscard]] bool wide() const;
  /// Returns the number of cells and tombstones.
  [[nodiscard]] size_t cells() const;
  [[nodiscard]] CellRow Get(const ColumnChoice& wanted = {}) const;
  /// Returns all columns like Get, but may leave this row empty. For callers that then replace the
  /// row by calling Set.
  CellRow Take();
  void Set(CellRow row);
  /// For wide rows: returns a row with this column and everything else on which a change of this
  /// column depends.
  [[nodiscard]] CellRow GetColumn(uint8_t family, ByteView qualifier) const;
  /// For wide rows: replaces the column by the same column of `row`, which the caller got from
  /// GetColumn and then changed.
  void SetColumn(uint8_t family, ByteView qualifier, CellRow row);
  /// Returns the approximate size in bytes, including the map node.
  [[nodiscard]] size_t MemoryBytes() const;

 private:
  struct Large;
  void Set(CellRow row, size_t cells_max);
  [[nodiscard]] CellRow Unpack() const;
  // At most one of the following members is set. If none is set, the row is empty.
  std::unique_ptr<char[]> packed_;  // the size in two bytes, then the output of EncodeCellRow
  std::unique_ptr<Large> large_;
};

/// One writer at a time (under the engine's write lock) and any number of readers. Rows are changed
/// only through a Writer, so readers see each mutation completely or not at all.
class CellMemory {
 public:
  using Rows = std::map<Bytes, HeldRow, std::less<>>;

  /// `total` counts the bytes of several memtables. It must outlive this object.
  explicit CellMemory(std::atomic<size_t>* total) : total_(*total) {}

  /// Exclusive access for one row mutation. Keep it short and without I/O. A returned reference is
  /// valid until the next call or the end of the Writer.
  class Writer {
   public:
    explicit Writer(CellMemory& memory)
        : memory_(memory), lock_(memory.mutex_), at_(memory.rows_.end()) {}
    ~Writer() { PutBack(); }
    Writer(const Writer&) = delete;
    Writer& operator=(const Writer&) = delete;
    /// Returns the row, and creates it if it does not exist.
    CellRow& Row(ByteView key);
    /// Returns the row, or null if there is none.
    CellRow* Find(ByteView key);
    /// Returns the row for a change of only this column, and creates the row if it does not exist.
    /// If the row is wide, the result may have only this column and the tombstones of families.
    CellRow& Column(ByteView key, uint8_t family, ByteView qualifier);
    /// Like Column, but returns null if there is no row.
    CellRow* FindColumn(ByteView key, uint8_t family, ByteView qualifier);

   private:
    struct ColumnName {
      uint8_t family;
      Bytes qualifier;
    };
    [[nodiscard]] bool Has(ByteView key) const {
      return at_ != memory_.rows_.end() && at_->first == key;
    }
    /// Moves at_ to the row. If there is no such row, sets at_ to the end and returns false.
    bool MoveTo(ByteView key);
    void Make(ByteView key);
    void TakeOut();
    void TakeOutColumn(uint8_t family, ByteView qualifier);
    void PutBack();

    CellMemory& memory_;
    std::unique_lock<FairSharedMutex> lock_;
    Rows::iterator at_;                 // the last requested row, or the end
    CellRow row_;                       // the row at at_, or its requested column
    std::optional<ColumnName> column_;  // set if row_ is this column of a wide row
    size_t accounted_ = 0;
  };

  /// Copies the row. Returns false if there is none.
  bool Get(ByteView key, CellRow* row) const;
  /// Copies the selected columns. `memory` is charged before the copy, and if that fails, its error
  /// is returned; null means no limit.
  Result<bool> Get(ByteView key, const ColumnChoice& wanted, MemoryTally* memory,
                   CellRow* row) const;
  /// Appends copies of up to `max` rows with key ≥ first (key > first if `after` is set) and key <
  /// stop. An empty `stop` means no end. Wide rows are returned without their columns.
  void Copy(ByteView first, bool after, ByteView stop, size_t max,
            std::vector<KeyedRow>* out) const;
  /// Appends every n-th key in [start, stop) to *keys.
  void SampleKeys(ByteView start, ByteView stop, size_t n, std::vector<Bytes>* keys) const;
  /// Runs f while readers may read and writers wait. Readers that also read other state which
  /// changes together with this memtable use this function.
  template <typename F>
  void WithShared(F&& f) const {
    std::shared_lock lock(mutex_);
    f(rows_);
  }
  [[nodiscard]] size_t bytes() const { return bytes_.load(std::memory_order_relaxed); }
  [[nodiscard]] bool empty() const { return size_.load(std::memory_order_acquire) == 0; }

 private:
  // A fair mutex, because a writer that waits for it holds the engine's write lock. With a fair
  // mutex, overlapping readers cannot keep the writer waiting.
  mutable FairSharedMutex mutex_;
  Rows rows_;  // guarded by mutex_
  std::atomic<size_t> size_{0};
  std::atomic<size_t> bytes_{0};
  std::atomic<size_t>& total_;
};

}  // namespace hg::lsm
