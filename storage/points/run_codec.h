#pragma once
// Compresses the points of a row in memory. A run is a chunk of eight entries, in the order in
// which they arrived. Encoding must be fast because it happens under the write lock; decoding must
// be fast, too. Runs exist only in memory and use the byte order of the machine.

#include <cstddef>
#include <cstdint>
#include <vector>

#include "storage/points/row_codec.h"

namespace hg::points {

inline constexpr size_t kRunEntries = 8;
/// Maximum length of a run in bytes.
inline constexpr size_t kRunBytesMax = 1 + kRunEntries * (sizeof(uint32_t) + sizeof(uint64_t));

/// A decoded run. `ops` holds qualifiers or the tombstones of row_memory, in order of arrival.
struct RunEntries {
  uint64_t bits[kRunEntries];
  uint32_t ops[kRunEntries];
};

/// Returns true if all entries are points and each is later than the one before.
bool IsRising(const RunEntries& entries);
/// Sorts points by time. Returns false, with nothing changed, if two points have the same time or
/// an entry is a tombstone.
bool SortRising(RunEntries* entries);

/// Encodes any entries and returns the length of the run in bytes. `out` must have room for
/// kRunBytesMax bytes.
size_t EncodeRun(const RunEntries& entries, char* out);

/// Returns the length in bytes of the run that begins at `run`.
size_t RunBytes(const char* run);
/// Decodes the entries as they were given to EncodeRun. Returns the length of the run in bytes.
size_t DecodeRun(const char* run, RunEntries* entries);

/// Decodes the runs in [run, end) into the columns from position `*at` on, and advances `*at`. The
/// columns must be large enough. Returns false if a run holds anything other than points; then only
/// Clear may be called on the columns.
bool DecodeRuns(const char* run, const char* end, size_t* at, RowColumns* columns);

/// For tests: the decoders that this processor supports. The portable one comes first. The last one
/// is used by DecodeRuns.
using RunsDecoder = bool (*)(const char* run, const char* end, size_t* at, RowColumns* columns);
std::vector<RunsDecoder> UsableRunsDecoders();

}  // namespace hg::points
