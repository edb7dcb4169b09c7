#pragma once
// The user for whom points are stored, and the write limits of this user. The HTTP layer knows the
// user, and the write path checks the limits (write_context.h).

#include <cstdint>

#include "storage/base/status.h"

namespace hg {

/// The write limits of one user. Thread-safe. No function blocks.
class Writer {
 public:
  virtual ~Writer() = default;
  /// Returns ok if the user may write `count` points now. Returns LimitExceeded if the user exceeds
  /// the rate limit; the error message names the user and the limit.
  virtual Status AskForPoints(uint64_t count) = 0;
  /// Counts `count` stored points towards the rate limit of the user.
  virtual void ChargePoints(uint64_t count) = 0;
  /// Counts one new series towards the user's maximum number of series. Returns InvalidArgument if
  /// the user may not create more series. The caller reports this error as an error of the point.
  virtual Status TakeSeries() = 0;
  /// Reverses TakeSeries. Call this function if the series was not created.
  virtual void GiveBackSeries() = 0;
  /// Returns whether TakeSeries can fail. If TakeSeries cannot fail, the caller need not find out
  /// whether a series is new.
  [[nodiscard]] virtual bool limits_series() const = 0;
};

}  // namespace hg
