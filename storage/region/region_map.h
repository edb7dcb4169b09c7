#pragma once
// Finds the region of a key (region-store.md §5) and the regions that have the rows of a series.

#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

#include "storage/base/bytes.h"
#include "storage/lsm/manifest.h"
#include "storage/model/key_layout.h"
#include "storage/model/timestamp.h"

namespace hg::region {

/// The regions of a table. Immutable value. Regions have indexes, from 0 in key order, and ids. The
/// manifest identifies regions by their ids.
class RegionMap {
 public:
  /// Creates a map of one region with id 0 for all keys.
  RegionMap() : RegionMap({lsm::RegionEntry{}}) {}
  /// `regions` must cover all keys without overlap (lsm::Tiles).
  explicit RegionMap(std::vector<lsm::RegionEntry> regions);

  [[nodiscard]] size_t count() const { return regions_.size(); }
  [[nodiscard]] uint32_t Id(size_t i) const { return regions_[i].id; }
  /// Start returns the first key of a region. Stop returns the first key after the region; "" = no
  /// limit.
  [[nodiscard]] const Bytes& Start(size_t i) const { return regions_[i].start; }
  [[nodiscard]] Bytes Stop(size_t i) const {
    return i + 1 < regions_.size() ? regions_[i + 1].start : Bytes();
  }
  [[nodiscard]] size_t IndexOf(ByteView key) const;
  [[nodiscard]] uint32_t IdOf(ByteView key) const { return regions_[IndexOf(key)].id; }
  /// Returns the index of the region with this id, or nullopt if there is no such region.
  [[nodiscard]] std::optional<size_t> IndexOfId(uint32_t id) const;
  /// Returns the range [first, last) of the indexes of the regions that have keys in [start, stop).
  /// An empty `stop` means that the range has no end.
  [[nodiscard]] std::pair<size_t, size_t> Overlapping(ByteView start, ByteView stop) const;

 private:
  std::vector<lsm::RegionEntry> regions_;
};

/// Restricts a key range to the keys of a region. An empty `stop` means that the range has no end.
/// Returns false if no key is left in the range.
bool ClipKeys(const RegionMap& map, size_t region, Bytes* start, Bytes* stop);

/// Returns the maximum length of a boundary key between regions of a points table. With this
/// length, the rows of one metric and hour stay together (region-store.md R12).
inline size_t GroupWidth(const KeyLayout& layout) {
  return static_cast<size_t>(layout.prefix_width());
}

/// Returns the range of base times that rows of a series may have in a region. If begin ≥ end, the
/// series has no rows in the region. `prefix` is the salt and the metric of the series. The result
/// is exact if the boundaries of the region are not longer than GroupWidth.
RowRange BasesIn(const RegionMap& map, size_t region, ByteView prefix);

/// The rows of one series in one region.
struct SeriesSlice {
  uint32_t region = 0;  // id of the region
  RowRange bases;
};

/// Sets *slices to one slice for each region of a points table that may store rows of a series with
/// base times in `bases`. The slices are in ascending order of time.
void SlicesOf(const RegionMap& map, ByteView prefix, const RowRange& bases,
              std::vector<SeriesSlice>* slices);

}  // namespace hg::region
