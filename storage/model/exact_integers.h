#pragma once
// The range in which doubles represent all integers exactly.

namespace hg {

/// 2^53. Doubles represent all integers up to this value exactly. While sums of integers are below
/// this value, they are exact in any order of addition.
inline constexpr double kExactIntegerMax = 9007199254740992.0;

}  // namespace hg
