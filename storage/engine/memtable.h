#pragma once
// A memtable holds the row-hours, the rows of cells of every table and the new series of
// consecutive sequence numbers. One memtable is active. Frozen memtables wait to be flushed.

#include <array>
#include <atomic>
#include <cstdint>
#include <memory>
#include <utility>

#include "storage/engine/row_memory.h"
#include "storage/lsm/cell_memory.h"
#include "storage/lsm/log.h"

namespace hg::engine {

/// All table ids are below this number. A table id is never reused, so a write to a dropped table
/// cannot change another table.
inline constexpr uint32_t kTablesMax = 1 << 20;

/// The engine holds its write lock while it changes the memtable, except during log replay. Other
/// threads may read the memtable meanwhile, as RowMemory and CellMemory describe.
class Memtable {
 public:
  explicit Memtable(int64_t made_ms) : made_ms(made_ms) {}
  Memtable(const Memtable&) = delete;
  Memtable& operator=(const Memtable&) = delete;
  ~Memtable() {
    for (auto& group : tables_) {
      const std::unique_ptr<Group> owned(group.load(std::memory_order_relaxed));
      if (owned == nullptr) continue;
      for (auto& cells : *owned) delete cells.load(std::memory_order_relaxed);
    }
    if (counted_in_ != nullptr) *counted_in_ -= counted_;
  }
  /// Adds the size of the memtable to `total`. The destructor subtracts the size again, after the
  /// last reader has released the memtable. Call this function once, when the memtable is frozen.
  void CountIn(std::shared_ptr<std::atomic<uint64_t>> total) {
    counted_ = bytes();
    *total += counted_;
    counted_in_ = std::move(total);
  }

  /// Returns the rows of a table, or null if the memtable has no rows of the table.
  [[nodiscard]] const lsm::CellMemory* Cells(uint32_t table) const {
    const Group* const group = tables_[table / kGroup].load(std::memory_order_acquire);
    return group == nullptr ? nullptr : (*group)[table % kGroup].load(std::memory_order_acquire);
  }
  [[nodiscard]] lsm::CellMemory& CellsOrMake(uint32_t table) {
    Group& group = LoadOrMake(&tables_[table / kGroup], [] { return std::make_unique<Group>(); });
    return LoadOrMake(&group[table % kGroup],
                      [this] { return std::make_unique<lsm::CellMemory>(&cell_bytes_); });
  }
  [[nodiscard]] size_t bytes() const {
    return rows.bytes() + cell_bytes_.load(std::memory_order_relaxed);
  }

  const int64_t made_ms;  // time at which the memtable was created (Clock::NowMs)

  // The following members are set before the memtable becomes active.
  uint64_t after_sequence = 0;  // all records of the memtable have greater sequence numbers
  uint32_t series_begin = 0;    // number of the first series that was created in the memtable

  RowMemory rows;

  // The following members are set when the memtable is frozen, before readers can see that it is
  // frozen.
  uint64_t last_sequence = 0;  // the greatest sequence number in the memtable
  uint32_t series_end = 0;     // all series that were created in the memtable have lower numbers
  lsm::Log::Switch log_end{};  // where the log records of the next memtable begin

 private:
  // Number of table ids in one group of tables_. Groups save memory, because only few table ids are
  // used and most used ids are close together.
  static constexpr uint32_t kGroup = 1 << 10;
  using Group = std::array<std::atomic<lsm::CellMemory*>, kGroup>;

  // Returns *place. If *place is null, creates the object first. During log replay, several threads
  // may call this function at the same time.
  template <typename T, typename Make>
  static T& LoadOrMake(std::atomic<T*>* place, const Make& make) {
    T* held = place->load(std::memory_order_acquire);
    if (held != nullptr) return *held;
    std::unique_ptr<T> made = make();
    if (place->compare_exchange_strong(held, made.get(), std::memory_order_acq_rel)) {
      held = made.release();
    }
    return *held;
  }

  std::atomic<size_t> cell_bytes_{0};  // bytes of the cells in all tables
  uint64_t counted_ = 0;
  std::shared_ptr<std::atomic<uint64_t>> counted_in_;
  std::array<std::atomic<Group*>, kTablesMax / kGroup> tables_{};  // index: table id / kGroup
};

}  // namespace hg::engine
