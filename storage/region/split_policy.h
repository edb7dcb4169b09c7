#pragma once
// When a region is divided, and where (spec region-store.md R9–R15). Pure.

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "storage/base/bytes.h"
#include "storage/model/key_layout.h"

namespace hg::region {

enum class SplitRule : uint8_t {
  kNone,               // never by itself (R13)
  kConstant,           // at bytes_max (R9)
  kIncreasingCubed,    // R³ · 2 · unit_bytes, R = regions of the table, at most bytes_max (R10)
  kIncreasingSquared,  // R² · unit_bytes, at most bytes_max: of old
  kStepping,           // one region: 2 · unit_bytes; more: bytes_max (R11)
};

struct SplitPolicy {
  SplitRule rule = SplitRule::kStepping;
  uint64_t unit_bytes = uint64_t{128} << 20;  // HBase's flush size
  uint64_t bytes_max = uint64_t{10} << 30;
  double jitter = 0.25;         // bytes_max of a region is spread by so much, half of it either way
  uint32_t regions_max = 1000;  // of all tables: no region is divided by itself beyond
};

/// Bytes of files from which on a region is divided; `seed` (its id) chooses the spread. None:
/// never.
std::optional<uint64_t> SplitThreshold(const SplitPolicy& policy, size_t regions_of_table,
                                       uint64_t seed);

/// A group of rows that stay together, and roughly what it weighs.
struct GroupWeight {
  Bytes key;
  uint64_t bytes = 0;
};

/// The key that divides groups, ascending by key, into halves: before the group nearest the middle.
/// In a points table (`layout`) at a metric, unless one has more than half: then at an hour of it,
/// a day's first one where that is as good. None: there are no two groups.
std::optional<Bytes> SplitPoint(const std::vector<GroupWeight>& groups, const KeyLayout* layout);

}  // namespace hg::region
