#pragma once
// One row on both sides of a migration: what it says, and what is to be done so that the other side
// says the same. Pure.
//
// A row says items: in the table of points each point, however points are gathered in cells (one
// side may have compacted them and the other not), and every other cell as it is.

#include <cstdint>
#include <string>
#include <vector>

#include "storage/codec/qualifier.h"
#include "storage/store.h"

namespace hg::tsd {

/// Rows, items, and a sum over their keys and items that does not depend on their order.
struct RowSum {
  uint64_t rows = 0;
  uint64_t items = 0;
  uint64_t sum = 0;

  void Add(const RowSum& other);
  /// `sum`, 16 digits.
  [[nodiscard]] std::string Hex() const;
  bool operator==(const RowSum&) const = default;
};

/// The points of a cell that would be written again byte for byte; of other cells none.
std::vector<codec::StoredPoint> PointsOfCell(const Cell& cell);

/// Of its key, columns and values.
size_t BytesOf(const Row& row);

/// How the table keeps cells on the side that is written to, and what it may lose there.
struct RowRules {
  bool points = false;        // it is the table of points
  bool native = false;        // which holds them natively: each goes by its own qualifier
  bool remove_extra = false;  // items that the source does not have are removed
  bool keep_times = true;     // cells are written with their times, where the column is new
  bool only_missing = false;  // what is there stays: instants that have a point, other columns
  // Of the table of ids on a side that gives out ids meanwhile:
  bool ids_stay = false;       // names, ids and counters are as they are there (names_first.h)
  bool counters_lead = false;  // a counter that is further there is no difference
};

RowSum SumOfRow(const Row& row, const RowRules& rules);

struct RowDifference {
  /// In one mutation they make `there` say what `source` does; empty where it does already.
  std::vector<CellChange> changes;
  uint64_t extra_items = 0;  // of `there`, which stay unless rules.remove_extra
};

/// Items of the source that are missing are put, with their cells; points of the other side at an
/// instant for which the source has another value are removed, as are cells that only repeat what
/// is put. A side without the row gives one without cells.
RowDifference CompareRows(const Row& source, const Row& there, const RowRules& rules);

}  // namespace hg::tsd
