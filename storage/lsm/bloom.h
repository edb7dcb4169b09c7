#pragma once
// Bloom filters: they tell which keys a file does not hold (region-store.md D20).

#include <cstdint>
#include <span>

#include "storage/base/bytes.h"

namespace hg::lsm {

/// Part of the file format of filters, so it must not change.
uint64_t BloomHash(ByteView key);

/// Returns the bits of a filter for keys with these hashes: ten bits per key, of which each key
/// sets seven. About one in a hundred absent keys passes. Pure function.
Bytes MakeBloom(std::span<const uint64_t> hashes);
/// Returns false if the key is certainly absent. Returns true for every key if the filter is empty.
bool BloomPasses(ByteView bits, uint64_t hash);

}  // namespace hg::lsm
