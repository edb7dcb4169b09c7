#pragma once
// The generic sorted memory: rows of cells of one table that are not in a file yet.

#include <atomic>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <shared_mutex>
#include <vector>

#include "storage/lsm/cell_row.h"

namespace hg::lsm {

struct KeyedRow {
  Bytes key;
  CellRow row;
};

/// A row as memory holds it. Most are one small put, as those of names and ids are: they stand as
/// the bytes that a file has for them, a third of what they take otherwise.
class HeldRow {
 public:
  [[nodiscard]] CellRow Get() const;
  /// Get, for who sets it next.
  CellRow Take();
  void Set(CellRow row);
  /// Rough size, with its node of the map.
  [[nodiscard]] size_t MemoryBytes() const;

 private:
  [[nodiscard]] CellRow Unpack() const;
  // One of them; none: the row is empty.
  std::unique_ptr<char[]> packed_;  // two bytes of size, then as much of EncodeCellRow
  std::unique_ptr<CellRow> row_;
};

/// One writer at a time (the engine's write lock), any number of readers. A row changes only under
/// Writer, so readers see it before or after a mutation, never half of it.
class CellMemory {
 public:
  using Rows = std::map<Bytes, HeldRow, std::less<>>;

  /// `total` counts the bytes of several; it outlives this one.
  explicit CellMemory(std::atomic<size_t>* total) : total_(*total) {}

  /// Exclusive access for one row mutation; short, no I/O. A row asked for is good until another
  /// one is, or the end.
  class Writer {
   public:
    explicit Writer(CellMemory& memory)
        : memory_(memory), lock_(memory.mutex_), at_(memory.rows_.end()) {}
    ~Writer() { PutBack(); }
    Writer(const Writer&) = delete;
    Writer& operator=(const Writer&) = delete;
    /// The row, made if missing.
    CellRow& Row(ByteView key);
    /// The row, or null.
    CellRow* Find(ByteView key);

   private:
    [[nodiscard]] bool Has(ByteView key) const {
      return at_ != memory_.rows_.end() && at_->first == key;
    }
    void TakeOut();
    void PutBack();

    CellMemory& memory_;
    std::unique_lock<std::shared_mutex> lock_;
    Rows::iterator at_;  // of the row asked for last, or the end
    CellRow row_;        // the same, taken out
    size_t accounted_ = 0;
  };

  /// Copies the row; false if there is none.
  bool Get(ByteView key, CellRow* row) const;
  /// Appends copies of up to `max` rows with first ≤ key (first < key if `after`) and, unless stop
  /// is "", key < stop.
  void Copy(ByteView first, bool after, ByteView stop, size_t max,
            std::vector<KeyedRow>* out) const;
  /// Appends every n-th key of those in [start, stop).
  void SampleKeys(ByteView start, ByteView stop, size_t n, std::vector<Bytes>* keys) const;
  /// Runs f under the shared lock: for readers of state that changes together with this memory.
  template <typename F>
  void WithShared(F&& f) const {
    std::shared_lock lock(mutex_);
    f(rows_);
  }
  [[nodiscard]] size_t bytes() const { return bytes_.load(std::memory_order_relaxed); }
  [[nodiscard]] bool empty() const { return size_.load(std::memory_order_acquire) == 0; }

 private:
  mutable std::shared_mutex mutex_;
  Rows rows_;  // guarded by mutex_
  std::atomic<size_t> size_{0};
  std::atomic<size_t> bytes_{0};
  std::atomic<size_t>& total_;
};

}  // namespace hg::lsm
