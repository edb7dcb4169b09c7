#pragma once
// For a migration from one store (the source) to another (the target): compares one row of both
// stores, and computes the changes that make the target equal. Pure functions.
//
// Rows are compared by items. In the table of points each point is an item, whatever cell holds it,
// because one side may have compacted its cells. Every other cell is one item.

#include <cstdint>
#include <string>
#include <vector>

#include "storage/codec/qualifier.h"
#include "storage/store.h"

namespace hg::tsd {

/// Number of rows and items, and a checksum of keys and items that does not depend on their order.
struct RowSum {
  uint64_t rows = 0;
  uint64_t items = 0;
  uint64_t sum = 0;

  void Add(const RowSum& other);
  /// Returns the checksum as 16 hexadecimal digits.
  [[nodiscard]] std::string Hex() const;
  bool operator==(const RowSum&) const = default;
};

/// Returns the points of a cell if encoding them again gives the same bytes; otherwise returns an
/// empty list.
std::vector<codec::StoredPoint> PointsOfCell(const Cell& cell);

/// Returns the total size of key, columns and values.
size_t BytesOf(const Row& row);

/// The form in which the target table stores cells, and the changes that are allowed there.
struct RowRules {
  bool points = false;        // this is the table of points
  bool native = false;        // the target stores points natively, each under its own qualifier
  bool remove_extra = false;  // whether to remove items that the source does not have
  bool keep_times = true;     // whether to write cells of new columns with their times
  // Whether to keep all existing data: points are written only for times without a point, and only
  // cells of new columns.
  bool only_missing = false;
  // The following two members are for the table of ids of a target that assigns ids itself.
  bool ids_stay = false;       // whether names, ids and counters of the target stay (names_first.h)
  bool counters_lead = false;  // whether a larger counter in the target counts as equal
};

RowSum SumOfRow(const Row& row, const RowRules& rules);

struct RowDifference {
  /// The changes that make the target's row equal to `source` in one mutation; empty if it is
  /// equal.
  std::vector<CellChange> changes;
  // Items that only the target has; they stay unless rules.remove_extra is set.
  uint64_t extra_items = 0;
};

/// Computes the difference between a row of the source and the same row of the target, `there`. The
/// changes put missing items of the source with their cells. They remove points of the target at
/// times for which the source has another value, and cells that contain only values that are put.
/// If the target lacks the row, `there` has no cells.
RowDifference CompareRows(const Row& source, const Row& there, const RowRules& rules);

}  // namespace hg::tsd
