#pragma once
// A special double that means that there is no sample.

#include <bit>
#include <cstdint>

namespace hg::query::promql {

/// The bits of the NaN with which Prometheus marks the end of a series (its "stale marker").
/// Arithmetic never produces these bits, because its results are quiet NaNs.
inline constexpr uint64_t kStaleBits = 0x7FF0000000000002;

/// Returns the value that a column has at steps without a sample. It has the bits of the stale
/// marker, so no extra flags are needed.
inline double Absent() { return std::bit_cast<double>(kStaleBits); }
inline bool IsAbsent(double value) { return std::bit_cast<uint64_t>(value) == kStaleBits; }

}  // namespace hg::query::promql
