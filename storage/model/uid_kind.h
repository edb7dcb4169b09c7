#pragma once
// The three name spaces of identifiers (OpenTSDB UniqueId.UniqueIdType).

#include <cstdint>
#include <string_view>

#include "storage/model/key_layout.h"

namespace hg {

enum class UidKind : unsigned char { kMetric = 0, kTagk = 1, kTagv = 2 };
inline constexpr UidKind kUidKinds[] = {UidKind::kMetric, UidKind::kTagk, UidKind::kTagv};

/// The qualifier in tsdb-uid and the word of the command-line tools: "metrics", "tagk", "tagv".
constexpr std::string_view UidKindName(UidKind kind) {
  return kind == UidKind::kMetric ? "metrics" : kind == UidKind::kTagk ? "tagk" : "tagv";
}

constexpr int UidWidth(const KeyLayout& layout, UidKind kind) {
  return kind == UidKind::kMetric ? layout.metric_width
         : kind == UidKind::kTagk ? layout.tagk_width
                                  : layout.tagv_width;
}

/// The largest id of `width` bytes; counters are signed.
constexpr int64_t LargestId(int width) {
  return width >= 8 ? INT64_MAX : (int64_t{1} << (8 * width)) - 1;
}

}  // namespace hg
