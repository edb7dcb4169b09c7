#pragma once
// Converts the times of protocols other than OpenTSDB's to stored times. The conversion is the same
// for all of these protocols (docs/ingestion.md, "Timestamps").

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "storage/base/status.h"
#include "storage/model/timestamp.h"

namespace hg {

/// The last time that can be stored, 2106-02-07T06:28:15.999Z. The limit exists because the base
/// times of rows are 32-bit seconds. OpenTSDB accepts later times, but stores them in rows of 1970
/// and later, where queries find them at these earlier times.
inline constexpr int64_t kInstantMaxMs = (int64_t{1} << 32) * 1000 - 1;

/// Returns a time in whole seconds as seconds and any other time as milliseconds, so that the same
/// instant always has the same column. Returns nullopt for times that cannot be stored
/// (BadInstant). These times are the epoch and earlier times, times after kInstantMaxMs, and times
/// with a fraction of a second in the first 2^32 ms (until 1970-02-19). A fractional time in the
/// first 2^32 ms cannot be stored, because readers would interpret its milliseconds as seconds.
inline std::optional<Timestamp> TimestampOfMillis(int64_t ms) {
  if (ms <= 0 || ms > kInstantMaxMs) return std::nullopt;
  const Timestamp seconds{ms / 1000}, millis{ms};
  if (ms % 1000 == 0 && !seconds.is_millis()) return seconds;
  if (!millis.is_millis()) return std::nullopt;
  return millis;
}

/// Returns the error for a time that cannot be stored. `shown` is the time as the client sent it.
inline Status BadInstant(std::string_view shown) {
  return Status::InvalidArgument("the time " + std::string(shown) +
                                 " cannot be stored: times go from 1970-01-01T00:00:01Z to "
                                 "2106-02-07T06:28:15.999Z, until 1970-02-19T17:02:47Z in whole "
                                 "seconds");
}

}  // namespace hg
