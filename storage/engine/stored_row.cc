#include "storage/engine/stored_row.h"

#include <algorithm>
#include <iterator>
#include <limits>
#include <utility>

#include "storage/codec/row_key.h"

namespace hg::engine {

int Table::FamilyIndex(ByteView family) const {
  if (family.empty()) return -1;
  for (size_t i = 0; i < families.size(); ++i) {
    if (families[i].name == family) return static_cast<int>(i);
  }
  return -1;
}

bool Table::needs_strict_times() const {
  return std::any_of(families.begin(), families.end(),
                     [](const FamilyDescriptor& f) { return f.versions > 1; });
}

Status CheckValueSize(size_t size) {
  constexpr size_t kValueBytesMax = 10 << 20;
  if (size <= kValueBytesMax) return {};
  return Status::InvalidArgument("the value of a cell has " + std::to_string(size) +
                                 " bytes; the maximum is " + std::to_string(kValueBytesMax));
}

bool IsRegularKey(const KeyLayout& layout, ByteView key, Bytes* tsuid, uint32_t* base) {
  const auto row = codec::RowKey::Decode(layout, key);
  if (!row.ok()) return false;
  const ByteView metric = row->metric();
  if (std::all_of(metric.begin(), metric.end(), [](char c) { return c == 0; })) return false;
  *tsuid = row->tsuid();
  *base = row->base();
  // Encoding the key again detects a wrong salt.
  return layout.salt_width == 0 || codec::MakeRowKey(layout, *tsuid, *base) == key;
}

void PutRaw(uint8_t points_family, const points::RawCell& cell, lsm::CellRow* cells) {
  cells->Erase(points_family, cell.qualifier);
  if (cell.operand) {
    cells->Append(points_family, cell.qualifier, cell.value, cell.timestamp_ms,
                  static_cast<int64_t>(cell.sequence));
    return;
  }
  cells->DeleteColumn(points_family, cell.qualifier, static_cast<int64_t>(cell.sequence));
  cells->Put(points_family, cell.qualifier, cell.value, cell.timestamp_ms);
}

void CellsIntoRowPart(uint8_t points_family, lsm::CellRow* cells, points::RowPart* row_part) {
  if (cells->FamilyTombstone(points_family) != lsm::kNoTombstone) {
    cells->family_tombstones[points_family] = lsm::kNoTombstone;
    row_part->cleared = true;
  }
  std::erase_if(cells->cells, [&](lsm::StoredCell& cell) {
    if (cell.family != points_family) return false;
    if (cell.has_value) {
      const bool ranked =
          cell.tombstone_ms != lsm::kNoTombstone && points::TouchesPoints(cell.qualifier);
      row_part->raw.push_back({std::move(cell.qualifier), std::move(cell.value), cell.timestamp_ms,
                               ranked ? static_cast<uint64_t>(cell.tombstone_ms) : 0,
                               cell.operand});
    } else if (!row_part->cleared) {
      row_part->gone.push_back(std::move(cell.qualifier));
    }
    return true;
  });
  if (std::all_of(cells->family_tombstones.begin(), cells->family_tombstones.end(),
                  [](int64_t tombstone) { return tombstone == lsm::kNoTombstone; })) {
    cells->family_tombstones.clear();
  }
}

void RowPartIntoCells(uint8_t points_family, const points::RowPart& row_part, lsm::CellRow* cells) {
  if (row_part.cleared) cells->DeleteFamily(points_family, 0);
  for (const points::RawCell& cell : row_part.raw) {
    if (points::TouchesPoints(cell.qualifier)) {
      PutRaw(points_family, cell, cells);
    } else {
      cells->Put(points_family, cell.qualifier, cell.value, cell.timestamp_ms);
    }
  }
  for (const Bytes& qualifier : row_part.gone) {
    cells->DeleteColumn(points_family, qualifier, 0);
  }
}

StoredRow MergeStored(const Table& table, StoredRow newer, StoredRow older) {
  newer.cells = lsm::MergeRows(table.order, std::move(newer.cells), std::move(older.cells));
  if (newer.regular)
    newer.row_part = points::Merge(std::move(newer.row_part), std::move(older.row_part));
  return newer;
}

int64_t OldestSeenMs(const FamilyDescriptor& family, int64_t now_ms) {
  return family.ttl_s == kTtlForever ? std::numeric_limits<int64_t>::min()
                                     : now_ms - family.ttl_s * 1000;
}

void Expire(const Table& table, int64_t now_ms, StoredRow* row) {
  if (table.order == lsm::CellOrder::kByTime) return;
  const auto oldest_ms = [&](size_t family) {
    return family < table.families.size() ? OldestSeenMs(table.families[family], now_ms)
                                          : now_ms - 1000;
  };
  const int64_t hour_end_ms = (int64_t{row->base} + kRowSpan) * 1000 - 1;
  std::erase_if(row->cells.cells, [&](const lsm::StoredCell& cell) {
    return (row->regular ? hour_end_ms : cell.timestamp_ms) < oldest_ms(cell.family);
  });
  if (!row->regular) return;
  const int64_t oldest = oldest_ms(static_cast<size_t>(table.points_family));
  if (int64_t{row->base} * 1000 >= oldest) return;
  std::erase_if(row->row_part.points, [&](const points::PartPoint& point) {
    return int64_t{row->base} * 1000 + point.offset_ms() < oldest;
  });
  if (hour_end_ms < oldest) row->row_part.raw.clear();
}

std::vector<Cell> RenderStored(const Table& table, const StoredRow& row,
                               const points::RenderOptions& options,
                               const lsm::VersionRange& range) {
  std::vector<Cell> cells;
  if (table.order == lsm::CellOrder::kByTime) {
    for (const lsm::CellVersion* cell :
         VisibleVersions(table.families, options.now_ms, range, row.cells.versions)) {
      cells.push_back(
          {table.families[cell->family].name, cell->qualifier, cell->value, cell->timestamp_ms});
    }
  }
  for (const lsm::StoredCell& cell : row.cells.cells) {
    if (table.order == lsm::CellOrder::kByTime || !cell.has_value) continue;
    cells.push_back(
        {table.families[cell.family].name, cell.qualifier, cell.value, cell.timestamp_ms});
  }
  if (row.regular) {
    std::vector<Cell> points = points::Render(row.row_part, row.base, options);
    cells.insert(cells.end(), std::make_move_iterator(points.begin()),
                 std::make_move_iterator(points.end()));
  }
  if (table.order == lsm::CellOrder::kByArrival) {
    std::erase_if(cells, [&](const Cell& cell) {
      return cell.family.empty() || !range.Holds(cell.timestamp_ms);
    });
  }
  // The cell store returns cells ordered by family name; stored rows are ordered by family number.
  // Versions of a column stay newest first.
  const auto by_column = [](const Cell& a, const Cell& b) {
    return a.family != b.family ? a.family < b.family : a.qualifier < b.qualifier;
  };
  if (!std::is_sorted(cells.begin(), cells.end(), by_column))
    std::stable_sort(cells.begin(), cells.end(), by_column);
  return cells;
}

const lsm::CellVersion* FindVersion(const std::vector<const lsm::CellVersion*>& seen, int family,
                                    ByteView qualifier) {
  const auto it =
      std::lower_bound(seen.begin(), seen.end(), std::pair(family, qualifier),
                       [](const lsm::CellVersion* cell, const auto& column) {
                         return std::pair(int{cell->family}, ByteView(cell->qualifier)) < column;
                       });
  const bool found =
      it != seen.end() && (*it)->family == family && ByteView((*it)->qualifier) == qualifier;
  return found ? *it : nullptr;
}

const Cell* FindColumn(const std::vector<Cell>& cells, ByteView family, ByteView qualifier) {
  const auto it = std::lower_bound(
      cells.begin(), cells.end(), std::pair(family, qualifier), [](const Cell& cell, auto column) {
        return std::pair<ByteView, ByteView>(cell.family, cell.qualifier) < column;
      });
  const bool found = it != cells.end() && it->family == family && it->qualifier == qualifier;
  return found ? &*it : nullptr;
}

}  // namespace hg::engine
