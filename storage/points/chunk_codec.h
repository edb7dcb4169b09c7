#pragma once
// Compresses the points of a row in memory. A chunk has eight entries, in the order in which they
// arrived. Encoding must be fast because it happens under the write lock. Decoding must be fast,
// too. Chunks exist only in memory and use the byte order of the machine.

#include <cstddef>
#include <cstdint>
#include <vector>

#include "storage/points/row_codec.h"

namespace hg::points {

inline constexpr size_t kChunkEntries = 8;
/// Maximum length of a chunk in bytes.
inline constexpr size_t kChunkBytesMax = 1 + kChunkEntries * (sizeof(uint32_t) + sizeof(uint64_t));

/// A decoded chunk. `ops` has a qualifier or a tombstone (row_memory.h) for each entry, in order of
/// arrival.
struct ChunkEntries {
  uint64_t bits[kChunkEntries];
  uint32_t ops[kChunkEntries];
};

/// Returns whether all entries are points and each point is later than the point before it.
bool IsRising(const ChunkEntries& entries);
/// Sorts points by time. If two points have the same time or an entry is a tombstone, returns false
/// and leaves `entries` unchanged.
bool SortRising(ChunkEntries* entries);

/// Encodes the entries of a chunk and returns the length of the chunk in bytes. The entries may be
/// points and tombstones. `out` must have space for kChunkBytesMax bytes.
size_t EncodeChunk(const ChunkEntries& entries, char* out);

/// Returns the length in bytes of the chunk that begins at `chunk`.
size_t ChunkBytes(const char* chunk);
/// Decodes the entries of the chunk that begins at `chunk`. Returns the length of the chunk in
/// bytes.
size_t DecodeChunk(const char* chunk, ChunkEntries* entries);

/// Decodes the chunks in [chunk, end) into the columns from position `*at` on, and advances `*at`.
/// The columns must be large enough. Returns false if a chunk contains an entry that is not a
/// point. After a return of false, the caller may only call Clear on the columns.
bool DecodeChunks(const char* chunk, const char* end, size_t* at, RowColumns* columns);

/// For tests: returns the decoders that this processor supports. The portable decoder comes first.
/// DecodeChunks uses the last decoder.
using ChunksDecoder = bool (*)(const char* chunk, const char* end, size_t* at, RowColumns* columns);
std::vector<ChunksDecoder> UsableChunksDecoders();

}  // namespace hg::points
