#pragma once
// Decides when and where a region is split (region-store.md R9–R15). Pure functions.

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
  // As in older versions of HBase: a region is split at R² · unit_bytes or at bytes_max, whichever
  // is smaller. R is the number of regions of the table.
  kIncreasingSquared,
  // The only region of a table is split at 2 · unit_bytes. If a table has several regions, each of
  // them is split at bytes_max (region-store.md R11).
  kStepping,
};

struct SplitPolicy {
  SplitRule rule = SplitRule::kStepping;
  uint64_t unit_bytes = uint64_t{128} << 20;  // HBase's flush size
  uint64_t bytes_max = uint64_t{10} << 30;
  // The fraction of bytes_max by which the size for a split differs between regions: at most half
  // of this fraction up or down.
  double jitter = 0.25;
  uint32_t regions_max = 1000;  // over all tables; with more regions there are no automatic splits
};

/// Returns the size in bytes of a region's files at which the region is split. Returns nullopt if
/// regions are not split automatically. `seed` is the region id, which determines the jitter of
/// this region.
std::optional<uint64_t> SplitThreshold(const SplitPolicy& policy, size_t regions_of_table,
                                       uint64_t seed);

/// Returns the rule for a table with a policy of its own, or the rule of the settings.
SplitRule RuleOf(const SplitPolicy& settings, const TableSplitPolicy& table);

/// Returns the beginning of a key that no split separates from other keys with the same beginning:
/// the prefix, or the bytes up to the first delimiter with the delimiter. Returns the whole key if
/// the policy has no groups, or the key is shorter or has no delimiter. If keys are in ascending
/// order, so are their groups.
ByteView GroupOf(const TableSplitPolicy& table, ByteView key);

/// The approximate size of a group of rows that a split must keep together, such as those of one
/// metric and hour.
struct GroupWeight {
  Bytes key;
  uint64_t bytes = 0;
};

/// Returns a key that splits the groups, which must be in ascending order, into two parts of nearly
/// equal size. The key is the start of a group. A points table (`layout` is set) is split between
/// metrics, unless one metric has more than half of the bytes. Then it is split at an hour of that
/// metric, preferably the first hour of a day. Returns nullopt for fewer than two groups.
std::optional<Bytes> SplitPoint(const std::vector<GroupWeight>& groups, const KeyLayout* layout);

}  // namespace hg::region
