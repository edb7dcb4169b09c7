#pragma once
// The fields of an encoded row, in their order (FORMAT.md "Row"). The functions are for code that
// moves fields without decoding points.

#include <utility>

#include "storage/base/bytes.h"
#include "storage/points/bit_pack.h"
#include "storage/points/number_stream.h"
#include "storage/points/row_codec.h"
#include "storage/points/split_stream.h"

namespace hg::points {

/// Bits of the first byte of an encoded row.
enum RowHead : uint8_t {
  kRowFormMask = 0x03,
  kRowDups = 0x04,
  kRowHasRaw = 0x08,
  kRowSequences = 0x10,
  kRowMore = 0x20,  // a second byte follows
};
/// A bit of the second byte of an encoded row.
inline constexpr uint8_t kRowHasStatistics = 0x01;
/// Statistics of floats begin with one byte. It is either the power of ten by which the statistics
/// are scaled, or kStatisticsAsTheyAre.
inline constexpr uint8_t kStatisticsExponentMax = 6, kStatisticsAsTheyAre = 0xFF;
inline constexpr int kRowClassShift = 6;
enum RowClass : uint8_t { kInts = 0, kFloats = 1, kMixed = 2, kPlain = 3 };
enum RowTimes : uint8_t { kSecondsGrid = 0, kSeconds = 1, kMillisGrid = 2, kMillis = 3, kBoth = 4 };

/// The kinds of fields of an encoded row. In a packed block of a file, the fields of one kind are
/// stored together for all rows of the block.
enum class RowField : uint8_t {
  kHead,
  kCount,
  kTimes,       // kind of the times, and the numbers that describe them
  kTimesWidth,  // width of packed steps between times
  kPacked,      // packed steps, numbers and sequences; kind bits; verbatim numbers
  kStream,      // kind, exponent, width of packed numbers
  kShape,       // number of low bits, flags and middle of split numbers
  kFirst,       // first numbers of streams
  kHigh,
  kLow,
  kEscapes,
  kExceptions,
  kGenerations,
  // This kind has the same value as kGenerations, because a row has at most one of both fields.
  kStatistics = kGenerations,
};

/// Copies the fields of encoded rows from ByteReaders to another place, such as the columns of a
/// packed block. `from(field)` returns the ByteReader from which a field of this kind is read.
/// `to(field, bytes)` stores the bytes of the field. U8, Varint and Take each copy one field and
/// return its value. After a ByteReader has failed, they return 0 or an empty view for the fields
/// that are read from it. The result of Take is valid as long as the bytes of the reader are valid.
template <typename From, typename To>
class FieldMover {
 public:
  FieldMover(From from, To to) : from_(std::move(from)), to_(std::move(to)) {}

  [[nodiscard]] bool ok() const { return ok_; }
  void Fail() { ok_ = false; }
  uint8_t U8(RowField field) {
    const ByteView byte = Take(field, 1);
    return byte.empty() ? 0 : ByteAt(byte, 0);
  }
  uint64_t Varint(RowField field) {
    ByteReader& in = from_(field);
    const ByteView before = in.rest();
    const uint64_t v = in.Varint();
    ok_ = ok_ && in.ok();
    to_(field, before.substr(0, before.size() - in.rest().size()));
    return v;
  }
  ByteView Take(RowField field, size_t bytes) {
    ByteReader& in = from_(field);
    const ByteView taken = in.Take(bytes);
    ok_ = ok_ && in.ok();
    to_(field, taken);
    return taken;
  }

