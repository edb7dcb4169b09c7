#pragma once
// CRC32C (Castagnoli polynomial, RFC 3720 §12.1): the checksum of log records, blocks and files.

#include <cstdint>

#include "storage/base/bytes.h"

namespace hg::crc32c {

/// Checksum of the bytes already summed up in `crc` followed by `bytes`. Extend(0, b) == Value(b).
/// Uses the processor's instruction where there is one.
uint32_t Extend(uint32_t crc, ByteView bytes);

inline uint32_t Value(ByteView bytes) { return Extend(0, bytes); }

namespace internal {
/// The table twin of Extend, for machines without the instruction and for the tests.
uint32_t ExtendByTable(uint32_t crc, ByteView bytes);
}  // namespace internal

}  // namespace hg::crc32c
