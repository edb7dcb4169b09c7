#pragma once
// Decides when and where a region is split (region-store.md R9–R15). All functions are pure.

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "storage/base/bytes.h"
#include "storage/model/key_layout.h"
#include "storage/table_descriptor.h"

namespace hg::region {

enum class SplitRule : uint8_t {
  kNone,      // regions are not split automatically (region-store.md R13)
  kConstant,  // a region is split at bytes_max (region-store.md R9)
  // A region is split at 2 · R³ · unit_bytes or at bytes_max, whichever is smaller. R is the number
  // of regions of the table (region-store.md R10).
  kIncreasingCubed,
  // As in older versions of HBase, a region is split at R² · unit_bytes or at bytes_max, whichever
  // is smaller. R is the number of regions of the table.
  kIncreasingSquared,
  // The only region of a table is split at 2 · unit_bytes. If a table has several regions, each of
  // them is split at bytes_max (region-store.md R11).
  kStepping,
};

struct SplitPolicy {
  SplitRule rule = SplitRule::kStepping;
  uint64_t unit_bytes = uint64_t{128} << 20;  // the same as HBase's flush size
  uint64_t bytes_max = uint64_t{10} << 30;
  // The sizes at which regions are split differ between regions. The largest difference from
  // bytes_max is half of this fraction of bytes_max, up or down.
  double jitter = 0.25;
  uint32_t regions_max = 1000;  // limit over all tables; above it, no region is split automatically
};

/// Returns the size in bytes at which a region is split, which is compared with the size of the
/// region's files. Returns nullopt if regions are not split automatically. `seed` is the region id,
/// which determines the jitter of this region.
std::optional<uint64_t> SplitThreshold(const SplitPolicy& policy, size_t regions_of_table,
                                       uint64_t seed);

/// Returns the rule of the table if the table has its own policy. Otherwise returns the rule of the
/// settings.
SplitRule RuleOf(const SplitPolicy& settings, const TableSplitPolicy& table);

/// Returns the group of a key. A split never separates keys of the same group. Depending on the
/// policy, the group is the key's prefix, or its bytes up to and including the first delimiter.
/// Returns the whole key if the policy has no groups, or if the key is shorter than the prefix or
/// has no delimiter. If keys are in ascending order, so are their groups.
ByteView GroupOf(const TableSplitPolicy& table, ByteView key);

/// The approximate size of a group of rows that a split must keep together, such as the rows of one
/// metric and hour.
struct GroupWeight {
  Bytes key;
  uint64_t bytes = 0;
};

/// Returns a key that splits the groups into two parts of nearly equal size. The groups must be in
/// ascending order. The key is the start of a group. A points table (`layout` is set) is split
/// between metrics, unless one metric has more than half of the bytes. If one metric has more than
/// half of the bytes, the table is split at an hour of this metric, preferably at the first hour of
/// a day. Returns nullopt for fewer than two groups.
std::optional<Bytes> SplitPoint(const std::vector<GroupWeight>& groups, const KeyLayout* layout);

}  // namespace hg::region
