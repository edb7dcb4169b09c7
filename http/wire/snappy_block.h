#pragma once
// Compresses and decompresses bodies that are one block of the snappy format without framing, as
// Prometheus sends them.

#include <cstdint>
#include <string>
#include <string_view>

#include "http/wire/request_memory.h"
#include "storage/base/status.h"

namespace hg::http {

/// Decompresses a block. InvalidArgument: the block is damaged. LimitExceeded: the block
/// decompresses to more than bytes_max. Charges the memory to `memory` first, and keeps it charged;
/// if that fails, returns the error of `memory`.
Status UnpackSnappy(std::string_view packed, uint64_t bytes_max, std::string* out,
                    RequestMemory::Share* memory);

/// Returns the maximum size of the output of PackSnappy for that many bytes of input.
size_t PackedSnappyBytesMax(size_t bytes);

/// Compresses the bytes into one block. There must be fewer than 2^32 bytes.
std::string PackSnappy(std::string_view bytes);

}  // namespace hg::http
