#pragma once
// The parts of the format of block files that the writer and the readers share (FORMAT.md "Block
// file"). Only files in storage/lsm use this file.

#include <cstring>

#include "storage/base/bytes.h"
#include "storage/base/crc32c.h"
#include "storage/base/varint.h"

namespace hg::lsm {

constexpr ByteView kBlockMagic = "HGBLOCK";
/// The format versions of files: kBlockVersion with neither a filter nor a meta block, kMetaVersion
/// with a meta block, and kFilterVersion with a filter. Older releases wrote files of the first two
/// versions with a filter that is not divided into parts.
constexpr char kBlockVersion = 5, kMetaVersion = 6, kFilterVersion = 7;
constexpr size_t kMagicBytes = 8;
constexpr size_t kCrcBytes = 4;
// The fields at the start of the trailer are: filter offset, filter size, first and last time, crc
// of the filter, packing, crc of the crcs of all blocks and of all parts of the filter. In files of
// kFilterVersion, the fields of the filter describe the table of its parts.
constexpr size_t kTrailerHeadBytes = 8 + 8 + 8 + 8 + 4 + 1 + kCrcBytes;
// The fields after kTrailerHeadBytes are: index offset, index size, number of entries, crc of the
// index, crc of all preceding bytes of the trailer (TrailerCrc), magic.
constexpr size_t kTrailerBytes = kTrailerHeadBytes + 8 + 8 + 8 + 4 + 4 + kMagicBytes;
// In files of kMetaVersion and kFilterVersion, the trailer begins with the offset, the size and the
// crc of the meta block. A size of 0 means that there is no meta block.
constexpr size_t kTrailerMetaBytes = 8 + 8 + 4;

// Maximum size of a block that zstd compresses (Packing::kZstd). It limits the memory that a reader
// allocates for a damaged block.
constexpr size_t kZstdBlockMax = 64 << 20;

inline void AppendLittle(Bytes* out, uint64_t v, int width) {
  for (int i = 0; i < width; ++i) out->push_back(static_cast<char>(v >> (8 * i)));
}

/// Removes and returns a little-endian number. `in` must have at least `width` (0 to 8) bytes.
inline uint64_t TakeLittle(ByteView* in, int width) {
  uint64_t v = 0;
  std::memcpy(&v, in->data(), static_cast<size_t>(width));
  in->remove_prefix(static_cast<size_t>(width));
  return v;
}

/// Returns the checksum of the fields of a trailer. In files of kFilterVersion, it covers the
/// version, too, so that a file whose version is damaged is not read as one of another version.
inline uint32_t TrailerCrc(ByteView fields, char version) {
  const uint32_t crc = crc32c::Value(fields);
  return version == kFilterVersion ? crc32c::Extend(crc, ByteView(&version, 1)) : crc;
}

/// Removes an entry from the front of `in`, and sets *value to a view of `in`. Before the call,
/// *key must be the key of the previous entry, or empty. Returns false if the entry is incomplete.
inline bool TakeEntry(ByteView* in, Bytes* key, ByteView* value) {
  uint64_t shared;
  uint64_t rest;
  if (!GetVarint64(in, &shared) || !GetVarint64(in, &rest) || shared > key->size() ||
      rest > in->size()) {
    return false;
  }
  if (shared + rest == key->size()) {  // the usual case, if all keys have the same length
    std::memcpy(key->data() + shared, in->data(), rest);
  } else {
    key->resize(shared);
    key->append(in->substr(0, rest));
  }
  in->remove_prefix(rest);
  uint64_t size;
  if (!GetVarint64(in, &size) || size > in->size()) return false;
  *value = in->substr(0, size);
  in->remove_prefix(size);
  return true;
}

}  // namespace hg::lsm
