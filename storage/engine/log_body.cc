#include "storage/engine/log_body.h"

#include <cstring>

#include "storage/base/sized_bytes.h"
#include "storage/base/varint.h"
#include "storage/codec/qualifier.h"
#include "storage/points/row_part.h"

namespace hg::engine {
namespace {

// Control byte of an entry: the number of bytes of the series delta (0, 1, 2 or 4), then flags for
// the fields that follow.
constexpr uint8_t kDeltaMask = 0x3;
constexpr uint8_t kHasBase = 0x4;
constexpr uint8_t kMillis = 0x8;
constexpr uint8_t kControlMask = 0xF;
constexpr int kDeltaBytes[4] = {0, 1, 2, 4};

// Kinds of changes are those of CellChange, plus one for puts that expire and one for appends.
constexpr uint8_t kExpiringPut = 5;
constexpr uint8_t kAppend = 6;
static_assert(static_cast<uint8_t>(CellChange::Kind::kDeleteFamilyVersion) == kExpiringPut - 1);

constexpr uint32_t ZigZag32(uint32_t delta) {
  return delta << 1 ^ static_cast<uint32_t>(static_cast<int32_t>(delta) >> 31);
}
constexpr uint32_t UnZigZag32(uint32_t v) { return v >> 1 ^ (~(v & 1) + 1); }

bool Canonical(codec::Qualifier q) {
  if (!q.valid_flags() || q.offset_ms() >= kRowSpan * 1000) return false;
  return q.is_millis() ? (q.bits & 0x30) == 0 : q.bits <= UINT16_MAX;
}

template <typename T>
T Load(const char* p) {
  T v;
  std::memcpy(&v, p, sizeof v);
  return v;
}

uint64_t Widen(uint64_t bits, uint8_t flags) {
  if ((flags & kFloatFlag) != 0) return bits;
  const int shift = 64 - 8 * ValueWidth(flags);
  return static_cast<uint64_t>(static_cast<int64_t>(bits << shift) >> shift);
}

}  // namespace

// Stores each field at full width and lets the next field overwrite the excess. This needs no loop
// and no branch on the width.
size_t EncodePoints(std::span<const PointEntry> entries, char* out) {
  char* p = out;
  const auto count = static_cast<uint16_t>(entries.size());
  std::memcpy(p, &count, 2);
  p += 2;
  uint32_t series = 0;
  uint32_t base = 0;
  bool canonical = true;
  for (const PointEntry& entry : entries) {
    char* const control = p++;
    const uint32_t delta = ZigZag32(entry.series - series);
    const uint8_t code = delta == 0 ? 0 : delta <= 0xFF ? 1 : delta <= 0xFFFF ? 2 : 3;
    std::memcpy(p, &delta, 4);
    p += kDeltaBytes[code];
    const bool has_base = entry.base != base;
    std::memcpy(p, &entry.base, 4);
    p += has_base ? 4 : 0;
    const codec::Qualifier q{entry.qualifier};
    canonical = canonical && Canonical(q);
    const bool millis = q.is_millis();
    std::memcpy(p, &entry.qualifier, 4);
    p += millis ? 4 : 2;
    std::memcpy(p, &entry.bits, 8);
    p += q.value_width();
    *control = static_cast<char>(code | (has_base ? kHasBase : 0) | (millis ? kMillis : 0));
    series = entry.series;
    base = entry.base;
  }
  return canonical ? static_cast<size_t>(p - out) : 0;
}

bool DecodePoints(ByteView in, std::vector<PointEntry>* entries) {
  entries->clear();
  if (in.size() < 2) return false;
  const size_t count = Load<uint16_t>(in.data());
  // The padding allows reading every field at full width.
  const size_t size = in.size() - 2;
  Bytes padded;
  padded.reserve(size + kEntryBytesMax + 8);
  padded.append(in.substr(2)).append(kEntryBytesMax + 8, '\0');
  entries->resize(count);
  size_t at = 0;
  PointEntry entry;
  for (PointEntry& read : *entries) {
    if (at >= size) return false;
    const auto control = static_cast<uint8_t>(padded[at++]);
    if ((control & ~kControlMask) != 0) return false;
    const int delta_bytes = kDeltaBytes[control & kDeltaMask];
    const auto delta = static_cast<uint32_t>(Load<uint32_t>(&padded[at]) &
                                             ((uint64_t{1} << (8 * delta_bytes)) - 1));
    entry.series += UnZigZag32(delta);
    at += static_cast<size_t>(delta_bytes);
    if ((control & kHasBase) != 0) {
      entry.base = Load<uint32_t>(&padded[at]);
      at += 4;
    }
    const bool millis = (control & kMillis) != 0;
    entry.qualifier = millis ? Load<uint32_t>(&padded[at]) : Load<uint16_t>(&padded[at]);
    at += millis ? 4 : 2;
    const codec::Qualifier q{entry.qualifier};
    if (q.is_millis() != millis || !Canonical(q)) return false;
    const int width = q.value_width();
    uint64_t bits = Load<uint64_t>(&padded[at]);
    if (width < 8) bits &= (uint64_t{1} << (8 * width)) - 1;
    entry.bits = Widen(bits, q.flags());
    at += static_cast<size_t>(width);
    if (at > size) return false;
    read = entry;
  }
  return at == size;
}

void EncodeSeries(uint32_t number, ByteView tsuid, Bytes* out) {
  AppendVarint(out, number);
  *out += tsuid;
}

bool DecodeSeries(ByteView in, uint32_t* number, ByteView* tsuid) {
  if (!GetVarint32(&in, number)) return false;
  *tsuid = in;
  return true;
}

void EncodeRowRecord(const RowRecord& row, Bytes* out) {
  AppendVarint(out, row.table);
  AppendSized(out, row.key);
  AppendVarint(out, ZigZag(row.stamp_ms));
  AppendVarint(out, row.changes.size());
  for (const StampedChange& change : row.changes) {
    const bool expires = change.expires_ms != lsm::kNeverExpires;
    out->push_back(static_cast<char>(expires          ? kExpiringPut
                                     : change.operand ? kAppend
                                                      : static_cast<uint8_t>(change.kind)));
    out->push_back(static_cast<char>(change.family));
    AppendSized(out, change.qualifier);
    AppendVarint(out, ZigZag(change.timestamp_ms));
    if (expires) AppendVarint(out, ZigZag(change.expires_ms));
    if (change.kind == CellChange::Kind::kPut) AppendSized(out, change.value);
  }
}

bool DecodeRowRecord(ByteView in, RowRecord* row) {
  uint64_t stamp;
  uint64_t count;
  if (!GetVarint32(&in, &row->table) || !TakeSized(&in, &row->key) || !GetVarint64(&in, &stamp) ||
      !GetVarint64(&in, &count) || count > in.size()) {
    return false;
  }
  row->stamp_ms = UnZigZag(stamp);
  row->changes.assign(count, {});
  for (StampedChange& change : row->changes) {
    if (in.size() < 2 || ByteAt(in, 0) > kAppend) return false;
    const bool expires = ByteAt(in, 0) == kExpiringPut;
    change.operand = ByteAt(in, 0) == kAppend;
    change.kind =
        expires || change.operand ? CellChange::Kind::kPut : static_cast<CellChange::Kind>(in[0]);
    change.family = ByteAt(in, 1);
    in.remove_prefix(2);
    if (!TakeSized(&in, &change.qualifier) || !GetVarint64(&in, &stamp)) return false;
    change.timestamp_ms = UnZigZag(stamp);
    if (expires) {
      if (!GetVarint64(&in, &stamp)) return false;
      change.expires_ms = UnZigZag(stamp);
    }
    if (change.kind == CellChange::Kind::kPut && !TakeSized(&in, &change.value)) return false;
  }
  return in.empty();
}

}  // namespace hg::engine
