#pragma once
// The tables of an open store, by name and by id.

#include <atomic>
#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "storage/base/mutex.h"
#include "storage/base/status.h"
#include "storage/engine/stored_row.h"
#include "storage/engine/version.h"
#include "storage/lsm/manifest.h"

namespace hg::engine {

/// Thread-safe. The pointers that it returns stay valid as long as it lives, even after the table
/// was altered or dropped. A write through a pointer from before the change may be lost, as if the
/// write had happened before the change. The catalog's lock is a leaf lock: a thread holds it for a
/// look-up or a change of the lists, and takes no other lock meanwhile.
class TableCatalog {
 public:
  /// Adds a table, or replaces the one with the same id.
  void Add(const lsm::TableEntry& entry);
  void Remove(const Table& table);

  Result<const Table*> Find(const std::string& name) const;
  /// Returns null if there is no such table, and for the table of series.
  [[nodiscard]] const Table* ById(uint32_t id) const;
  /// All tables, ordered by name.
  [[nodiscard]] std::vector<const Table*> All() const;
  /// The table of the point store; null if there is none.
  [[nodiscard]] const Table* points() const { return points_.load(std::memory_order_acquire); }
  [[nodiscard]] bool IsPoints(uint32_t id) const {
    const Table* const table = points();
    return table != nullptr && table->id == id;
  }
  /// Returns the namespace in whose folder new files of the table are created.
  [[nodiscard]] std::string SpaceOf(uint32_t id) const;
  /// Names a region in messages, such as "table tsdb, region [, \x00\x00\x02)".
  [[nodiscard]] std::string NameOf(const Version& version, RegionPlace place) const;

 private:
  std::atomic<const Table*> points_{nullptr};  // set once; replaced when the table is altered
  mutable SharedMutex mutex_;
  std::vector<std::unique_ptr<Table>> tables_ GUARDED_BY(mutex_);  // also replaced and dropped ones
  std::map<std::string, const Table*> by_name_ GUARDED_BY(mutex_);
  std::map<uint32_t, const Table*> by_id_ GUARDED_BY(mutex_);
};

/// Returns NotFound if the table was dropped in this version.
Status CheckThere(const Version& version, const Table& table);
/// Returns the order in which a table with this descriptor keeps the cells of its rows.
lsm::CellOrder OrderOf(const TableDescriptor& table);

}  // namespace hg::engine
