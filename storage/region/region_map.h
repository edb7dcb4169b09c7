#pragma once
// How a table's rows are divided among regions: the data table by salt bucket, so that a series
// never leaves its region; every other table is one region (engine.md §10, spec region-store.md
// §5).

#include <cstdint>

#include "storage/base/bytes.h"
#include "storage/model/key_layout.h"

namespace hg::region {

/// Immutable value.
class RegionMap {
 public:
  /// `salted`: row keys begin with the layout's salt.
  RegionMap(const KeyLayout& layout, bool salted)
      : salt_width_(layout.salt_width),
        count_(salted && layout.salt_width > 0 ? static_cast<uint32_t>(layout.salt_buckets) : 1) {}

  [[nodiscard]] uint32_t count() const { return count_; }
  /// Region of any key; those with a salt that no series has, or none at all, are in the first one.
  [[nodiscard]] uint32_t RegionOf(ByteView key) const;
  /// First key of a region, and the first behind it; "" = open.
  [[nodiscard]] Bytes Start(uint32_t region) const;
  [[nodiscard]] Bytes Stop(uint32_t region) const;

 private:
  int salt_width_;
  uint32_t count_;
};

}  // namespace hg::region
