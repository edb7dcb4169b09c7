#pragma once
// Takes numbers off the front of bytes of which there are more than will be taken.

#include <cstdint>

#include "storage/base/bytes.h"
#include "storage/base/varint.h"

namespace hg::points {

/// As ByteReader, but nobody looks for the end of the bytes: the caller knows how many fields he
/// takes at most. Packed numbers and bytes in a row have no such bound: they fail.
class AmpleReader {
 public:
  explicit AmpleReader(ByteView in) : at_(in.data()), end_(in.data() + in.size()) {}

  [[nodiscard]] bool ok() const { return ok_; }
  [[nodiscard]] ByteView rest() const { return {at_, static_cast<size_t>(end_ - at_)}; }
  uint8_t U8() { return static_cast<uint8_t>(*at_++); }
  uint64_t Varint() {
    uint64_t byte = U8(), v = byte & 0x7F;
    for (int shift = 7; byte >= 0x80; shift += 7) {
      byte = U8();
      v |= (byte & 0x7F) << shift;
      if (shift < 63 || byte <= 1) continue;
      ok_ = false;
      return 0;
    }
    return v;
  }
  int64_t Zz() { return UnZigZag(Varint()); }
  ByteView Take(size_t) {
    ok_ = false;
    return {};
  }
  ByteView Packed(size_t, int* width) {
    *width = 0;
    return Take(0);
  }

 private:
  const char* at_;
  const char* const end_;
  bool ok_ = true;
};

}  // namespace hg::points
