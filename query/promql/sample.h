#pragma once
// One number of a series, and the number that means that there is none.

#include <bit>
#include <cstdint>

namespace hg::query::promql {

/// The bits of the NaN by which Prometheus marks that a series has ended (its "stale marker"). No
/// arithmetic gives them: results of it are quiet NaNs.
inline constexpr uint64_t kStaleBits = 0x7FF0000000000002;

/// Where a series has no sample: the same bits, so that nothing needs to be kept beside a column.
inline double Absent() { return std::bit_cast<double>(kStaleBits); }
inline bool IsAbsent(double value) { return std::bit_cast<uint64_t>(value) == kStaleBits; }

}  // namespace hg::query::promql
