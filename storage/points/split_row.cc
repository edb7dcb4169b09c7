#include "storage/points/split_row.h"

#include "storage/points/row_layout.h"
#include "storage/points/row_statistics.h"

namespace hg::points {

namespace {

// None where they are not worth while, or the bytes are no row.
std::optional<RowStatistics> StatisticsOfRow(ByteView encoded, const RowSummary& summary) {
  if (summary.count < kStatisticsPointsMin || summary.traits.dups || summary.traits.has_raw)
    return {};
  thread_local RowColumns columns;
  columns.Clear();
  if (!AppendColumns(encoded, &columns).ok()) return {};
  return StatisticsOf(columns);
}

}  // namespace

bool SplitRow(ByteView encoded, Bytes* out) {
  const auto summary = ReadRowSummary(encoded);
  if (!summary.ok()) return false;
  const size_t start = out->size();
  const uint8_t head = ByteAt(encoded, 0);
  if ((head & kRowMore) != 0) {
    out->append(encoded);
    return true;
  }
  const std::optional<RowStatistics> statistics = StatisticsOfRow(encoded, *summary);
  bool kept = false;
  ByteReader in(encoded);
  FieldMover mover([&in](RowField) -> ByteReader& { return in; },
                   [out](RowField, ByteView bytes) { out->append(bytes); });
  const bool moved = MoveRow(mover, [&](bool floats, size_t n) {
    if (statistics && !kept) AppendStatistics(*statistics, out);  // before the only stream
    kept = true;
    if (!SplitStream(&in, floats, n, out)) mover.Fail();
  });
  if (!moved || !in.rest().empty()) {
    out->resize(start);
    return false;
  }
  (*out)[start] = static_cast<char>(head | kRowMore);
  out->insert(start + 1, 1, statistics ? static_cast<char>(kRowHasStatistics) : '\0');
  return true;
}

}  // namespace hg::points
