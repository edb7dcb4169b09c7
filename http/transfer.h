#pragma once
// How moving bytes to or from a client went, where nothing ever waits.

#include <cstdint>

namespace hg::http {

enum class Transfer : uint8_t {
  kSome,    // bytes were moved
  kLater,   // none now; there is something to wait for
  kEnd,     // the client sends no more
  kFailed,  // the connection is broken
};

}  // namespace hg::http
