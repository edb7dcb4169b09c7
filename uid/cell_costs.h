#pragma once
// Limits and costs of reading and writing the cells in which the code in uid/ stores its objects.

#include <cstddef>
#include <cstdint>

namespace hg::uid {

/// The cost of reading or writing one cell, or of looking up one name, in steps of a
/// RequestContext. Each of these operations takes microseconds.
inline constexpr uint64_t kStepsPerCell = 1 << 12;
/// The number of bytes after which one fetch of a scan ends.
inline constexpr size_t kFetchBytes = 1 << 20;
/// The maximum number of columns that one mutation deletes. The limit is needed because other
/// writers wait while a mutation is applied.
inline constexpr size_t kDeletesTogether = 1000;
/// The maximum number of attempts of one compare-and-set write. An attempt fails only if another
/// writer has changed the cell.
inline constexpr int kWriteAttempts = 10;

}  // namespace hg::uid
