#pragma once
// The points of one row-hour as few bytes, and back, bit for bit (FORMAT.md "Row"; spec
// performance.md §4). The encoder decodes what it made and compares; what does not come back equal
// is stored plainly. So a decoder that is given what the encoder wrote cannot lose anything, and
// one that is given anything else answers Corruption.

#include <bit>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "storage/base/bytes.h"
#include "storage/base/status.h"
#include "storage/points/part.h"
#include "storage/points/points.h"

namespace hg::points {

/// Points of a row at most: 3,600 seconds and 3,600,000 milliseconds, six forms of value each.
inline constexpr uint64_t kRowPointsMax = (3'600 + 3'600'000) * 6;

/// What is stored beside the points.
struct RowTraits {
  RowForm form = RowForm::kNone;
  bool has_raw = false;  // the same run holds raw cells that touch the row's points
  bool dups = false;     // an instant repeats; set by the encoder

  bool operator==(const RowTraits&) const = default;
};

/// Appends the encoding of `points` (ordered as Part::points) to `out`. traits.dups is found out
/// here. Generations are kept only with traits.has_raw: nobody else asks.
void EncodeRow(std::span<const PartPoint> points, const RowTraits& traits, Bytes* out);

/// Traits and count, without touching the points.
struct RowSummary {
  RowTraits traits;
  uint32_t count = 0;
};
Result<RowSummary> ReadRowSummary(ByteView encoded);
/// What stands beside the points of a row, where something does.
Result<std::optional<RowStatistics>> ReadRowStatistics(ByteView encoded);

/// The points as they were encoded. `generation`: of points that have none of their own.
Result<RowTraits> DecodeRow(ByteView encoded, uint32_t generation, std::vector<PartPoint>* points);

/// The same points as columns of numbers: the way of queries.
struct RowColumns {
  std::vector<uint32_t> offset_ms;
  std::vector<uint64_t> value;     // int64, or the bits of a double (singles are widened)
  std::vector<uint8_t> is_double;  // empty unless the row mixes
  bool all_double = false;         // meaningful when is_double is empty

  [[nodiscard]] size_t size() const { return offset_ms.size(); }
  void Clear();
  void Resize(size_t points) {
    offset_ms.resize(points);
    value.resize(points);
  }
  // Of points that there is room for, in ascending order of places: the whole point, or the kind of
  // `count` points whose other columns are filled.
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
  /// Brings the points into the order of their times. False: an instant repeats.
  bool SortByTime();

 private:
  void MarkMixed(size_t at, size_t count, bool doubles);
  void SortAnew();
  void Permute(const std::vector<uint64_t>& keys);
};
/// Appends the points of a row without dups and has_raw. After a failure the columns are good for
/// Clear only.
Status AppendColumns(ByteView encoded, RowColumns* columns);

}  // namespace hg::points
