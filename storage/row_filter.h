#pragma once
// Which rows of a scan are given: a closed set of conditions that every engine can evaluate (spec
// region-store.md §7, §11.3). What is pushed down changes how many rows are looked at, never which
// are given. Evaluated by storage/points/filter_row.h.

#include <cstdint>
#include <vector>

#include "storage/base/bytes.h"
#include "storage/model/key_layout.h"
#include "storage/series_matcher.h"

namespace hg {

/// Immutable value.
struct RowFilter {
  enum class Kind : uint8_t {
    kAll,          // every row passes
    kCompareKey,   // key `op` operand, by comparator (HBase's RowFilter)
    kColumnValue,  // the newest chosen value of family:qualifier `op` operand, by comparator
    kRandom,       // with probability `chance`, the same rows for the same seed
    kTemplate,     // the key begins like operand wherever mask has a zero byte (fuzzy)
    kSeries,       // the series of a data table's key passes the matcher
    kAnd,          // all children
    kOr,           // one child at least
  };
  enum class Op : uint8_t { kLess, kLessOrEqual, kEqual, kNotEqual, kGreaterOrEqual, kGreater };
  enum class Comparator : uint8_t {
    kBytes,
    kPrefix,     // as many of the first bytes as the operand has
    kSubstring,  // kEqual: it is in there, letters of either case; kNotEqual
    kBitAnd,  // kEqual: as long as the operand, and bitwise and of both is not all zero; kNotEqual
    kBitOr,
    kBitXor,
  };

  Kind kind = Kind::kAll;
  Op op = Op::kEqual;
  Comparator comparator = Comparator::kBytes;
  Bytes operand;
  Bytes mask;  // kTemplate: as long as operand, 0 = must match, 1 = any byte
  Bytes family;
  Bytes qualifier;
  bool pass_if_missing = true;  // kColumnValue: a row without the column
  double chance = 1;            // kRandom: ≤ 0 no row, ≥ 1 every row
  uint64_t seed = 0;
  KeyLayout layout;  // kSeries
  SeriesMatcher series;
  std::vector<RowFilter> children;
};

}  // namespace hg
