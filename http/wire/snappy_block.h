#pragma once
// Packs and unpacks bodies that are one block of the snappy format without framing, as Prometheus
// sends them.

#include <cstdint>
#include <string>
#include <string_view>

#include "http/wire/request_memory.h"
#include "storage/base/status.h"

namespace hg::http {

/// Unpacks a block. InvalidArgument: the block is damaged. LimitExceeded: it unpacks to more than
/// bytes_max. The memory is first charged to `memory`, and stays charged; if that fails, returns
/// its error.
Status UnpackSnappy(std::string_view packed, uint64_t bytes_max, std::string* out,
                    RequestMemory::Share* memory);

/// Returns the maximum size of the output of PackSnappy for that many bytes of input.
size_t PackedSnappyBytesMax(size_t bytes);

/// Packs the bytes into one block. There must be fewer than 2^32 bytes.
std::string PackSnappy(std::string_view bytes);

}  // namespace hg::http
