#pragma once
// Bloom filters, with which readers recognize most keys that a file does not have (region-store.md
// D20).

#include <cstdint>
#include <span>

#include "storage/base/bytes.h"

namespace hg::lsm {

/// Returns the hash of a key for Bloom filters. The hash is part of the file format, so it must not
/// change.
uint64_t BloomHash(ByteView key);

/// Returns the bits of a Bloom filter for keys with these hashes. The filter has ten bits per key,
/// and each key sets up to seven bits. About one in a hundred absent keys passes the filter.
/// Without keys, the result is empty.
Bytes MakeBloom(std::span<const uint64_t> hashes);
/// Returns false if the key with this hash is certainly absent. An empty filter returns true for
/// every key.
bool BloomPasses(ByteView bits, uint64_t hash);

}  // namespace hg::lsm
