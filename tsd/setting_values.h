#pragma once
// Converts the text of a setting to the value of a field in an options struct. Only the code in
// tsd/ uses this file.

#include <cstdint>
#include <limits>
#include <string_view>

#include "storage/base/status.h"
#include "tsd/config.h"

namespace hg::tsd {

/// The maximum of integer settings that have no smaller maximum. It is the maximum of Java's int.
inline constexpr int64_t kIntMax = 2147483647;
inline constexpr int64_t kLongMax = std::numeric_limits<int64_t>::max();

/// Stores an integer setting in a field of any integer type. If the setting is absent, the field
/// keeps its value. InvalidArgument: the value is not an integer in [min, max].
template <typename T>
Status ReadInt(const Config& config, std::string_view key, int64_t min, int64_t max, T* field) {
  ASSIGN_OR_RETURN(const int64_t value, config.Int(key, static_cast<int64_t>(*field), min, max));
  *field = static_cast<T>(value);
  return {};
}

}  // namespace hg::tsd
