#pragma once
// Filters for the rows of a scan. A filter is one of a fixed set of conditions that every engine
// can evaluate (region-store.md §7, §11.3). An engine may evaluate a filter early to read fewer
// rows, with the same result. storage/points/filter_row.h evaluates filters.

#include <cstdint>
#include <vector>

#include "storage/base/bytes.h"
#include "storage/model/key_layout.h"
#include "storage/series_matcher.h"

namespace hg {

/// A condition on rows, or several conditions combined with `and` or `or`. RowFilter is an
/// immutable value.
struct RowFilter {
  enum class Kind : uint8_t {
    kAll,  // every row passes
    // Compares the key with `operand` by `op` and `comparator`, like HBase's RowFilter.
    kCompareKey,
    // Compares the newest selected value of family:qualifier with `operand` by `op` and
    // `comparator`.
    kColumnValue,
    kRandom,  // a row passes with probability `chance`; equal seeds pass equal rows
    // The key begins with `operand` at the positions where `mask` is 0 (fuzzy filter).
    kTemplate,
    kSeries,  // the series in the key of a data table row matches `series`
    kAnd,     // all children pass
    kOr,      // at least one child passes
  };
  enum class Op : uint8_t { kLess, kLessOrEqual, kEqual, kNotEqual, kGreaterOrEqual, kGreater };
  enum class Comparator : uint8_t {
    kBytes,
    kPrefix,  // compares as many leading bytes as `operand` has
    // kEqual: the compared bytes contain `operand`, ignoring case. kNotEqual: they do not.
    kSubstring,
    // kEqual: `operand` and the compared bytes have the same length, and their bitwise AND, OR or
    // XOR is not all zero. kNotEqual: the opposite.
    kBitAnd,
    kBitOr,
    kBitXor,
  };

  Kind kind = Kind::kAll;
  Op op = Op::kEqual;
  Comparator comparator = Comparator::kBytes;
  Bytes operand;
  Bytes mask;  // kTemplate: same length as `operand`; 0 = must match, 1 = any byte
  Bytes family;
  Bytes qualifier;
  bool pass_if_missing = true;  // kColumnValue: whether a row without the column passes
  double chance = 1;            // kRandom: ≤ 0 passes no row, ≥ 1 passes every row
  uint64_t seed = 0;
  KeyLayout layout;  // kSeries: the layout of the row keys
  SeriesMatcher series;
  std::vector<RowFilter> children;
};

}  // namespace hg
