#pragma once
// Creates random histories of one row. A history uses only a few different qualifiers, so that most
// changes affect the same cells.

#include <map>
#include <random>
#include <vector>

#include "storage/points/row_part.h"

namespace hg::points {

/// One change in the history of a row. `part` is the change as a RowPart.
struct Record {
  RowPart part;
  // The change of cells that has the same effect as `part`. It consists of `kind`, `qualifier` and
  // `value`.
  enum class Kind { kPut, kDelete, kClear, kJoin } kind = Kind::kPut;
  Bytes qualifier;
  Bytes value;
};

class RandomHistory {
 public:
  explicit RandomHistory(uint32_t seed) : random_(seed) {}

  size_t Below(size_t n) { return random_() % n; }

  Record Next() {
    ++generation_;
    Record record;
    record.qualifier = RandomQualifier();
    switch (Below(12)) {
      case 0:
        record.kind = Record::Kind::kClear;
        record.part.cleared = true;
        return record;
      case 1:
      case 2:
        record.kind = Record::Kind::kDelete;
        record.part.gone = {record.qualifier};
        return record;
      case 3:
      case 4:
        record.kind = Record::Kind::kJoin;
        record.value = RandomBytes(Below(3));
        record.part.raw = {{record.qualifier, record.value, generation_, generation_, true}};
        Normalize(&record.part);
        return record;
      default:
        break;
    }
    codec::Qualifier q;
    const bool canonical = CanonicalQualifier(record.qualifier, &q);
    record.value = RandomBytes(canonical && Below(5) != 0 ? q.value_width() : Below(6));
    PartPoint point;
    if (CanonicalPoint(record.qualifier, record.value, &point)) {
      point.sequence = generation_;
      record.part.points = {point};
      record.part.form = Below(2) == 0 ? RowForm::kAuto : RowForm::kSingle;
    } else {
      record.part.raw = {{record.qualifier, record.value, generation_, generation_, false}};
    }
    return record;
  }

 private:
  Bytes RandomBytes(size_t n) {
    Bytes bytes;
    for (size_t i = 0; i < n; ++i) bytes.push_back(static_cast<char>(random_()));
    return bytes;
  }

  // Returns a random qualifier of one of these kinds: a point at one of three times, in seconds or
  // milliseconds and with any value type; a point with an invalid time; a compacted cell, an append
  // cell, an annotation or an unknown column.
  Bytes RandomQualifier() {
    static const uint8_t kFlags[] = {kInt8, kInt16, kFloat32, kFloat64, 0x2};
    const auto second = static_cast<uint32_t>(Below(3));
    const uint8_t flags = kFlags[Below(5)];
    switch (Below(8)) {
      case 0:
        return codec::Qualifier::Millis(second * 1000, flags).Encode();
      case 1:
        return codec::Qualifier::Millis(second * 1000 + 500, flags).Encode();
      case 2:
        return Below(2) == 0 ? Bytes("\x05\x00\x00", 3) : Bytes("\x01\x00\x00", 3);
      case 3:
        return Bytes("\x00\x00\x00\x10", 4);
      case 4:
        return Below(2) == 0 ? Bytes() : Bytes("\x07", 1);
      default:
        return codec::Qualifier::Seconds(second, flags).Encode();
    }
  }

  std::mt19937 random_;
  uint32_t generation_ = 0;
};

/// The cells of a row after a history. This class is the reference for tests: it computes the cells
/// in the simplest possible way.
class CellMap {
 public:
  void Apply(const Record& record) {
    switch (record.kind) {
      case Record::Kind::kPut:
        cells_[record.qualifier] = record.value;
        break;
      case Record::Kind::kJoin:
        cells_[record.qualifier] += record.value;
        break;
      case Record::Kind::kDelete:
        cells_.erase(record.qualifier);
        break;
      case Record::Kind::kClear:
        cells_.clear();
        break;
    }
  }
  [[nodiscard]] const std::map<Bytes, Bytes>& cells() const { return cells_; }

 private:
  std::map<Bytes, Bytes> cells_;
};

}  // namespace hg::points
