#pragma once
// The three kinds of UIDs (OpenTSDB UniqueId.UniqueIdType). Each kind has its own names and ids.

#include <cstdint>
#include <string_view>

#include "storage/model/key_layout.h"

namespace hg {

enum class UidKind : unsigned char { kMetric = 0, kTagk = 1, kTagv = 2 };
inline constexpr UidKind kUidKinds[] = {UidKind::kMetric, UidKind::kTagk, UidKind::kTagv};

/// Returns the name of a kind: "metrics", "tagk" or "tagv". This name is the qualifier in tsdb-uid
/// and the word for the command-line tools.
constexpr std::string_view UidKindName(UidKind kind) {
  return kind == UidKind::kMetric ? "metrics" : kind == UidKind::kTagk ? "tagk" : "tagv";
}

constexpr int UidWidth(const KeyLayout& layout, UidKind kind) {
  return kind == UidKind::kMetric ? layout.metric_width
         : kind == UidKind::kTagk ? layout.tagk_width
                                  : layout.tagv_width;
}

/// Returns the largest id that has `width` bytes. For eight bytes, this is the maximum of int64,
/// because counters are signed.
constexpr int64_t LargestId(int width) {
  return width >= 8 ? INT64_MAX : (int64_t{1} << (8 * width)) - 1;
}

}  // namespace hg
