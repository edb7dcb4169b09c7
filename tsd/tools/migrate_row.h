#pragma once
// Compares one row of two stores, for a migration from one store (the source) to another (the
// target). Computes the changes that make the row of the target equal to that of the source. All
// functions are pure.
//
// Rows are compared by items. In the table of points, each point is an item, whatever cell holds
// the point, because one of the stores may have compacted its cells. In all other tables, each cell
// is an item.

#include <cstdint>
#include <string>
#include <vector>

#include "storage/codec/qualifier.h"
#include "storage/store.h"

namespace hg::tsd {

/// The number of rows and items, and a checksum of the keys and items. The checksum does not depend
/// on their order.
struct RowSum {
  uint64_t rows = 0;
  uint64_t items = 0;
  uint64_t sum = 0;

  void Add(const RowSum& other);
  /// Returns the checksum as 16 hexadecimal digits.
  [[nodiscard]] std::string Hex() const;
  bool operator==(const RowSum&) const = default;
};

/// Returns the points of a cell if encoding these points again gives the same bytes. Otherwise
/// returns an empty list.
std::vector<codec::StoredPoint> PointsOfCell(const Cell& cell);

/// Returns the total size of the key, the columns and the values of a row in bytes.
size_t BytesOf(const Row& row);

/// The form in which a table of the target stores cells, and the changes that are allowed in this
/// table.
struct RowRules {
  bool points = false;  // whether this is the table of points
  // Whether the target stores points instead of cells. Then a single point can be deleted by its
  // qualifier.
  bool native = false;
  bool remove_extra = false;  // whether to remove items that the source does not have
  bool keep_times = true;     // whether to write cells of new columns with the times of the source
  // Whether to keep all existing data of the target. If true, points are written only for times
  // without a point, and cells only for columns that the target does not have.
  bool only_missing = false;
  // The following two members are used only for the table of ids, if the target assigns ids itself.
  bool ids_stay = false;       // whether names, ids and counters of the target stay (names_first.h)
  bool counters_lead = false;  // whether a counter counts as equal if it is larger in the target
};

RowSum SumOfRow(const Row& row, const RowRules& rules);

struct RowDifference {
  /// The changes that make the row of the target equal to `source` in one mutation. The list is
  /// empty if both rows are equal.
  std::vector<CellChange> changes;
  // Number of items that only the target has. These items stay unless rules.remove_extra is set.
  uint64_t extra_items = 0;
};

/// Computes the difference between a row of the source and the same row of the target, `there`. If
/// the target does not have the row, `there` has no cells. The changes put the items that are
/// missing in the target, with the cells that contain them in the source. The changes remove points
/// of the target at times for which the source has another value. They also remove cells that
/// contain only values that the changes put.
RowDifference CompareRows(const Row& source, const Row& there, const RowRules& rules);

}  // namespace hg::tsd
