#pragma once
// Finds how much memory this process may use: the memory of the machine, or the limit of a control
// group if that limit is smaller.

#include <cstdint>

namespace hg::tsd {

/// Returns the usable memory in bytes. If the size of the machine's memory is unknown, the function
/// uses 1 GiB in its place.
uint64_t MachineMemoryBytes();

}  // namespace hg::tsd
