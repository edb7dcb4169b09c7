#pragma once
// Random numbers that clients cannot guess.

#include <sys/random.h>

#include <cstdint>

namespace hg {

/// Returns 64 random bits of the operating system. Waits only if the machine has just started and
/// has no randomness yet. Never fails.
inline uint64_t RandomBits() {
  uint64_t bits = 0;
  while (getrandom(&bits, sizeof bits, 0) != sizeof bits) {  // a signal may interrupt the call
  }
  return bits;
}

}  // namespace hg
