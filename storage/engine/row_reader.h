#pragma once
// Reads a row: collects the RowParts and cells of the row from the memtables and files of a
// version, newest first, and merges them. The cell store, the point store, read-modify-writes,
// flushes and the listing of keys use this file.

#include <cstdint>
#include <vector>

#include "storage/base/request_context.h"
#include "storage/base/status.h"
#include "storage/engine/environment.h"
#include "storage/engine/registry.h"
#include "storage/engine/stored_row.h"
#include "storage/engine/table_catalog.h"
#include "storage/engine/version.h"
#include "storage/lsm/cell_memory.h"
#include "storage/points/points.h"

namespace hg::engine {

/// Selects the files of a part that a reader needs. The cell file has the cells of all families,
/// and the points file has the points.
enum class FilesRead : uint8_t { kAll, kCells };
/// Returns the files that a reader of one family needs. The family "" means all families.
inline FilesRead FilesFor(const Table& table, ByteView family) {
  const bool points = family.empty() || table.FamilyIndex(family) == table.points_family;
  return points ? FilesRead::kAll : FilesRead::kCells;
}

/// The decoded key of a row. `key` is a view of the key that was decoded.
struct RowPlace {
  ByteView key;
  bool regular = false;  // if true, tsuid and base are set from the key
  Bytes tsuid;
  uint32_t base = 0;
};

/// Calls `visit` for each row-hour of the series in the memtable whose base time is in `range`. The
/// row that was created last is visited first.
template <typename Visit>
void ForEachHour(const Memtable& memtable, SeriesNumber series, const RowRange& range,
                 const Visit& visit) {
  for (const RowHourMemory* row = memtable.rows.Newest(series); row != nullptr;
       row = row->older()) {
    if (row->base() >= range.begin && row->base() < range.end) visit(row);
  }
}

/// Reads rows from the memtables and files of a Version. Thread-safe. The reader owns nothing and
/// has no lock. Callers must pin each Version that they pass to the reader. `env`, `tables` and
/// `registry` must outlive the reader.
class RowReader {
 public:
  RowReader(const Environment& env, const TableCatalog& tables, const Registry& registry)
      : env_(env), tables_(tables), registry_(registry) {}

  /// Decodes the key of a row of the table.
  [[nodiscard]] RowPlace PlaceOf(const Table& table, ByteView key) const;
  /// Reads at least the selected columns of the row from memory and files. With FilesRead::kCells,
  /// the points files are not read. Points of a regular row are not read if no selected column
  /// depends on them. The memory of cells is charged to `memory` before cells are copied; null
  /// means no limit. Returns the error of the charge, Corruption if a file is damaged, and Busy if
  /// it would read the disk and the context of `memory` may not wait.
  Result<StoredRow> Read(const Version& version, const Table& table, ByteView key,
                         FilesRead files = FilesRead::kAll, const lsm::ColumnChoice& columns = {},
                         MemoryTally* memory = nullptr) const;
  // ReadMemory and ReadFiles are the two steps of Read. Their results may have expired cells.
  Result<StoredRow> ReadMemory(const Version& version, const Table& table, const RowPlace& place,
                               const lsm::ColumnChoice& columns, MemoryTally* memory) const;
  /// Charges the memory of the cells that ReadMemory copies, without reading them.
  Status ChargeMemory(const Version& version, const Table& table, const RowPlace& place,
                      const lsm::ColumnChoice& columns, MemoryTally* memory) const;
  Result<StoredRow> ReadFiles(const Version& version, const Table& table, const RowPlace& place,
                              FilesRead files, const lsm::ColumnChoice& columns,
                              MemoryTally* memory) const;
  /// Reads a regular row in one memtable, as of one moment. Returns false if the memtable lacks it.
  /// `row` may be null. If `with_objects` is false, cells that do not affect points may be missing.
  Result<bool> ReadMemoryRow(const Memtable& memtable, const RowHourMemory* row, ByteView key,
                             bool with_objects, MemoryTally* memory, StoredRow* out) const;
  /// Adds to `bases` the base times of those rows of the series that are in `range` and may have
  /// points. Then sorts `bases` and removes duplicates. `tsuid` is the TSUID of the series. Reads
  /// files, and may wait for the disk.
  Status ListBases(const Version& version, SeriesNumber series, ByteView tsuid,
                   const RowRange& range, std::vector<uint32_t>* bases) const;

 private:
  Result<bool> ReadMemoryColumns(const Memtable& memtable, const RowHourMemory* row,
                                 const RowPlace& place, const lsm::ColumnChoice& columns,
                                 MemoryTally* memory, StoredRow* out) const;

  const Environment& env_;
  const TableCatalog& tables_;
  const Registry& registry_;
};

}  // namespace hg::engine
