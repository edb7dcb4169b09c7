#include "storage/engine/row_reader.h"

#include <algorithm>

#include "storage/codec/row_key.h"
#include "storage/engine/row_file.h"
#include "storage/lsm/cell_file.h"

namespace hg::engine {
namespace {

// Returns whether none of the columns depends on points.
bool WithoutPoints(const lsm::ColumnChoice& columns) {
  return !columns.all() && std::none_of(columns.qualifiers().begin(), columns.qualifiers().end(),
                                        points::TouchesPoints);
}

// Returns the row without content.
StoredRow NothingOf(const RowPlace& place) {
  StoredRow row;
  row.regular = place.regular;
  row.base = place.base;
  return row;
}

}  // namespace

Result<bool> RowReader::ReadMemoryRow(const Memtable& memtable, const RowHourMemory* row,
                                      ByteView key, bool with_objects, MemoryTally* memory,
                                      StoredRow* out) const {
  const auto family = static_cast<uint8_t>(tables_.points()->points_family);
  // A writer creates the cell memory, then sets the flag kRaw, then changes the history of the row.
  // The reads happen in the opposite order, so a reader that sees the change also sees the flag and
  // the cells.
  const uint64_t first = memtable.after_sequence + 1;
  if (row != nullptr) row->Read(&out->row_part, first);
  const bool touched = row != nullptr && (row->flags() & RowHourMemory::kRaw) != 0;
  const lsm::CellMemory* const cells = memtable.Cells(tables_.points()->id);
  if (cells == nullptr || (!touched && !with_objects)) return row != nullptr;
  RETURN_IF_ERROR(cells->Charge(key, {}, memory));
  bool has_cells = false;
  cells->WithShared([&](const lsm::CellMemory::Rows& rows) {
    out->row_part = points::RowPart();
    if (row != nullptr) row->Read(&out->row_part, first);
    const auto held = rows.find(key);
    has_cells = held != rows.end();
    if (has_cells) out->cells = held->second.Get();
  });
  if (has_cells) {
    CellsIntoRowPart(family, &out->cells, &out->row_part);
    points::Normalize(&out->row_part);
  }
  return row != nullptr || has_cells;
}

RowPlace RowReader::PlaceOf(const Table& table, ByteView key) const {
  RowPlace place;
  place.key = key;
  place.regular =
      table.points_family >= 0 && IsRegularKey(env_.layout(), key, &place.tsuid, &place.base);
  return place;
}

Result<bool> RowReader::ReadMemoryColumns(const Memtable& memtable, const RowHourMemory* row,
                                          const RowPlace& place, const lsm::ColumnChoice& columns,
                                          MemoryTally* memory, StoredRow* out) const {
  const lsm::CellMemory* cells = memtable.Cells(tables_.points()->id);
  if (cells == nullptr) return false;  // a writer that clears a row creates the cell memory first
  RETURN_IF_ERROR(cells->Charge(place.key, columns, memory));
  bool has_cells = false;
  cells->WithShared([&](const lsm::CellMemory::Rows& rows) {
    out->row_part.cleared = row != nullptr && (row->flags() & RowHourMemory::kCleared) != 0;
    const auto held = rows.find(place.key);
    has_cells = held != rows.end();
    if (has_cells) out->cells = held->second.Get(columns);
  });
  if (has_cells) {
    CellsIntoRowPart(static_cast<uint8_t>(tables_.points()->points_family), &out->cells,
                     &out->row_part);
  }
  return has_cells || out->row_part.cleared;
}

Result<StoredRow> RowReader::ReadMemory(const Version& version, const Table& table,
                                        const RowPlace& place, const lsm::ColumnChoice& columns,
                                        MemoryTally* memory) const {
  StoredRow result = NothingOf(place);
  const auto series = place.regular ? registry_.Find(place.tsuid) : std::nullopt;
  const bool without_points = WithoutPoints(columns);
  for (const auto& memtable : version.memtables) {
    StoredRow older = NothingOf(place);
    if (place.regular) {
      const RowHourMemory* const row =
          series ? memtable->rows.FindToRead(*series, place.base) : nullptr;
      if (row != nullptr && !without_points) RETURN_IF_ERROR(ChargePoints(row->entries(), memory));
      Result<bool> found = without_points
                               ? ReadMemoryColumns(*memtable, row, place, columns, memory, &older)
                               : ReadMemoryRow(*memtable, row, place.key, true, memory, &older);
      RETURN_IF_ERROR(found.status());
      if (!*found) continue;
    } else {
      const lsm::CellMemory* cells = memtable->Cells(table.id);
      if (cells == nullptr) continue;
      ASSIGN_OR_RETURN(const bool found, cells->Get(place.key, columns, memory, &older.cells));
      if (!found) continue;
    }
    result = MergeStored(table, std::move(result), std::move(older));
  }
  return result;
}

Status RowReader::ChargeMemory(const Version& version, const Table& table, const RowPlace& place,
                               const lsm::ColumnChoice& columns, MemoryTally* memory) const {
  const lsm::ColumnChoice all;
  const lsm::ColumnChoice& wanted = place.regular && !WithoutPoints(columns) ? all : columns;
  for (const auto& memtable : version.memtables) {
    const lsm::CellMemory* const cells = memtable->Cells(table.id);
    if (cells != nullptr) RETURN_IF_ERROR(cells->Charge(place.key, wanted, memory));
  }
  return {};
}

Status RowReader::ListBases(const Version& version, SeriesNumber series, ByteView tsuid,
                            const RowRange& range, std::vector<uint32_t>* bases) const {
  for (const auto& memtable : version.memtables) {
    ForEachHour(*memtable, series, range,
                [&](const RowHourMemory* row) { bases->push_back(row->base()); });
  }
  const lsm::TimeSpan times = TimesOf(range);
  std::vector<region::SeriesSlice> slices;
  region::SlicesOf(version.RegionsOf(tables_.points()->id), RowKeyPrefix(env_.layout(), tsuid),
                   range, &slices);
  for (const region::SeriesSlice& slice : slices) {
    for (const auto& part : version.PartsOf(tables_.points()->id, slice.region)) {
      if (part->points() == nullptr || !part->points()->MayHoldTime(times)) continue;
      RETURN_IF_ERROR(ListFileBases(env_.layout(), part->points(), tsuid, slice.bases, bases));
    }
  }
  std::sort(bases->begin(), bases->end());
  bases->erase(std::unique(bases->begin(), bases->end()), bases->end());
  return {};
}

Result<StoredRow> RowReader::Read(const Version& version, const Table& table, ByteView key,
                                  FilesRead which, const lsm::ColumnChoice& columns,
                                  MemoryTally* memory) const {
  const RowPlace place = PlaceOf(table, key);
  ASSIGN_OR_RETURN(StoredRow newer, ReadMemory(version, table, place, columns, memory));
  ASSIGN_OR_RETURN(StoredRow files, ReadFiles(version, table, place, which, columns, memory));
  StoredRow row = MergeStored(table, std::move(newer), std::move(files));
  Expire(table, env_.clock.NowMs(), &row);
  return row;
}

Result<StoredRow> RowReader::ReadFiles(const Version& version, const Table& table,
                                       const RowPlace& place, FilesRead which,
                                       const lsm::ColumnChoice& columns,
                                       MemoryTally* memory) const {
  StoredRow result = NothingOf(place);
  const lsm::TimeSpan hour = TimesOf({place.base, place.base});
  const bool points_too = place.regular && which == FilesRead::kAll && !WithoutPoints(columns);
  const lsm::ColumnChoice all;
  const lsm::ColumnChoice& wanted = place.regular && points_too ? all : columns;
  const uint32_t region = version.RegionsOf(table.id).IdOf(place.key);
  for (const auto& part : version.PartsOf(table.id, region)) {
    StoredRow older = NothingOf(place);
    bool found = false;
    // Everything in a regular row, including its cells, counts as part of its hour.
    if (part->cells() != nullptr && (!place.regular || part->cells()->MayHoldTime(hour))) {
      ASSIGN_OR_RETURN(found, lsm::GetRow(*part->cells(), place.key, wanted, memory, &older.cells));
      if (found && place.regular) {
        CellsIntoRowPart(static_cast<uint8_t>(table.points_family), &older.cells, &older.row_part);
      }
    }
    if (points_too && part->points() != nullptr && part->points()->MayHoldTime(hour)) {
      ASSIGN_OR_RETURN(const bool has_points,
                       ReadFileRow(env_.layout(), *part->points(), place.tsuid, place.base,
                                   part->last_sequence(), &older.row_part, memory));
      found = found || has_points;
    }
    if (found) result = MergeStored(table, std::move(result), std::move(older));
  }
  return result;
}

}  // namespace hg::engine
