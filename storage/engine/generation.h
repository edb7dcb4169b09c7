#pragma once
// All memory written since a sequence (engine.md §4): row-hours, generic rows of every table, new
// series. One is active; frozen ones wait for their files.

#include <array>
#include <atomic>
#include <cstdint>
#include <memory>
#include <utility>

#include "storage/engine/row_memory.h"
#include "storage/lsm/cell_memory.h"
#include "storage/lsm/log.h"

namespace hg::points {

/// Ids of tables are below it.
inline constexpr uint32_t kTablesMax = 256;

/// Changed by the engine inside its write lock; read from any thread as the members say.
class Generation {
 public:
  explicit Generation(int64_t made_ms) : made_ms(made_ms) {}
  Generation(const Generation&) = delete;
  Generation& operator=(const Generation&) = delete;
  ~Generation() {
    for (auto& cells : tables_) delete cells.load(std::memory_order_relaxed);
    if (counted_in_ != nullptr) *counted_in_ -= counted_;
  }
  /// Adds its bytes to `total`, and takes them off when the last reader has let go of it. Once,
  /// when it is frozen.
  void CountIn(std::shared_ptr<std::atomic<uint64_t>> total) {
    counted_ = bytes();
    *total += counted_;
    counted_in_ = std::move(total);
  }

  /// The rows of a table, or null.
  [[nodiscard]] const lsm::CellMemory* Cells(uint32_t table) const {
    return tables_[table].load(std::memory_order_acquire);
  }
  [[nodiscard]] lsm::CellMemory& CellsOrMake(uint32_t table) {
    std::atomic<lsm::CellMemory*>& place = tables_[table];
    lsm::CellMemory* cells = place.load(std::memory_order_acquire);
    if (cells != nullptr) return *cells;
    auto made = std::make_unique<lsm::CellMemory>(&cell_bytes_);
    // After a start several threads may come here at once.
    if (place.compare_exchange_strong(cells, made.get(), std::memory_order_acq_rel)) {
      cells = made.release();
    }
    return *cells;
  }
  [[nodiscard]] size_t bytes() const {
    return rows.bytes() + cell_bytes_.load(std::memory_order_relaxed);
  }

  const int64_t made_ms;

  // Set before it becomes the active one.
  uint64_t after_sequence = 0;  // holds records with greater sequences
  uint32_t series_begin = 0;    // first number of the series made in it

  RowMemory rows;

  // Set when it is frozen, before readers can see it as such.
  uint64_t last_sequence = 0;
  uint32_t series_end = 0;
  lsm::Log::Switch log_end{};  // where the log of the next generation begins

 private:
  std::atomic<size_t> cell_bytes_{0};  // of all tables
  uint64_t counted_ = 0;
  std::shared_ptr<std::atomic<uint64_t>> counted_in_;
  std::array<std::atomic<lsm::CellMemory*>, kTablesMax> tables_{};
};

}  // namespace hg::points
