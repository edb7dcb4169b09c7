#pragma once
// Bodies packed as one block of the snappy format, without framing, as Prometheus sends them.

#include <cstdint>
#include <string>
#include <string_view>

#include "http/wire/request_memory.h"
#include "storage/base/status.h"

namespace hg::http {

/// InvalidArgument: damaged. LimitExceeded: unpacks to more than bytes_max. The memory is first
/// taken from `memory`, which keeps it charged; if it refuses, the result is its refusal.
Status UnpackSnappy(std::string_view packed, uint64_t bytes_max, std::string* out,
                    RequestMemory::Share* memory);

/// The maximum size of the output of PackSnappy for so many bytes.
size_t PackedSnappyBytesMax(size_t bytes);

/// Packs less than 2^32 bytes.
std::string PackSnappy(std::string_view bytes);

}  // namespace hg::http
