#pragma once
// How much memory this process may count on: the machine's, or less where a control group says so.

#include <cstdint>

namespace hg::tsd {

/// Bytes. Reads /proc and /sys; 1 GiB if neither tells.
uint64_t MachineMemoryBytes();

}  // namespace hg::tsd
