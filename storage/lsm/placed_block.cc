#include "storage/lsm/placed_block.h"

#include "storage/base/invariant.h"
#include "storage/lsm/block_layout.h"

namespace hg::lsm {
namespace {

constexpr size_t kPlaceEvery = 1024;  // bytes of entries between two indexed entries
// Maximum bytes of entries. Larger blocks get an empty index.
constexpr size_t kPlacedBytesMax = 1U << 30;
constexpr size_t kPlaceBytes = 8, kPlacesEndBytes = 8;

uint32_t LittleAt(ByteView bytes, size_t at) {
  ByteView in = bytes.substr(at, 4);
  return static_cast<uint32_t>(TakeLittle(&in, 4));
}

}  // namespace

PlacedBlock::PlacedBlock(ByteView block) : block_(block) {
  count_ = LittleAt(block, block.size() - 8);
  entries_ = LittleAt(block, block.size() - 4);
  if (count_ == 0) entries_ = block.size() - kPlacesEndBytes;
  INVARIANT(block.size() >= kPlacesEndBytes + count_ * kPlaceBytes);
  index_ = block.size() - kPlacesEndBytes - count_ * kPlaceBytes;
  INVARIANT(entries_ <= index_);
}

void PlacedBlock::Jump(ByteView start, ByteView* in, Bytes* key) const {
  size_t first = 0;
  for (size_t end = count_; first < end;) {
    const size_t middle = (first + end) / 2;
    KeyOf(middle) < start ? first = middle + 1 : end = middle;
  }
  if (first == 0 || in->empty()) return;
  const size_t behind = LittleAt(block_, index_ + (first - 1) * kPlaceBytes + 4);
  INVARIANT(behind <= entries_);
  if (block_.data() + behind <= in->data()) return;
  *in = entries().substr(behind);
  *key = KeyOf(first - 1);
}

ByteView PlacedBlock::KeyOf(size_t place) const {
  const size_t begin = LittleAt(block_, index_ + place * kPlaceBytes);
  const size_t end =
      place + 1 < count_ ? LittleAt(block_, index_ + (place + 1) * kPlaceBytes) : index_;
  return block_.substr(begin, end - begin);
}

Bytes WithPlaces(ByteView entries) {
  Bytes keys, index;
  uint32_t count = 0;
  Bytes key;
  ByteView value;
  size_t last = 0;
  for (ByteView in = entries; entries.size() <= kPlacedBytesMax && TakeEntry(&in, &key, &value);) {
    const size_t behind = entries.size() - in.size();
    if (in.empty() || behind - last < kPlaceEvery) continue;
    AppendLittle(&index, entries.size() + keys.size(), 4);
    AppendLittle(&index, behind, 4);
    keys += key;
    last = behind;
    ++count;
  }
  Bytes out;
  out.reserve(entries.size() + keys.size() + index.size() + kPlacesEndBytes);
  out.append(entries).append(keys).append(index);
  AppendLittle(&out, count, 4);
  AppendLittle(&out, entries.size(), 4);
  return out;
}

}  // namespace hg::lsm
