#pragma once
// The requirements for every point store (storage/points/points.h), written as checks that every
// implementation must pass.

#include <functional>
#include <memory>

#include "storage/points/points.h"
#include "tests/support/manual_clock.h"

namespace hg {

/// A cell store and a point store over an empty database that has the data table "tsdb" with the
/// family "t". Each check creates its own subject.
class PointsSubject {
 public:
  virtual ~PointsSubject() = default;
  virtual Points& points() = 0;
  virtual Store& cells() = 0;
  virtual ManualClock& clock() = 0;
  /// Checks call this function between their steps. An override may change how the content is
  /// stored, for example by flush, merge, or close and reopen. It must not change the content
  /// itself.
  virtual void Disturb() {}
};

using PointsFactory = std::function<std::unique_ptr<PointsSubject>(const KeyLayout&)>;

/// Runs all checks as assertions of the running doctest case, once without salt and once with salt.
/// If a check with random data fails, its seed is printed.
void CheckPointsContract(const PointsFactory& make);

}  // namespace hg
