#pragma once
// The parts of a block file that its writer and its readers share (FORMAT.md "Block file"). Only
// this folder uses this file.

#include <cstring>

#include "storage/base/bytes.h"
#include "storage/base/varint.h"

namespace hg::lsm {

constexpr ByteView kBlockMagic = "HGBLOCK";
/// The versions of files without and with a meta block.
constexpr char kBlockVersion = 5, kMetaVersion = 6;
constexpr size_t kMagicBytes = 8;
constexpr size_t kCrcBytes = 4;
// The fields are: filter offset, filter size, first and last time, filter crc, packing, crc of the
// blocks' crcs.
constexpr size_t kTrailerHeadBytes = 8 + 8 + 8 + 8 + 4 + 1 + kCrcBytes;
// The fields after kTrailerHeadBytes are: index offset, index size, entries, index crc, crc of the
// preceding trailer, magic.
constexpr size_t kTrailerBytes = kTrailerHeadBytes + 8 + 8 + 8 + 4 + 4 + kMagicBytes;
// With a meta block, the trailer begins with offset, size and crc of the meta block.
constexpr size_t kTrailerMetaBytes = 8 + 8 + 4;

// Limits the memory that a damaged block can make a reader allocate.
constexpr size_t kZstdBlockMax = 64 << 20;

inline void AppendLittle(Bytes* out, uint64_t v, int width) {
  for (int i = 0; i < width; ++i) out->push_back(static_cast<char>(v >> (8 * i)));
}

/// Removes a little-endian number from the front of `in`, which must have at least `width` bytes.
inline uint64_t TakeLittle(ByteView* in, int width) {
  uint64_t v = 0;
  std::memcpy(&v, in->data(), static_cast<size_t>(width));
  in->remove_prefix(static_cast<size_t>(width));
  return v;
}

/// Decodes one entry from the front of a block. Returns false if the entry is incomplete. `key`
/// must be the previous key.
inline bool TakeEntry(ByteView* in, Bytes* key, ByteView* value) {
  uint64_t shared;
  uint64_t rest;
  if (!GetVarint64(in, &shared) || !GetVarint64(in, &rest) || shared > key->size() ||
      rest > in->size()) {
    return false;
  }
  if (shared + rest == key->size()) {  // the usual case, if keys have the same length
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
