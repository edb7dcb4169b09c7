#pragma once
// Results of a receive or send that does not block.

#include <cstdint>

namespace hg::http {

enum class Transfer : uint8_t {
  kSome,    // bytes were moved
  kLater,   // no bytes now; wait and try again
  kEnd,     // the client sends no more
  kFailed,  // the connection is broken
};

}  // namespace hg::http
