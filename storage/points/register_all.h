#pragma once
// Series that are registered many at a time: each by itself would take the same locks.

#include <span>

#include "storage/points/points.h"

namespace hg {

/// A points door that can do so. Thread-safe.
class RegistersTogether {
 public:
  virtual ~RegistersTogether() = default;

  /// The numbers of the series, given as if they were registered one after the other
  /// (Points::Register). A failure is that of one of them; which of the others are registered then
  /// is not said. Blocks.
  virtual Status RegisterAll(std::span<const ByteView> tsuids, SeriesNumber* numbers) = 0;
};

/// The same through any door.
inline Status RegisterAll(Points& points, std::span<const ByteView> tsuids, SeriesNumber* numbers) {
  if (auto* together = dynamic_cast<RegistersTogether*>(&points)) {
    return together->RegisterAll(tsuids, numbers);
  }
  for (const ByteView tsuid : tsuids) {
    ASSIGN_OR_RETURN(*numbers, points.Register(tsuid));
    ++numbers;
  }
  return {};
}

}  // namespace hg
