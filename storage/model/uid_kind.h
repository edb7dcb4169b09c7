#pragma once
// The three name spaces of identifiers (OpenTSDB UniqueId.UniqueIdType).

#include <string_view>

#include "storage/model/key_layout.h"

namespace hg {

enum class UidKind : unsigned char { kMetric = 0, kTagk = 1, kTagv = 2 };
inline constexpr UidKind kUidKinds[] = {UidKind::kMetric, UidKind::kTagk, UidKind::kTagv};

/// Qualifier in tsdb-uid and word of the tools: "metrics", "tagk", "tagv".
constexpr std::string_view UidKindName(UidKind kind) {
  return kind == UidKind::kMetric ? "metrics" : kind == UidKind::kTagk ? "tagk" : "tagv";
}

constexpr int UidWidth(const KeyLayout& layout, UidKind kind) {
  return kind == UidKind::kMetric ? layout.metric_width
         : kind == UidKind::kTagk ? layout.tagk_width
                                  : layout.tagv_width;
}

}  // namespace hg
