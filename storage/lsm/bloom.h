#pragma once
// Bloom filters, which tell a reader that a file does not have a key (region-store.md D20).

#include <cstdint>
#include <span>

#include "storage/base/bytes.h"

namespace hg::lsm {

/// Returns the hash of a key for filters. The hash is a part of the file format, so it must not
/// change.
uint64_t BloomHash(ByteView key);

/// Returns the bits of a filter for keys with these hashes: ten bits per key, of which each key
/// sets seven. About one in a hundred absent keys passes the filter. Pure function.
Bytes MakeBloom(std::span<const uint64_t> hashes);
/// Returns false if the key is certainly absent. An empty filter returns true for every key.
bool BloomPasses(ByteView bits, uint64_t hash);

}  // namespace hg::lsm
