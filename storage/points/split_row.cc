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

// A row that a merge moves again need not be decoded for that.
bool IsSplit(ByteView stream) {
  const int how = stream.empty() ? kEqual : ByteAt(stream, 0) & 0xF;
  return how == kSplit || how == kSplitBits;
}

}  // namespace

bool SplitRow(ByteView encoded, Bytes* out) {
  const auto summary = ReadRowSummary(encoded);
  if (!summary.ok()) return false;
  const size_t start = out->size();
  const uint8_t head = ByteAt(encoded, 0);
  const bool more = (head & kRowMore) != 0;
  if (more && ByteAt(encoded, 1) != kRowHasStatistics) {
    out->append(encoded);
    return true;
  }
  // A flush of this build wrote them, one of earlier builds did not.
  const std::optional<RowStatistics> statistics =
      more ? std::nullopt : StatisticsOfRow(encoded, *summary);
  bool kept = false;
  ByteReader in(encoded);
  FieldMover mover([&in](RowField) -> ByteReader& { return in; },
                   [out](RowField, ByteView bytes) { out->append(bytes); });
  const bool moved = MoveRow(mover, [&](bool floats, size_t n) {
    if (statistics && !kept) AppendStatistics(*statistics, out);  // before the only stream
    kept = true;
    if (IsSplit(in.rest())) {
      MoveStream(mover, floats, n);
    } else if (!SplitStream(&in, floats, n, out)) {
      mover.Fail();
    }
  });
  if (!moved || !in.rest().empty()) {
    out->resize(start);
    return false;
  }
  if (more) return true;
  (*out)[start] = static_cast<char>(head | kRowMore);
  out->insert(start + 1, 1, statistics ? static_cast<char>(kRowHasStatistics) : '\0');
  return true;
}

}  // namespace hg::points
