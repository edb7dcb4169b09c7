#pragma once
// Which region of a table a key is in (engine.md §10, spec region-store.md §5), and which regions
// the rows of a series are in.

#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

#include "storage/base/bytes.h"
#include "storage/lsm/manifest.h"
#include "storage/model/key_layout.h"
#include "storage/model/timestamp.h"

namespace hg::region {

/// Immutable value. Regions are counted by key, from 0; ids are what files are named by.
class RegionMap {
 public:
  /// All keys in one region with id 0.
  RegionMap() : RegionMap({lsm::RegionEntry{}}) {}
  /// They tile (lsm::Tiles).
  explicit RegionMap(std::vector<lsm::RegionEntry> regions);

  [[nodiscard]] size_t count() const { return regions_.size(); }
  [[nodiscard]] uint32_t Id(size_t i) const { return regions_[i].id; }
  /// First key of a region, and the first behind it; "" = open.
  [[nodiscard]] const Bytes& Start(size_t i) const { return regions_[i].start; }
  [[nodiscard]] Bytes Stop(size_t i) const {
    return i + 1 < regions_.size() ? regions_[i + 1].start : Bytes();
  }
  [[nodiscard]] size_t IndexOf(ByteView key) const;
  [[nodiscard]] uint32_t IdOf(ByteView key) const { return regions_[IndexOf(key)].id; }
  /// None: no region has that id.
  [[nodiscard]] std::optional<size_t> IndexOfId(uint32_t id) const;
  /// Regions (first, end) that hold keys of [start, stop), stop "" = open.
  [[nodiscard]] std::pair<size_t, size_t> Overlapping(ByteView start, ByteView stop) const;

 private:
  std::vector<lsm::RegionEntry> regions_;
};

/// The keys of a range that are a region's: to be read in it. `stop` "" = open; false: none.
bool ClipKeys(const RegionMap& map, size_t region, Bytes* start, Bytes* stop);

/// Longest key between regions of a points table: rows of one metric and hour stay together (R12).
inline size_t GroupWidth(const KeyLayout& layout) {
  return static_cast<size_t>(layout.prefix_width());
}

/// Bases of rows that a region has of a series; begin ≥ end: none. `prefix`: salt and metric of its
/// keys. Exact where the region begins and ends with no more than a group.
RowRange BasesIn(const RegionMap& map, size_t region, ByteView prefix);

/// Rows of one series in one region.
struct SeriesSlice {
  uint32_t region = 0;  // its id
  RowRange bases;
};

/// Where a points table keeps the rows of a series with these bases: one slice a region, by time.
void SlicesOf(const RegionMap& map, ByteView prefix, const RowRange& bases,
              std::vector<SeriesSlice>* slices);

}  // namespace hg::region
