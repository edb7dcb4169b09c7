#pragma once
// The memory available to this process: the memory of the machine, or the limit of a control group
// if that limit is smaller.

#include <cstdint>

namespace hg::tsd {

/// Returns the memory in bytes, as reported by /proc and /sys, or 1 GiB if neither reports it.
uint64_t MachineMemoryBytes();

}  // namespace hg::tsd
