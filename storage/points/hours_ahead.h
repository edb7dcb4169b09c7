#pragma once
// Scans that can tell what several hours of a series come to at once. The embedded engine's do.

#include <cstdint>
#include <span>

#include "storage/points/points.h"

namespace hg {

/// Statistics of one hour of a series.
struct HourStatistics {
  uint32_t base = 0;
  RowStatistics statistics;
};

/// Beside PointScan. One thread at a time.
class HoursAhead {
 public:
  virtual ~HoursAhead() = default;

  /// After Next gave a row by its statistics: those of the rows that it would give next, of the
  /// same series and by statistics, too; as many as are at hand at once, or none. Good until the
  /// next call of Next.
  virtual std::span<const HourStatistics> StatisticsAhead() = 0;
  /// So many of these count as given.
  virtual void Pass(size_t rows) = 0;
  /// Before the first Next: whether most rows are expected to be given by their statistics, at a
  /// small part of the cost.
  [[nodiscard]] virtual bool ExpectsStatistics() const = 0;
};

/// Of a scan that can; else nullptr.
inline HoursAhead* HoursAheadOf(PointScan& scan) { return dynamic_cast<HoursAhead*>(&scan); }

}  // namespace hg
