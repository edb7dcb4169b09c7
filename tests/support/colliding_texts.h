#pragma once
// Makes texts for which std::hash has the same value. A client could send such texts to make every
// look-up in a hash table compare all keys.

#include <cstdint>
#include <cstring>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

namespace hg {

/// Returns `count` different texts of 16 bytes for which std::hash<std::string>(before + text +
/// after) has the same value. `before` must be a multiple of 8 bytes long. The texts do not contain
/// the byte FF or the character '|'. Works for the hash function of libstdc++ (MurmurHash64A with
/// a fixed seed).
inline std::vector<std::string> CollidingTexts(size_t count, std::string_view before = "",
                                               std::string_view after = "") {
  constexpr uint64_t kFactor = (UINT64_C(0xc6a4a793) << 32) + 0x5bd1e995, kSeed = 0xc70f6907;
  uint64_t inverse = kFactor;  // Newton's iteration for the inverse of an odd factor
  for (int i = 0; i < 6; ++i) inverse *= 2 - kFactor * inverse;
  const auto fold = [](uint64_t v) { return v ^ (v >> 47); };
  const auto scramble = [&](uint64_t block) { return fold(block * kFactor) * kFactor; };
  uint64_t state = kSeed ^ ((before.size() + 16 + after.size()) * kFactor);
  for (size_t at = 0; at + 8 <= before.size(); at += 8) {
    uint64_t block;
    std::memcpy(&block, before.data() + at, 8);
    state = (state ^ scramble(block)) * kFactor;
  }
  std::vector<std::string> texts;
  for (uint64_t first = 0x6161616161616161; texts.size() < count; ++first) {
    const uint64_t after_first = (state ^ scramble(first)) * kFactor;
    // The second block is chosen so that the state after it is 0.
    const uint64_t second = fold(after_first * inverse) * inverse;
    std::string text(16, '\0');
    std::memcpy(text.data(), &first, 8);
    std::memcpy(text.data() + 8, &second, 8);
    if (text.find_first_of("\xFF|") == std::string::npos) texts.push_back(std::move(text));
  }
  return texts;
}

}  // namespace hg
