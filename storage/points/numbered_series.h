#pragma once
// Series in the order of their numbers.

#include "storage/points/points.h"

namespace hg {

/// A points door that knows its series by their numbers. Thread-safe; takes no lock.
class NumbersSeries {
 public:
  virtual ~NumbersSeries() = default;

  /// There are series of all numbers below it.
  [[nodiscard]] virtual SeriesNumber series_count() const = 0;
  /// number < series_count(). Lives as long as the door.
  [[nodiscard]] virtual ByteView TsuidOf(SeriesNumber number) const = 0;
};

}  // namespace hg
