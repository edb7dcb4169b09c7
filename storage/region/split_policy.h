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
  kNone,               // no automatic splits (region-store.md R13)
  kConstant,           // at bytes_max (region-store.md R9)
  kIncreasingCubed,    // R³ · 2 · unit_bytes, R = regions of the table, at most bytes_max
                       // (region-store.md R10)
  kIncreasingSquared,  // R² · unit_bytes, at most bytes_max: the rule of older HBase versions
  kStepping,           // one region: 2 · unit_bytes; more: bytes_max (region-store.md R11)
};

struct SplitPolicy {
  SplitRule rule = SplitRule::kStepping;
  uint64_t unit_bytes = uint64_t{128} << 20;  // HBase's flush size
  uint64_t bytes_max = uint64_t{10} << 30;
  double jitter =
      0.25;  // relative spread of bytes_max between regions, half of it in each direction
  uint32_t regions_max = 1000;  // over all tables; with more regions there are no automatic splits
};

/// Returns the size of the files at which a region is split, or none for no automatic split. `seed`
/// is the region id and determines the spread.
std::optional<uint64_t> SplitThreshold(const SplitPolicy& policy, size_t regions_of_table,
                                       uint64_t seed);

/// A group of rows that stay together, and their approximate size.
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
