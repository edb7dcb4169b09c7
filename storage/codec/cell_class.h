#pragma once
// Classifies cells of the data table by their qualifiers (opentsdb-schema.md §6.2). In a rollup
// table, three-byte qualifiers belong to rollups instead (rollup.h), so the class of a cell depends
// on its table.

#include "storage/base/bytes.h"

namespace hg::codec {

inline constexpr char kAnnotationPrefix = 0x01;
inline constexpr char kAppendPrefix = 0x05;
inline constexpr char kHistogramPrefix = 0x06;

enum class CellClass : unsigned char {
  kPoint,       // one point: a qualifier of 2 bytes, or of 4 bytes beginning with F
  kCompacted,   // several points: any other qualifier of even length ≥ 4
  kAppend,      // pairs of qualifier and value: a qualifier of 3 bytes beginning with 05
  kAnnotation,  // annotation: a qualifier of 3 or 5 bytes beginning with 01
  kHistogram,   // histogram: a qualifier of 3 or 5 bytes beginning with 06
  kUnknown,     // any other qualifier of odd length: readers ignore the cell
  // The qualifier has an even length but is invalid: it is empty, or it has two bytes and begins
  // with F. Readers reject the row.
  kMalformed,
};

inline CellClass ClassifyQualifier(ByteView qualifier) {
  const size_t n = qualifier.size();
  if (n == 0) return CellClass::kMalformed;
  const bool millis = ByteAt(qualifier, 0) >= 0xF0;
  if (n % 2 == 0) {
    if (n == 2) return millis ? CellClass::kMalformed : CellClass::kPoint;
    return n == 4 && millis ? CellClass::kPoint : CellClass::kCompacted;
  }
  if (n == 3 && qualifier[0] == kAppendPrefix) return CellClass::kAppend;
  if (n == 3 || n == 5) {
    if (qualifier[0] == kAnnotationPrefix) return CellClass::kAnnotation;
    if (qualifier[0] == kHistogramPrefix) return CellClass::kHistogram;
  }
  return CellClass::kUnknown;
}

/// Returns whether the length of the qualifier is odd. In a row of points, cells with odd lengths
/// are objects (annotation, histogram), append cells or unknown cells.
inline bool IsObjectQualifier(ByteView qualifier) { return qualifier.size() % 2 != 0; }

}  // namespace hg::codec
