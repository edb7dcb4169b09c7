#include <algorithm>

#include "storage/codec/row_key.h"
#include "storage/engine/engine.h"
#include "storage/engine/row_file.h"
#include "storage/lsm/cell_file.h"

namespace hg::points {

std::shared_ptr<const Version> Engine::Pin() const {
  std::lock_guard lock(version_mutex_);
  return version_;
}

void Engine::SetVersion(std::shared_ptr<const Version> version) {
  // What the old version held last may close and remove files: after the lock.
  std::lock_guard lock(version_mutex_);
  version_.swap(version);
}

// As the table's families want it; one file has the cells of all of them.
Result<std::shared_ptr<const RunFiles>> Engine::OpenFiles(const lsm::RunEntry& entry) {
  lsm::BlockReading reading;
  reading.cache = cache_;
  reading.counters = read_counters_;
  if (const Table* table = TableById(entry.table)) {
    const auto any = [table](bool FamilyDescriptor::*attribute) {
      return std::any_of(
          table->families.begin(), table->families.end(),
          [&](const FamilyDescriptor& f) { return !f.name.empty() && f.*attribute; });
    };
    if (!any(&FamilyDescriptor::block_cache)) reading.cache = nullptr;
    reading.in_memory = any(&FamilyDescriptor::in_memory);
  }
  return RunFiles::Open(files_, options_.path, entry, std::move(reading));
}

bool Engine::ReadMemoryPart(const Generation& generation, const RowHourMemory* row, ByteView key,
                            bool with_objects, StoredRow* out) const {
  const auto family = static_cast<uint8_t>(points_table()->points_family);
  const lsm::CellMemory* cells = generation.Cells(points_table()->id);
  // The history's end is read before the flags: whoever changed both set the flag first.
  const auto first = static_cast<uint32_t>(generation.after_sequence + 1);
  if (row != nullptr) row->Read(&out->part, first);
  const bool touched = row != nullptr && (row->flags() & RowHourMemory::kRaw) != 0;
  if (cells == nullptr || (!touched && !with_objects)) return row != nullptr;
  bool found = row != nullptr;
  cells->WithShared([&](const lsm::CellMemory::Rows& rows) {
    out->part = Part();
    if (row != nullptr) row->Read(&out->part, first);
    auto held = rows.find(key);
    if (held == rows.end()) return;
    found = true;
    out->cells = held->second.Get();
    CellsIntoPart(family, &out->cells, &out->part);
    Normalize(&out->part);
  });
  return found;
}

StoredRow Engine::ReadMemory(const Version& version, const Table& table, ByteView key, bool regular,
                             ByteView tsuid, uint32_t base) const {
  StoredRow result;
  result.regular = regular;
  result.base = base;
  const auto series = regular ? registry_.Find(tsuid) : std::nullopt;
  for (const auto& generation : version.generations) {
    StoredRow older;
    older.regular = regular;
    older.base = base;
    if (regular) {
      const RowHourMemory* row = series ? generation->rows.Newest(*series) : nullptr;
      while (row != nullptr && row->base() != base) row = row->older();
      if (!ReadMemoryPart(*generation, row, key, true, &older)) continue;
    } else {
      const lsm::CellMemory* cells = generation->Cells(table.id);
      if (cells == nullptr || !cells->Get(key, &older.cells)) continue;
    }
    result = MergeStored(table, std::move(result), std::move(older));
  }
  return result;
}

Status Engine::ListBases(const Version& version, SeriesNumber series, const RowRange& range,
                         std::vector<uint32_t>* bases) const {
  for (const auto& generation : version.generations) {
    for (const RowHourMemory* row = generation->rows.Newest(series); row != nullptr;
         row = row->older()) {
      if (row->base() >= range.begin && row->base() < range.end) bases->push_back(row->base());
    }
  }
  const ByteView tsuid = registry_.Tsuid(series);
  const lsm::TimeSpan times = TimesOf(range);
  std::vector<region::SeriesSlice> slices;
  region::SlicesOf(version.RegionsOf(points_table()->id), RowKeyPrefix(layout(), tsuid), range,
                   &slices);
  for (const region::SeriesSlice& slice : slices) {
    for (const auto& run : version.RunsOf(points_table()->id, slice.region)) {
      if (run->points() == nullptr || !run->points()->MayHoldTime(times)) continue;
      RETURN_IF_ERROR(ListFileBases(layout(), run->points(), tsuid, slice.bases, bases));
    }
  }
  std::sort(bases->begin(), bases->end());
  bases->erase(std::unique(bases->begin(), bases->end()), bases->end());
  return {};
}

Result<StoredRow> Engine::Read(const Version& version, const Table& table, ByteView key,
                               FilesRead which) const {
  Bytes tsuid;
  uint32_t base = 0;
  const bool regular = table.points_family >= 0 && IsRegularKey(layout(), key, &tsuid, &base);
  StoredRow memory = ReadMemory(version, table, key, regular, tsuid, base);
  ASSIGN_OR_RETURN(StoredRow files, ReadFiles(version, table, key, regular, tsuid, base, which));
  StoredRow row = MergeStored(table, std::move(memory), std::move(files));
  Expire(table, clock_.NowMs(), &row);
  return row;
}

Result<StoredRow> Engine::ReadFiles(const Version& version, const Table& table, ByteView key,
                                    bool regular, ByteView tsuid, uint32_t base,
                                    FilesRead which) const {
  StoredRow result;
  result.regular = regular;
  result.base = base;
  const lsm::TimeSpan hour = TimesOf({base, base});
  for (const auto& run : version.RunsOf(table.id, version.RegionsOf(table.id).IdOf(key))) {
    StoredRow older;
    older.regular = regular;
    older.base = base;
    bool found = false;
    // All of a regular row, cells, too, counts as of its hour.
    if (run->cells() != nullptr && (!regular || run->cells()->MayHoldTime(hour))) {
      ASSIGN_OR_RETURN(found, lsm::GetRow(*run->cells(), key, &older.cells));
      if (found && regular) {
        CellsIntoPart(static_cast<uint8_t>(table.points_family), &older.cells, &older.part);
      }
    }
    if (regular && which == FilesRead::kAll && run->points() != nullptr &&
        run->points()->MayHoldTime(hour)) {
      ASSIGN_OR_RETURN(const bool has_points, ReadFileRow(layout(), *run->points(), tsuid, base,
                                                          run->generation(), &older.part));
      found = found || has_points;
    }
    if (found) result = MergeStored(table, std::move(result), std::move(older));
  }
  return result;
}

}  // namespace hg::points
