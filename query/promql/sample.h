#pragma once
// Defines a special double that means "there is no sample".

#include <bit>
#include <cstdint>

namespace hg::query::promql {

/// The bits of the NaN with which Prometheus marks the end of a series (the "stale marker").
/// Arithmetic never produces these bits, because it produces only quiet NaNs.
inline constexpr uint64_t kStaleBits = 0x7FF0000000000002;

/// Returns the double that marks a step without a sample in a column. It has the bits of the stale
/// marker, so that columns need no extra flags for missing samples.
inline double Absent() { return std::bit_cast<double>(kStaleBits); }
inline bool IsAbsent(double value) { return std::bit_cast<uint64_t>(value) == kStaleBits; }

}  // namespace hg::query::promql
