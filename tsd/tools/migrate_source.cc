#include "tsd/tools/migrate_source.h"

#include <algorithm>
#include <map>
#include <tuple>
#include <utility>
#include <vector>

#include "storage/codec/compacted.h"
#include "storage/codec/row_key.h"
#include "storage/points/reconcile.h"
#include "tsd/tools/migrate_row.h"

namespace hg::tsd {
namespace {

/// Returns whether several points of the row have the same time. Only qualifiers are examined, so
/// the result may be wrong if there are columns that are not points.
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

/// Removes the points that are not in `winners` from the cell. Returns false if no point is left.
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
  // Cells that PointsOfCell reads can always be reconciled.
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
  // After points were removed, two cells may have the same column and the same content.
  std::stable_sort(cells.begin(), cells.end(), CellBefore);
  const auto same = [](const Cell& a, const Cell& b) {
    return a.family == b.family && a.qualifier == b.qualifier;
  };
  cells.erase(std::unique(cells.begin(), cells.end(), same), cells.end());
  row->cells = std::move(cells);
}

}  // namespace

Result<ExpiryRules> ExpiryOf(Store& there, const std::string& table, bool native,
                             const KeyLayout& layout, int64_t now_ms) {
  constexpr int64_t kMarginMs = 60'000;
  ExpiryRules rules{native, layout};
  ASSIGN_OR_RETURN(const TableDescriptor descriptor, there.DescribeTable(table));
  for (const FamilyDescriptor& family : descriptor.families) {
    if (family.ttl_s >= kTtlForever || family.min_versions > 0) continue;
    rules.oldest_ms[family.name] = now_ms + kMarginMs - family.ttl_s * 1000;
  }
  return rules;
}

uint64_t LeaveExpired(const ExpiryRules& rules, Row* row) {
  if (rules.oldest_ms.empty()) return 0;
  const auto key = codec::RowKey::Decode(rules.layout, row->key);
  uint64_t expired = 0;
  std::erase_if(row->cells, [&](Cell& cell) {
    const auto family = rules.oldest_ms.find(cell.family);
    if (family == rules.oldest_ms.end()) return false;
    if (!rules.native || !key.ok()) {
      const bool old = cell.timestamp_ms < family->second;
      if (old) expired += std::max<size_t>(1, PointsOfCell(cell).size());
      return old;
    }
    const int64_t base_ms = int64_t{key->base()} * 1000;
    std::vector<codec::StoredPoint> points = PointsOfCell(cell);
    if (points.empty()) {
      const bool old = base_ms + int64_t{kRowSpan} * 1000 < family->second;
      expired += old ? 1 : 0;
      return old;
    }
    const size_t gone = std::erase_if(points, [&](const codec::StoredPoint& point) {
      return base_ms + point.offset_ms() < family->second;
    });
    expired += gone;
    if (gone == 0 || points.empty()) return gone > 0;
    cell.qualifier.clear();
    cell.value.clear();
    codec::EncodePointCell(points, &cell.qualifier, &cell.value);
    return false;
  });
  return expired;
}

void SettleSourceRow(const SourceRules& rules, Row* row) {
  if (rules.points && InstantsRepeat(*row)) LeaveLosers(rules.reconcile, row);
  for (Cell& cell : row->cells) cell.timestamp_ms = std::min(cell.timestamp_ms, rules.time_max_ms);
}

}  // namespace hg::tsd
