#include "tsd/tools/migrate_source.h"

#include <algorithm>
#include <map>
#include <tuple>
#include <utility>
#include <vector>

#include "storage/codec/compacted.h"
#include "storage/points/reconcile.h"
#include "tsd/tools/migrate_row.h"

namespace hg::tsd {
namespace {

/// By the columns alone; a column that is no points' may give any instants.
bool InstantsRepeat(const Row& row) {
  std::vector<uint32_t> instants;
  for (const Cell& cell : row.cells) {
    if (cell.qualifier.size() % 2 != 0) continue;
    ByteView rest = cell.qualifier;
    codec::Qualifier qualifier;
    while (codec::TakeQualifier(&rest, &qualifier)) instants.push_back(qualifier.offset_ms());
  }
  if (!std::is_sorted(instants.begin(), instants.end())) {
    std::sort(instants.begin(), instants.end());
  }
  return std::adjacent_find(instants.begin(), instants.end()) != instants.end();
}

/// The cell with those of its points that won; none: it is to go.
bool KeepWinners(const std::vector<codec::StoredPoint>& points,
                 const std::map<uint32_t, codec::StoredPoint>& winners, Cell* cell) {
  std::vector<codec::StoredPoint> kept;
  for (const codec::StoredPoint& point : points) {
    const codec::StoredPoint& winner = winners.at(point.offset_ms());
    if (winner.qualifier == point.qualifier && winner.bits == point.bits) kept.push_back(point);
  }
  if (kept.empty()) return false;
  if (kept.size() == points.size()) return true;
  cell->qualifier.clear();
  cell->value.clear();
  codec::EncodePointCell(kept, &cell->qualifier, &cell->value);
  return true;
}

bool CellBefore(const Cell& a, const Cell& b) {
  return std::tie(a.family, a.qualifier) < std::tie(b.family, b.qualifier);
}

void LeaveLosers(const ReconcileOptions& reconcile, Row* row) {
  std::vector<Cell> of_points;
  std::vector<Cell> cells;
  for (Cell& cell : row->cells) {
    (PointsOfCell(cell).empty() ? cells : of_points).push_back(std::move(cell));
  }
  ReconcileOptions options = reconcile;
  options.fix_duplicates = true;
  std::map<uint32_t, codec::StoredPoint> winners;
  // Cells that PointsOfCell reads can be settled.
  if (const auto settled = points::Reconcile(of_points, options); settled.ok()) {
    for (const codec::StoredPoint& point : settled->points) winners[point.offset_ms()] = point;
  }
  for (Cell& cell : of_points) {
    const std::vector<codec::StoredPoint> all = PointsOfCell(cell);
    const bool known = std::all_of(all.begin(), all.end(), [&](const codec::StoredPoint& point) {
      return winners.contains(point.offset_ms());
    });
    if (!known || KeepWinners(all, winners, &cell)) cells.push_back(std::move(cell));
  }
  // What is left of two cells may be one column, with one content.
  std::stable_sort(cells.begin(), cells.end(), CellBefore);
  const auto same = [](const Cell& a, const Cell& b) {
    return a.family == b.family && a.qualifier == b.qualifier;
  };
  cells.erase(std::unique(cells.begin(), cells.end(), same), cells.end());
  row->cells = std::move(cells);
}

}  // namespace

void SettleSourceRow(const SourceRules& rules, Row* row) {
  if (rules.points && InstantsRepeat(*row)) LeaveLosers(rules.reconcile, row);
  for (Cell& cell : row->cells) cell.timestamp_ms = std::min(cell.timestamp_ms, rules.time_max_ms);
}

}  // namespace hg::tsd
