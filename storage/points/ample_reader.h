#pragma once
// Reads numbers from the front of a buffer that certainly has all bytes of these numbers.

#include <cstdint>

#include "storage/base/bytes.h"
#include "storage/base/varint.h"

namespace hg::points {

/// Reads numbers as ByteReader does, but does not check for the end of the buffer. The caller must
/// ensure that the buffer has at least as many bytes as the fields that it reads can have. Packed
/// numbers and byte sequences have no maximum length, so AmpleReader cannot read them: Take and
/// Packed fail.
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
