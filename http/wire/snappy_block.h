#pragma once
// Bodies packed as one block of the snappy format, without its frames: how Prometheus sends them.

#include <cstdint>
#include <string>
#include <string_view>

#include "storage/base/status.h"

namespace hg::http {

/// InvalidArgument: damaged. LimitExceeded: it unpacks to more than bytes_max. The room is asked of
/// this thread's share (request_memory.h) before it is taken, which holds it then: as it refuses
/// it.
Status UnpackSnappy(std::string_view packed, uint64_t bytes_max, std::string* out);

/// What PackSnappy takes at most for so many bytes.
size_t PackedSnappyBytesMax(size_t bytes);

/// Of less than 2^32 bytes.
std::string PackSnappy(std::string_view bytes);

}  // namespace hg::http
