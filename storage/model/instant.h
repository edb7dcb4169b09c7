#pragma once
// Instants of other products' languages as the times of points (docs/languages.md).

#include <cstdint>
#include <optional>

#include "storage/model/timestamp.h"

namespace hg {

/// Whole seconds as seconds, others as milliseconds, so that the same instant is always the same
/// column. None: before 1970, after kTimestampMax, or not a whole second in the first 2^32 ms
/// (until 1970-02-19), whose milliseconds would read as seconds.
inline std::optional<Timestamp> TimestampOfMillis(int64_t ms) {
  if (ms < 0 || ms > kTimestampMax) return std::nullopt;
  const Timestamp seconds{ms / 1000}, millis{ms};
  if (ms % 1000 == 0 && !seconds.is_millis()) return seconds;
  if (!millis.is_millis()) return std::nullopt;
  return millis;
}

}  // namespace hg
