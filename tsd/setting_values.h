#pragma once
// How a setting's text becomes a field of an options struct. Inside of this folder only.

#include <cstdint>
#include <limits>
#include <string_view>

#include "storage/base/status.h"
#include "tsd/config.h"

namespace hg::tsd {

/// Bounds where there are no others: Java's.
inline constexpr int64_t kIntMax = 2147483647;
inline constexpr int64_t kLongMax = std::numeric_limits<int64_t>::max();

/// Stores a whole number into a field of whatever width; the bounds are the caller's. What stands
/// in the field is the default.
template <typename T>
Status ReadInt(const Config& config, std::string_view key, int64_t min, int64_t max, T* field) {
  ASSIGN_OR_RETURN(const int64_t value, config.Int(key, static_cast<int64_t>(*field), min, max));
  *field = static_cast<T>(value);
  return {};
}

}  // namespace hg::tsd
