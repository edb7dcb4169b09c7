#pragma once
// Helpers for tests of row compaction. Key creates row keys that have the same metric and tag key,
// and one tag value for each series. At the time kOldMs, the hour of these rows has ended.

#include "tests/support/hex.h"

namespace hg::compaction {

constexpr uint32_t kBase = 1356998400;
constexpr int64_t kOldMs = (int64_t{kBase} + 3601) * 1000;

inline Bytes Key(int series, uint32_t base = kBase) {
  Bytes key = Hex("000001");
  AppendBig(&key, base, 4);
  key += Hex("000001");
  AppendBig(&key, static_cast<uint64_t>(series), 3);
  return key;
}

}  // namespace hg::compaction
