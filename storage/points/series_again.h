#pragma once
// Scans that give rows series by series, each in one piece, and those of a series once more to who
// finds out late that he needs them. The embedded engine's do, mostly.

#include <cstdint>

#include "storage/points/points.h"

namespace hg {

/// Beside PointScan. One thread at a time.
class SeriesAgain {
 public:
  virtual ~SeriesAgain() = default;

  /// False: not this one.
  [[nodiscard]] virtual bool GivesSeriesAgain() const = 0;
  /// The rows that Next gave of the series at hand follow once more, from its first one on.
  virtual void GiveSeriesAgain() = 0;
  /// Of the row that Next gave last by its statistics: what lies between neighbours, where that is
  /// the same for all points; else 0.
  [[nodiscard]] virtual uint32_t StepMs() const = 0;
};

/// Of a scan that gives series again; else nullptr.
inline SeriesAgain* SeriesAgainOf(PointScan& scan) {
  auto* const again = dynamic_cast<SeriesAgain*>(&scan);
  return again != nullptr && again->GivesSeriesAgain() ? again : nullptr;
}

}  // namespace hg
