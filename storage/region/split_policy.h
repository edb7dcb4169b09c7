#pragma once
// Decides when and where a region is split (region-store.md R9–R15). Pure functions.

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "storage/base/bytes.h"
#include "storage/model/key_layout.h"

namespace hg::region {

enum class SplitRule : uint8_t {
  kNone,      // no automatic splits (region-store.md R13)
  kConstant,  // splits at bytes_max (region-store.md R9)
  // Splits at 2 · R³ · unit_bytes, but at most at bytes_max. R is the number of regions of the
  // table (region-store.md R10).
  kIncreasingCubed,
  // The rule of older HBase versions. Splits at R² · unit_bytes, but at most at bytes_max.
  kIncreasingSquared,
  // Splits a table's only region at 2 · unit_bytes, and each of several regions at bytes_max
  // (region-store.md R11).
  kStepping,
};

struct SplitPolicy {
  SplitRule rule = SplitRule::kStepping;
  uint64_t unit_bytes = uint64_t{128} << 20;  // HBase's flush size
  uint64_t bytes_max = uint64_t{10} << 30;
  // How far bytes_max differs between regions: by up to half of this fraction, up or down.
  double jitter = 0.25;
  uint32_t regions_max = 1000;  // over all tables; with more regions there are no automatic splits
};

/// Returns the size in bytes of a region's files at which the region is split. Returns nullopt if
/// regions are not split automatically. `seed` is the region id. It determines the jitter of this
/// region.
std::optional<uint64_t> SplitThreshold(const SplitPolicy& policy, size_t regions_of_table,
                                       uint64_t seed);

/// The rows that a split must keep together, such as those of one metric and hour, and their
/// approximate size.
struct GroupWeight {
  Bytes key;
  uint64_t bytes = 0;
};

/// Returns the key that splits the groups (ascending by key) into halves, before the group nearest
/// to the middle. A points table (`layout` is set) is split between metrics, unless one metric has
/// more than half of the bytes. Then it is split at an hour of that metric, preferably the first
/// hour of a day. Returns none for fewer than two groups.
std::optional<Bytes> SplitPoint(const std::vector<GroupWeight>& groups, const KeyLayout* layout);

}  // namespace hg::region
