#pragma once
// The result of an attempt to receive or send bytes without blocking.

#include <cstdint>

namespace hg::http {

enum class Transfer : uint8_t {
  kSome,    // at least one byte was transferred
  kLater,   // no byte could be transferred now; wait and try again
  kEnd,     // the client will send no more bytes
  kFailed,  // the connection is broken; nothing was transferred
};

}  // namespace hg::http
