#pragma once
// One part of a row of cells: values and delete marks. Memory and each file hold at most one part
// of a row; the row is their merge, newest over oldest (engine.md §1).

#include <cstdint>
#include <limits>
#include <optional>
#include <vector>

#include "storage/base/bytes.h"
#include "storage/lsm/cell_versions.h"

namespace hg::lsm {

/// Which of two writes to a column is the newer one.
enum class CellOrder : uint8_t {
  kByTime,     // the later cell time, then arrival: CellRow::versions
  kByArrival,  // arrival alone: points tables (engine.md §3), CellRow::cells
};

inline constexpr int64_t kNoMark = std::numeric_limits<int64_t>::min();

/// A column of a part by arrival: a value, a mark, or both. The mark speaks of older parts only.
struct StoredCell {
  uint8_t family = 0;  // index in the table's descriptor
  bool has_value = false;
  bool operand = false;  // the value is to be appended to what older parts hold
  Bytes qualifier;
  Bytes value;
  int64_t timestamp_ms = 0;
  int64_t mark_ms = kNoMark;

  bool operator==(const StoredCell&) const = default;
};

/// Plain value. Of a table by arrival: cells and family_marks; by time: versions. (Files of before
/// versions were kept hold rows by time as cells: ToVersions.)
struct CellRow {
  std::vector<StoredCell> cells;      // by family, then qualifier; unique
  std::vector<int64_t> family_marks;  // by family index; shorter = kNoMark
  CellVersions versions;

  [[nodiscard]] bool empty() const {
    return cells.empty() && family_marks.empty() && versions.empty();
  }
  [[nodiscard]] const StoredCell* Find(uint8_t family, ByteView qualifier) const;
  [[nodiscard]] int64_t FamilyMark(uint8_t family) const {
    return family < family_marks.size() ? family_marks[family] : kNoMark;
  }

  // By arrival.
  void Put(uint8_t family, ByteView qualifier, ByteView value, int64_t timestamp_ms);
  /// Joins the value that stands there; without one, what older parts hold. `mark_ms` is set.
  void Append(uint8_t family, ByteView qualifier, ByteView more, int64_t timestamp_ms,
              int64_t mark_ms);
  void DeleteColumn(uint8_t family, ByteView qualifier, int64_t mark_ms);
  void DeleteFamily(uint8_t family, int64_t mark_ms);
  /// Takes a column out without a mark.
  void Erase(uint8_t family, ByteView qualifier);
  /// Drops the marks: what the row means when nothing older can exist.
  void DropMarks();
  /// Something was deleted and nothing put in its place: what a merge with the oldest part may rid
  /// the row of.
  [[nodiscard]] bool HasMarks() const;

  /// Turns cells and family_marks, as rows by time were stored once, into versions.
  void ToVersions();
  /// Rough size in memory.
  [[nodiscard]] size_t MemoryBytes() const;

  bool operator==(const CellRow&) const = default;

 private:
  std::vector<StoredCell>::iterator Place(uint8_t family, ByteView qualifier);
};

/// The row that `older`, then `newer` make. Associative.
CellRow MergeRows(CellOrder order, CellRow newer, CellRow older);

/// FORMAT.md "Row". Decode: false if the bytes are no row.
void EncodeCellRow(const CellRow& row, Bytes* out);
bool DecodeCellRow(ByteView in, CellRow* row);
/// The value of a row that is one put and nothing else, within `in`: rows of that kind need not be
/// taken apart. None: it may be another one, or no row.
std::optional<ByteView> OnlyValueOf(ByteView in);

}  // namespace hg::lsm
