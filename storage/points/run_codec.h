#pragma once
// Eight entries of a row's history in memory as few bytes, quick to write and to read again
// (engine.md §4): what the row codec does for whole rows on disk, a row in memory does every eight
// points, in the write lock. Bytes of this machine only; nothing of it is ever stored.

#include <cstddef>
#include <cstdint>
#include <vector>

#include "storage/points/row_codec.h"

namespace hg::points {

inline constexpr size_t kRunEntries = 8;
/// Bytes of a run at most.
inline constexpr size_t kRunBytesMax = 1 + kRunEntries * (sizeof(uint32_t) + sizeof(uint64_t));

/// A run unpacked. `ops`: qualifiers, or the marks of row_memory, in order of arrival.
struct RunEntries {
  uint64_t bits[kRunEntries];
  uint32_t ops[kRunEntries];
};

/// True if all entries are points, each at another instant and later than the one before.
bool IsRising(const RunEntries& entries);
/// Sorts points by instant; false, with nothing changed, if two are of one instant or an entry is a
/// mark.
bool SortRising(RunEntries* entries);

/// Writes a run, whatever the entries are, and returns its bytes. `out` has room for kRunBytesMax.
size_t EncodeRun(const RunEntries& entries, char* out);

/// Bytes of the run that begins here.
size_t RunBytes(const char* run);
/// The entries as they were given to EncodeRun. Returns the bytes of the run.
size_t DecodeRun(const char* run, RunEntries* entries);

/// Decodes the runs in [run, end) into the places from `*at` on, which moves, of columns that have
/// room for them. False: a run holds something else than points, and the columns are good for Clear
/// only.
bool DecodeRuns(const char* run, const char* end, size_t* at, RowColumns* columns);

/// For tests: the ways that this processor can decode in. The plain one first, the one that
/// DecodeRuns takes last.
using RunsDecoder = bool (*)(const char* run, const char* end, size_t* at, RowColumns* columns);
std::vector<RunsDecoder> UsableRunsDecoders();

}  // namespace hg::points
