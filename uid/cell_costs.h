#pragma once
// Limits and costs of reading and writing cells. They apply to all objects that the code in uid/
// stores.

#include <cstddef>
#include <cstdint>

namespace hg::uid {

/// Cost of reading or writing one cell, or of looking up one name, in steps of a RequestContext.
/// Each of these operations takes microseconds.
inline constexpr uint64_t kStepsPerCell = 1 << 12;
/// Number of bytes at which one fetch of a scan ends.
inline constexpr size_t kFetchBytes = 1 << 20;
/// Maximum number of columns that one mutation deletes. Other writers wait while a mutation is
/// applied.
inline constexpr size_t kDeletesTogether = 1000;
/// The maximum number of attempts of one write. A failed attempt means that another writer
/// succeeded.
inline constexpr int kWriteAttempts = 10;

}  // namespace hg::uid
