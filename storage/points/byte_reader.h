#pragma once
// Reads numbers and bytes from the front of an encoded row.

#include <cstdint>

#include "storage/base/bytes.h"
#include "storage/base/varint.h"
#include "storage/points/bit_pack.h"

namespace hg::points {

/// Reads numbers and bytes from the front of a view and removes them. If bytes are missing, ok()
/// returns false from then on and all reads return zero.
class ByteReader {
 public:
  ByteReader() = default;
  explicit ByteReader(ByteView in) : in_(in) {}

  [[nodiscard]] bool ok() const { return ok_; }
  [[nodiscard]] ByteView rest() const { return in_; }
  void Fail() {
    ok_ = false;
    in_ = {};
  }
  uint8_t U8() {
    if (in_.empty()) {
      Fail();
      return 0;
    }
    const uint8_t b = ByteAt(in_, 0);
    in_.remove_prefix(1);
    return b;
  }
  uint64_t Varint() {
    uint64_t v = 0;
    if (!GetVarint64(&in_, &v)) Fail();
    return v;
  }
  int64_t Zz() { return UnZigZag(Varint()); }
  uint64_t Big(int width) {
    const ByteView b = Take(static_cast<size_t>(width));
    return b.empty() ? 0 : ReadBig(b.data(), width);
  }
  /// Removes and returns n bytes. If fewer than n bytes are left, fails and returns an empty view.
  ByteView Take(size_t n) {
    if (n > in_.size()) Fail();
    if (!ok_) return {};
    const ByteView taken = in_.substr(0, n);
    in_.remove_prefix(n);
    return taken;
  }
  /// Reads one byte with the width, followed by `count` packed numbers of this width. After a
  /// failure, `*width` is 0.
  ByteView Packed(size_t count, int* width) {
    *width = U8();
    if (*width > 64) Fail();
    const ByteView packed = ok_ ? Take(PackedBytes(count, *width)) : ByteView();
    if (!ok_) *width = 0;
    return packed;
  }

 private:
  ByteView in_;
  bool ok_ = true;
};

}  // namespace hg::points
