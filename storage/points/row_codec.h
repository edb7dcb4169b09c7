#pragma once
// Encodes the points of one row-hour compactly and restores them exactly (FORMAT.md "Row";
// performance.md §4). The encoder decodes its result and compares the decoded points with the
// original points. If they differ, the encoder stores the points verbatim, so encoding never loses
// data. The decoder returns Corruption for bytes that the encoder did not write.

#include <bit>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "storage/base/bytes.h"
#include "storage/base/status.h"
#include "storage/points/points.h"
#include "storage/points/row_part.h"

namespace hg::points {

/// Maximum number of points of a row: 3,600 seconds and 3,600,000 milliseconds, each with six types
/// of values.
inline constexpr uint64_t kRowPointsMax = (3'600 + 3'600'000) * 6;

/// Properties of a row that are stored together with its points.
struct RowTraits {
  RowForm form = RowForm::kNone;
  // Whether the file or memtable also has raw cells (RawCell) that may change the row's points.
  bool has_raw = false;
  bool dups = false;  // whether two points have the same time; set by the encoder

  bool operator==(const RowTraits&) const = default;
};

/// Appends the encoding of `points` (in the order of RowPart::points) to `out`. Computes
/// traits.dups. Stores sequence numbers only if traits.has_raw is true, because they are needed
/// only in this case.
void EncodeRow(std::span<const PartPoint> points, const RowTraits& traits, Bytes* out);

/// The properties of a row (RowTraits) and the number of its points. ReadRowSummary reads them
/// without decoding the points.
struct RowSummary {
  RowTraits traits;
  uint32_t count = 0;
};
Result<RowSummary> ReadRowSummary(ByteView encoded);
/// Returns the statistics that are stored with a row, or nullopt if the row has no statistics.
Result<std::optional<RowStatistics>> ReadRowStatistics(ByteView encoded);

/// Decodes the points of a row. Points that were stored without their own sequence number get
/// `sequence`.
Result<RowTraits> DecodeRow(ByteView encoded, uint64_t sequence, std::vector<PartPoint>* points);

/// The points of rows as columns of numbers, as queries use them.
struct RowColumns {
  std::vector<uint32_t> offset_ms;
  std::vector<uint64_t> value;     // int64, or the bits of a double (floats are widened)
  std::vector<uint8_t> is_double;  // empty if all values are integers or all are doubles
  bool all_double = false;  // whether all values are doubles; meaningful if is_double is empty

  [[nodiscard]] size_t size() const { return offset_ms.size(); }
  void Clear();
  void Resize(size_t points) {
    offset_ms.resize(points);
    value.resize(points);
  }
  // Set sets a whole point. MarkKind sets the kind (integer or double) of `count` points whose
  // other columns are already set. Call Set and MarkKind in ascending order of positions, after
  // Resize.
  void Set(size_t at, uint32_t offset, const PointValue& stored) {
    offset_ms[at] = offset;
    value[at] = stored.is_float() ? std::bit_cast<uint64_t>(stored.as_double()) : stored.bits;
    MarkKind(at, 1, stored.is_float());
  }
  void MarkKind(size_t at, size_t count, bool doubles) {
    if (at == 0) all_double = doubles;
    if (is_double.empty() && all_double == doubles) return;
    MarkMixed(at, count, doubles);
  }
  /// Sorts the points by time. Returns false if two points have the same time.
  bool SortByTime();

 private:
  void MarkMixed(size_t at, size_t count, bool doubles);
  void SortAnew();
  void Permute(const std::vector<uint64_t>& keys);
};
/// Appends the points of a row. RowTraits::dups and has_raw of the row must be false. After a
/// failure, the caller may only call Clear on the columns.
Status AppendColumns(ByteView encoded, RowColumns* columns);

}  // namespace hg::points
