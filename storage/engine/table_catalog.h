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

/// Maximum number of alterations of tables until the store is closed. The catalog keeps each
/// replaced Table, which takes up to about 40 kB, until the store is closed.
inline constexpr uint32_t kAlterationsMax = 4096;

/// The tables of an open store. Thread-safe. Pointers that the catalog returns are valid as long as
/// the catalog exists, even after the table was altered or dropped. A write through the pointer of
/// an altered or dropped table may be lost, as if the write had happened before the change. The
/// catalog's lock is a leaf lock. A thread holds it for a look-up or a change of the lists, and
/// takes no other lock meanwhile.
class TableCatalog {
 public:
  /// Adds a table. If there is a table with the same id, the new table replaces it.
  void Add(const lsm::TableEntry& entry);
  void Remove(const Table& table);

  Result<const Table*> Find(const std::string& name) const;
  /// Returns the table with this id. Returns null if the table does not exist, or if it is the
  /// table of series.
  [[nodiscard]] const Table* ById(uint32_t id) const;
  /// Returns all tables, ordered by name.
  [[nodiscard]] std::vector<const Table*> All() const;
  /// Returns the table of the point store, or null if there is none.
  [[nodiscard]] const Table* points() const { return points_.load(std::memory_order_acquire); }
  [[nodiscard]] bool IsPoints(uint32_t id) const {
    const Table* const table = points();
    return table != nullptr && table->id == id;
  }
  /// Returns the namespace whose folder gets the new files of the table; "" = the default one.
  [[nodiscard]] std::string SpaceOf(uint32_t id) const;
  /// Returns the name of a region for messages, such as "table tsdb, region [, \x00\x00\x02)".
  [[nodiscard]] std::string NameOf(const Version& version, RegionPlace place) const;

 private:
  std::atomic<const Table*> points_{nullptr};  // replaced when the table is altered
  mutable SharedMutex mutex_;
  // All tables, including replaced and dropped tables, because pointers to them must stay valid.
  std::vector<std::unique_ptr<Table>> tables_ GUARDED_BY(mutex_);
  std::map<std::string, const Table*> by_name_ GUARDED_BY(mutex_);
  std::map<uint32_t, const Table*> by_id_ GUARDED_BY(mutex_);
};

/// Returns ok if the table exists in `version`. Returns NotFound if it does not, for example
/// because it was dropped.
Status CheckThere(const Version& version, const Table& table);
/// Returns the order in which a table with this descriptor stores the cells of its rows.
lsm::CellOrder OrderOf(const TableDescriptor& table);

}  // namespace hg::engine
