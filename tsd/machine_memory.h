#pragma once
// The memory available to this process: that of the machine, or the smaller limit of a control
// group.

#include <cstdint>

namespace hg::tsd {

/// Returns bytes. Reads /proc and /sys. Returns 1 GiB if neither has the number.
uint64_t MachineMemoryBytes();

}  // namespace hg::tsd
