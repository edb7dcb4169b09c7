#pragma once
// Pseudo-random numbers that are the same after a restart and in every test. These numbers spread
// periodic work over time, so that not all regions do the work at once.

#include <cstdint>

namespace hg::region {

/// Returns a number in [0, 1) that depends only on the seed. The numbers for different seeds are
/// evenly distributed (the finalizer of SplitMix64).
inline double Spread(uint64_t seed) {
  seed += 0x9E3779B97F4A7C15;
  seed = (seed ^ (seed >> 30)) * 0xBF58476D1CE4E5B9;
  seed = (seed ^ (seed >> 27)) * 0x94D049BB133111EB;
  return static_cast<double>((seed ^ (seed >> 31)) >> 11) / static_cast<double>(1ULL << 53);
}

}  // namespace hg::region
