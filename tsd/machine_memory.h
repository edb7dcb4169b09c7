#pragma once
// Finds how much memory this process may use: the memory of the machine, or the limit of a control
// group if that limit is smaller.

#include <cstdint>

namespace hg::tsd {

/// Returns the usable memory in bytes, as /proc and /sys report it. Returns 1 GiB if neither of
/// them reports it.
uint64_t MachineMemoryBytes();

}  // namespace hg::tsd
