#pragma once
// What every points door must do (storage/points/points.h), as checks that run on any of them.

#include <functional>
#include <memory>

#include "storage/points/points.h"
#include "tests/support/manual_clock.h"

namespace hg {

/// An empty database behind both doors: data table "tsdb" with family "t". Created per check.
class PointsSubject {
 public:
  virtual ~PointsSubject() = default;
  virtual Points& points() = 0;
  virtual Store& cells() = 0;
  virtual ManualClock& clock() = 0;
  /// Does whatever may change the form of what is stored, never its meaning: flush, merge, close
  /// and open again.
  virtual void Disturb() {}
};

using PointsFactory = std::function<std::unique_ptr<PointsSubject>(const KeyLayout&)>;

/// Runs all checks as assertions of the running doctest case, without and with salt. Seeds of
/// random checks are printed on failure.
void CheckPointsContract(const PointsFactory& make);

}  // namespace hg
