#pragma once
// Which keys a file certainly does not hold (spec region-store.md D20).

#include <cstdint>
#include <span>

#include "storage/base/bytes.h"

namespace hg::lsm {

/// The form of a filter rests on it: it must not change.
uint64_t BloomHash(ByteView key);

/// The bits of a filter over the keys of these hashes: ten a key, of which each sets seven. One of
/// a hundred absent keys passes, about. Pure.
Bytes MakeBloom(std::span<const uint64_t> hashes);
/// False: the key is not among them. Of an empty filter everything passes.
bool BloomPasses(ByteView bits, uint64_t hash);

}  // namespace hg::lsm
