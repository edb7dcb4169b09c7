#pragma once
// The range in which doubles represent all integers exactly.

namespace hg {

/// The number 2^53. Doubles represent all integers up to 2^53 exactly. While sums of integers are
/// below 2^53, they are exact in any order of addition.
inline constexpr double kExactIntegerMax = 9007199254740992.0;

}  // namespace hg
