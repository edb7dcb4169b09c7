#pragma once
// The result of receiving or sending bytes without blocking.

#include <cstdint>

namespace hg::http {

enum class Transfer : uint8_t {
  kSome,    // bytes were moved
  kLater,   // no bytes could be moved now; wait and try again
  kEnd,     // the client sends no more bytes
  kFailed,  // the connection is broken
};

}  // namespace hg::http
