#pragma once
// The memory available to this process: that of the machine, or the smaller limit of a control
// group.

#include <cstdint>

namespace hg::tsd {

/// Returns the memory in bytes. Reads /proc and /sys. If neither has the number, returns 1 GiB.
uint64_t MachineMemoryBytes();

}  // namespace hg::tsd
