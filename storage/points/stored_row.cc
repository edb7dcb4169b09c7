#include "storage/points/stored_row.h"

#include <algorithm>
#include <iterator>

#include "storage/codec/row_key.h"

namespace hg::points {

int Table::FamilyIndex(ByteView family) const {
  for (size_t i = 0; i < descriptor.families.size(); ++i) {
    if (descriptor.families[i].name == family) return static_cast<int>(i);
  }
  return -1;
}

bool IsRegularKey(const KeyLayout& layout, ByteView key, Bytes* tsuid, uint32_t* base) {
  const auto row = codec::RowKey::Decode(layout, key);
  if (!row.ok()) return false;
  const ByteView metric = row->metric();
  if (std::all_of(metric.begin(), metric.end(), [](char c) { return c == 0; })) return false;
  *tsuid = row->tsuid();
  *base = row->base();
  // Appending the key anew finds out about a foreign salt.
  return layout.salt_width == 0 || codec::MakeRowKey(layout, *tsuid, *base) == key;
}

void PutRaw(uint8_t points_family, const RawCell& cell, lsm::CellRow* cells) {
  constexpr auto kOrder = lsm::CellOrder::kByArrival;
  cells->Erase(points_family, cell.qualifier);
  cells->DeleteColumn(kOrder, points_family, cell.qualifier, cell.generation);
  cells->Put(kOrder, points_family, cell.qualifier, cell.value, cell.timestamp_ms);
}

void CellsIntoPart(uint8_t points_family, lsm::CellRow* cells, Part* part) {
  if (cells->FamilyMark(points_family) != lsm::kNoMark) {
    cells->family_marks[points_family] = lsm::kNoMark;
    part->cleared = true;
  }
  std::erase_if(cells->cells, [&](lsm::StoredCell& cell) {
    if (cell.family != points_family) return false;
    if (cell.has_value) {
      const bool ranked = cell.mark_ms != lsm::kNoMark && TouchesPoints(cell.qualifier);
      part->raw.push_back({std::move(cell.qualifier), std::move(cell.value), cell.timestamp_ms,
                           ranked ? static_cast<uint32_t>(cell.mark_ms) : 0, false});
    } else if (!part->cleared) {
      part->gone.push_back(std::move(cell.qualifier));
    }
    return true;
  });
  if (std::all_of(cells->family_marks.begin(), cells->family_marks.end(),
                  [](int64_t mark) { return mark == lsm::kNoMark; })) {
    cells->family_marks.clear();
  }
}

void PartIntoCells(uint8_t points_family, const Part& part, lsm::CellRow* cells) {
  constexpr auto kOrder = lsm::CellOrder::kByArrival;
  if (part.cleared) cells->DeleteFamily(kOrder, points_family, 0);
  for (const RawCell& cell : part.raw) {
    if (TouchesPoints(cell.qualifier)) {
      PutRaw(points_family, cell, cells);
    } else {
      cells->Put(kOrder, points_family, cell.qualifier, cell.value, cell.timestamp_ms);
    }
  }
  for (const Bytes& qualifier : part.gone) {
    cells->DeleteColumn(kOrder, points_family, qualifier, 0);
  }
}

StoredRow MergeStored(const Table& table, StoredRow newer, StoredRow older) {
  newer.cells = lsm::MergeRows(table.order(), std::move(newer.cells), std::move(older.cells));
  if (newer.regular) newer.part = Merge(std::move(newer.part), std::move(older.part));
  return newer;
}

std::vector<Cell> RenderStored(const Table& table, const StoredRow& row,
                               const RenderOptions& options) {
  std::vector<Cell> cells;
  for (const lsm::StoredCell& cell : row.cells.cells) {
    if (!cell.has_value) continue;
    cells.push_back({table.descriptor.families[cell.family].name, cell.qualifier, cell.value,
                     cell.timestamp_ms});
  }
  if (row.regular) {
    std::vector<Cell> points = Render(row.part, row.base, options);
    cells.insert(cells.end(), std::make_move_iterator(points.begin()),
                 std::make_move_iterator(points.end()));
  }
  // By family name, as a row of the cells door promises; stored rows go by the family's index.
  std::sort(cells.begin(), cells.end(), [](const Cell& a, const Cell& b) {
    return a.family != b.family ? a.family < b.family : a.qualifier < b.qualifier;
  });
  return cells;
}

}  // namespace hg::points
