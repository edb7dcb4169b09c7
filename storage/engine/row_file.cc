#include "storage/engine/row_file.h"

#include <algorithm>
#include <array>

#include "storage/codec/row_key.h"
#include "storage/points/row_codec.h"

namespace hg::engine {
Bytes RowFileKey(const KeyLayout& layout, ByteView tsuid, uint32_t base) {
  const auto metric = static_cast<size_t>(layout.metric_width);
  Bytes key;
  key.reserve(tsuid.size() + 6);
  key += tsuid.substr(0, metric);
  AppendBig(&key, (tsuid.size() - metric) / static_cast<size_t>(layout.pair_width()), 2);
  key += tsuid.substr(metric);
  AppendBig(&key, base, 4);
  return key;
}

bool SplitRowFileKey(const KeyLayout& layout, ByteView key, Bytes* tsuid, uint32_t* base) {
  const auto metric = static_cast<size_t>(layout.metric_width);
  const auto pair = static_cast<size_t>(layout.pair_width());
  if (key.size() < metric + 2 + pair + 4) return false;
  const size_t pairs = ReadBig16(key.data() + metric) * pair;
  if (key.size() != metric + 2 + pairs + 4) return false;
  tsuid->assign(key.substr(0, metric));
  tsuid->append(key.substr(metric + 2, pairs));
  *base = ReadBig32(key.data() + key.size() - 4);
  return true;
}

Bytes RowKeyPrefix(const KeyLayout& layout, ByteView tsuid) {
  Bytes key = codec::MakeRowKey(layout, tsuid, 0);
  key.resize(static_cast<size_t>(layout.salt_width + layout.metric_width));
  return key;
}

lsm::TimeSpan TimesOf(const RowRange& rows) {
  lsm::TimeSpan times;
  times.Add(int64_t{rows.begin} * 1000);
  uint64_t last = rows.begin;
  if (rows.end > last) last = std::max<uint64_t>(last, (rows.end - 1) / kRowSpan * kRowSpan);
  times.Add((static_cast<int64_t>(last) + kRowSpan) * 1000 - 1);
  return times;
}

bool RowFileOrder(const KeyLayout& layout, ByteView a, ByteView b) {
  const auto metric = static_cast<size_t>(layout.metric_width);
  if (const int order = a.substr(0, metric).compare(b.substr(0, metric)); order != 0)
    return order < 0;
  return a.size() != b.size() ? a.size() < b.size() : a < b;
}

RowFileHead RowFileHeadOf(const KeyLayout& layout, ByteView tsuid) {
  const auto metric = static_cast<size_t>(layout.metric_width);
  const ByteView pairs = tsuid.substr(metric);
  std::array<char, 2 * sizeof(uint64_t)> head{};
  char* to = std::copy_n(tsuid.data(), metric, head.data());
  const size_t size = std::min<size_t>(tsuid.size(), UINT16_MAX);
  *to++ = static_cast<char>(size >> 8);
  *to++ = static_cast<char>(size);
  if (size < UINT16_MAX) {
    std::copy_n(pairs.data(), std::min<size_t>(pairs.size(), head.end() - to), to);
  }
  return {ReadBig64(head.data()), ReadBig64(head.data() + sizeof(uint64_t))};
}

void EncodeFileRow(const points::RowPart& row_part, Bytes* out) {
  const bool has_raw = std::any_of(
      row_part.raw.begin(), row_part.raw.end(),
      [](const points::RawCell& cell) { return points::TouchesPoints(cell.qualifier); });
  points::EncodeRow(row_part.points, {row_part.form, has_raw, false}, out);
}

bool DecodeFileRow(ByteView in, uint64_t sequence, points::RowPart* row_part) {
  const auto traits = points::DecodeRow(in, sequence, &row_part->points);
  if (!traits.ok()) return false;
  row_part->form = traits->form;
  return true;
}

Status ChargePoints(uint64_t count, MemoryTally* memory) {
  if (memory == nullptr) return {};
  constexpr uint64_t kStepsPerPoint = 16;
  RETURN_IF_ERROR(memory->Step(count * kStepsPerPoint));
  return memory->Add(static_cast<int64_t>(count * (sizeof(points::PartPoint) + sizeof(Cell))));
}

Result<bool> ReadFileRow(const KeyLayout& layout, const lsm::BlockFile& file, ByteView tsuid,
                         uint32_t base, uint64_t sequence, points::RowPart* row_part,
                         MemoryTally* memory) {
  Bytes value;
  ASSIGN_OR_RETURN(const bool found, file.Get(RowFileKey(layout, tsuid, base), &value,
                                              memory != nullptr ? memory->context() : nullptr));
  // A point may take only a bit in the file.
  if (found) {
    const auto summary = points::ReadRowSummary(value);
    if (summary.ok()) RETURN_IF_ERROR(ChargePoints(summary->count, memory));
  }
  if (found && !DecodeFileRow(value, sequence, row_part))
    return file.Damaged(0, "a row-hour cannot be read");
  return found;
}

Status ListFileBases(const KeyLayout& layout, const std::shared_ptr<const lsm::BlockFile>& file,
                     ByteView tsuid, const RowRange& range, std::vector<uint32_t>* bases) {
  Bytes stop = range.end > UINT32_MAX ? RowFileKey(layout, tsuid, UINT32_MAX) + '\0'
                                      : RowFileKey(layout, tsuid, static_cast<uint32_t>(range.end));
  lsm::BlockFileScan scan(file, RowFileKey(layout, tsuid, range.begin), std::move(stop));
  for (;;) {
    ASSIGN_OR_RETURN(const bool more, scan.Next());
    if (!more) return {};
    bases->push_back(ReadBig32(scan.key().data() + scan.key().size() - 4));
  }
}

}  // namespace hg::engine
