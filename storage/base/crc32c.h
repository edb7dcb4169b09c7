#pragma once
// CRC32C (Castagnoli polynomial, RFC 3720 §12.1): the checksum of log records, and of blocks and
// other parts of files.

#include <cstdint>

#include "storage/base/bytes.h"

namespace hg::crc32c {

/// Continues the checksum `crc` with `bytes`. Extend(0, b) equals Value(b). Uses the CRC32C
/// instruction of the processor if it has one.
uint32_t Extend(uint32_t crc, ByteView bytes);

inline uint32_t Value(ByteView bytes) { return Extend(0, bytes); }

namespace internal {
/// Computes the same result as Extend, but uses tables. Extend uses this function on processors
/// without the CRC32C instruction. Tests also use it.
uint32_t ExtendByTable(uint32_t crc, ByteView bytes);
}  // namespace internal

}  // namespace hg::crc32c