 private:
  From from_;
  To to_;
  bool ok_ = true;
};

/// Copies the `n` encoded numbers of one number stream (number_stream.h) with the help of `mover`,
/// which is a FieldMover. `floats` tells whether the numbers are floats.
template <typename Mover>
void MoveNumbers(Mover& mover, bool floats, size_t n) {
  const uint8_t kind = mover.U8(RowField::kStream);
  const uint8_t how = kind & 0xF;
  if (floats && how != kAsTheyAre && how != kSplitBits) mover.U8(RowField::kStream);
  switch (how) {
    case kEqual:
      mover.Varint(RowField::kFirst);
      return;
    case kRange:
    case kSteps: {
      mover.Varint(RowField::kFirst);
      if (how == kSteps) mover.Varint(RowField::kShape);
      const int width = mover.U8(RowField::kStream);
      mover.Take(RowField::kPacked,
                 width > 64 ? SIZE_MAX : PackedBytes(n - (how == kSteps), width));
      return;
    }
    case kAsTheyAre:
      mover.Take(RowField::kPacked, n * (floats && kind >> 4 == kFloatsSingle ? 4 : 8));
      return;
    case kSplit:
    case kSplitBits: {
      const uint8_t shape = mover.U8(RowField::kShape);
      mover.Varint(RowField::kShape);
      const bool steps = (shape & kSplitSteps) != 0;
      if (steps) mover.Varint(RowField::kFirst);
      const size_t count = n - (steps ? 1 : 0);
      size_t escapes = 0;
      // Counting with find is fast, because escapes are rare and find examines many bytes at once.
      const ByteView highs = mover.Take(RowField::kHigh, count);
      for (size_t at = highs.find(static_cast<char>(kSplitEscape)); at != ByteView::npos;
           at = highs.find(static_cast<char>(kSplitEscape), at + 1)) {
        ++escapes;
      }
      mover.Take(RowField::kLow, PackedBytes(count, shape & 0x3F));
      for (; escapes > 0 && mover.ok(); --escapes) mover.Varint(RowField::kEscapes);
      return;
    }
    default:
      mover.Take(RowField::kPacked, SIZE_MAX);  // fails because the kind is unknown
  }
}

template <typename Mover>
void MoveExceptions(Mover& mover) {
  uint64_t count = mover.Varint(RowField::kExceptions);
  for (; count > 0 && mover.ok(); --count) {
    mover.Varint(RowField::kExceptions);
    const uint8_t flags = mover.U8(RowField::kExceptions);
    mover.Take(RowField::kExceptions, static_cast<size_t>(ValueWidth(flags)));
  }
}

template <typename Mover>
void MoveStream(Mover& mover, bool floats, size_t n) {
  MoveNumbers(mover, floats, n);
  MoveExceptions(mover);
}

/// Copies the encoded statistics of a row (row_statistics.h) with the help of `mover`, which is a
/// FieldMover.
template <typename Mover>
void MoveStatistics(Mover& mover, bool doubles) {
  mover.Varint(RowField::kStatistics);
  if (doubles && mover.U8(RowField::kStatistics) == kStatisticsAsTheyAre) {
    mover.Take(RowField::kStatistics, 3 * sizeof(double));
    return;
  }
  for (int i = doubles ? 4 : 3; i > 0; --i) mover.Varint(RowField::kStatistics);
}

/// Copies all fields of one encoded row with the help of `mover`, which is a FieldMover.
/// `stream(floats, n)` must copy one stream of the row. Returns false if the bytes are not a row.
/// After a return of false, the position of `mover` is undefined.
template <typename Mover, typename Stream>
bool MoveRow(Mover& mover, Stream&& stream) {
  const uint8_t head = mover.U8(RowField::kHead);
  const uint8_t more = (head & kRowMore) != 0 ? mover.U8(RowField::kHead) : 0;
  if (more > kRowHasStatistics) return false;
  const uint64_t count = mover.Varint(RowField::kCount);
  if (!mover.ok() || count == 0 || count > kRowPointsMax) return false;
  const auto n = static_cast<size_t>(count);
  const uint8_t times = mover.U8(RowField::kTimes);
  if (times > kBoth) return false;
  mover.Varint(RowField::kTimes);
  if (n > 1) mover.Varint(RowField::kTimes);
  if (times == kSeconds || times == kMillis || times == kBoth) {
    const int width = mover.U8(RowField::kTimesWidth);
    if (width > 64) return false;
    mover.Take(RowField::kPacked, PackedBytes(n - 1, width));
  }
  if (times == kBoth) mover.Take(RowField::kPacked, PackedBytes(n, 1));
  const int how = head >> kRowClassShift;
  if (more != 0 && (how > kFloats || (head & kRowSequences) != 0)) return false;
  if (more != 0) MoveStatistics(mover, how == kFloats);
  switch (how) {
    case kInts:
    case kFloats:
      stream(how == kFloats, n);
      break;
    case kMixed: {
      size_t floats = 0;
      const ByteView marks = mover.Take(RowField::kPacked, PackedBytes(n, 1));
      if (!mover.ok()) return false;
      UnpackBits(marks, n, 1, [&](size_t, uint64_t mark) { floats += mark; });
      if (floats == 0 || floats >= n) return false;
      stream(false, n - floats);
      stream(true, floats);
      break;
    }
    default:
      mover.Take(RowField::kPacked, n * 9);
  }
  if ((head & kRowSequences) != 0) {
    mover.Varint(RowField::kGenerations);
    const int width = mover.U8(RowField::kGenerations);
    if (width > 64) return false;
    mover.Take(RowField::kPacked, PackedBytes(n, width));
  }
  return mover.ok();
}

}  // namespace hg::points
