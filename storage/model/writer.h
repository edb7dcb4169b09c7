#pragma once
// The user for whom points are stored, with the write limits of this user. The HTTP layer knows the
// user, and the write path checks the limits (write_context.h).

#include <cstdint>

#include "storage/base/status.h"

namespace hg {

/// Thread-safe; does not block.
class Writer {
 public:
  virtual ~Writer() = default;
  /// Returns ok if the user may write `count` points now. LimitExceeded: the user exceeds the rate
  /// limit. The error message names the user and the limit.
  virtual Status AskForPoints(uint64_t count) = 0;
  /// Counts `count` stored points towards the limit.
  virtual void ChargePoints(uint64_t count) = 0;
  /// Counts one new series towards the user's maximum. InvalidArgument: the user may not create
  /// more series. The caller reports this as an error of the point.
  virtual Status TakeSeries() = 0;
  /// Reverses TakeSeries, because the series was not created.
  virtual void GiveBackSeries() = 0;
  /// Returns whether TakeSeries can fail. If it cannot, the caller need not find out whether a
  /// series is new.
  [[nodiscard]] virtual bool limits_series() const = 0;
};

}  // namespace hg
