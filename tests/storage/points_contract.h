#pragma once
// The requirements for every point store (storage/points/points.h), as checks that any
// implementation must pass.

#include <functional>
#include <memory>

#include "storage/points/points.h"
#include "tests/support/manual_clock.h"

namespace hg {

/// A cell store and a point store over an empty database: data table "tsdb" with family "t". Each
/// check creates its own subject.
class PointsSubject {
 public:
  virtual ~PointsSubject() = default;
  virtual Points& points() = 0;
  virtual Store& cells() = 0;
  virtual ManualClock& clock() = 0;
  /// May change how the content is stored, but not the content: flush, merge, close and reopen.
  virtual void Disturb() {}
};

using PointsFactory = std::function<std::unique_ptr<PointsSubject>(const KeyLayout&)>;

/// Runs all checks as assertions of the running doctest case, without and with salt. If a random
/// check fails, its seed is printed.
void CheckPointsContract(const PointsFactory& make);

}  // namespace hg
