#pragma once
// Compresses and decompresses bodies in the form in which Prometheus sends them: one block of the
// snappy format, without framing.

#include <cstdint>
#include <string>
#include <string_view>

#include "http/wire/request_memory.h"
#include "storage/base/status.h"

namespace hg::http {

/// Decompresses a block. The memory is charged to `memory` before it is allocated, and stays
/// charged; if charging fails, the function returns the error of `memory`. InvalidArgument: the
/// block is damaged. LimitExceeded: the decompressed block would have more than bytes_max bytes.
Status UnpackSnappy(std::string_view packed, uint64_t bytes_max, std::string* out,
                    RequestMemory::Share* memory);

/// Returns the maximum size in bytes of the output of PackSnappy for an input of `bytes` bytes.
size_t PackedSnappyBytesMax(size_t bytes);

/// Compresses the bytes into one block. The input must have fewer than 2^32 bytes.
std::string PackSnappy(std::string_view bytes);

}  // namespace hg::http
