#include "storage/region/region_map.h"

#include <algorithm>

#include "storage/base/invariant.h"

namespace hg::region {
namespace {

// Returns the smallest base for which the key with this prefix is not before `key`, or 2^32 if all
// keys with this prefix are before `key`.
uint64_t FirstBase(ByteView prefix, ByteView key) {
  if (key.substr(0, prefix.size()) != prefix) {
    return key <= prefix ? 0 : uint64_t{1} << 32;
  }
  Bytes base(key.substr(prefix.size(), 4));
  base.resize(4, '\0');
  return ReadBig32(base.data());
}

}  // namespace

RegionMap::RegionMap(std::vector<lsm::RegionEntry> regions) : regions_(std::move(regions)) {
  INVARIANT(lsm::Tiles(regions_));
}

size_t RegionMap::IndexOf(ByteView key) const {
  const auto behind =
      std::upper_bound(regions_.begin(), regions_.end(), key,
                       [](ByteView k, const lsm::RegionEntry& region) { return k < region.start; });
  INVARIANT(behind != regions_.begin());  // the first region has no start key
  return static_cast<size_t>(behind - regions_.begin()) - 1;
}

std::optional<size_t> RegionMap::IndexOfId(uint32_t id) const {
  for (size_t i = 0; i < regions_.size(); ++i) {
    if (regions_[i].id == id) return i;
  }
  return std::nullopt;
}

std::pair<size_t, size_t> RegionMap::Overlapping(ByteView start, ByteView stop) const {
  const size_t first = IndexOf(start);
  if (stop.empty()) return {first, regions_.size()};
  if (stop <= start) return {first, first};
  const size_t last = IndexOf(stop);
  INVARIANT(first <= last);
  return {first, regions_[last].start == stop ? last : last + 1};
}

bool ClipKeys(const RegionMap& map, size_t region, Bytes* start, Bytes* stop) {
  *start = std::max(*start, map.Start(region));
  const Bytes region_stop = map.Stop(region);
  if (stop->empty() || (!region_stop.empty() && region_stop < *stop)) *stop = region_stop;
  return stop->empty() || *start < *stop;
}

RowRange BasesIn(const RegionMap& map, size_t region, ByteView prefix) {
  INVARIANT(region < map.count());
  constexpr uint64_t kEnd = uint64_t{1} << 32;
  const uint64_t begin = FirstBase(prefix, map.Start(region));
  if (begin == kEnd) return {0, 0};
  const bool last = region + 1 == map.count();
  return {static_cast<uint32_t>(begin), last ? kEnd : FirstBase(prefix, map.Start(region + 1))};
}

void SlicesOf(const RegionMap& map, ByteView prefix, const RowRange& bases,
              std::vector<SeriesSlice>* slices) {
  slices->clear();
  if (bases.begin >= bases.end) return;
  Bytes first(prefix);
  AppendBig(&first, bases.begin, 4);
  for (size_t i = map.IndexOf(first); i < map.count(); ++i) {
    const RowRange here = BasesIn(map, i, prefix);
    const RowRange slice{std::max(here.begin, bases.begin), std::min(here.end, bases.end)};
    if (slice.begin >= slice.end) return;
    slices->push_back({map.Id(i), slice});
  }
}

}  // namespace hg::region
