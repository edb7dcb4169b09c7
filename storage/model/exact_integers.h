#pragma once
// How far doubles count.

namespace hg {

/// 2^53: integers up to here are doubles, and so are sums that stay below it, in whatever order
/// they are added.
inline constexpr double kExactIntegerMax = 9007199254740992.0;

}  // namespace hg
