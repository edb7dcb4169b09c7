#include "storage/region/region_map.h"

namespace hg::region {

uint32_t RegionMap::RegionOf(ByteView key) const {
  if (count_ == 1 || key.size() < static_cast<size_t>(salt_width_)) return 0;
  const uint64_t salt = ReadBig(key.data(), salt_width_);
  return salt < count_ ? static_cast<uint32_t>(salt) : 0;
}

Bytes RegionMap::Start(uint32_t region) const {
  Bytes key;
  if (region > 0) AppendBig(&key, region, salt_width_);
  return key;
}

Bytes RegionMap::Stop(uint32_t region) const {
  return region + 1 < count_ ? Start(region + 1) : Bytes();
}

}  // namespace hg::region
