#pragma once
// A block in memory. The entries of the block are followed by an index of some entries, so that a
// look-up reads only a small part of the block. The index begins with the keys of the indexed
// entries. For each of these keys, the index has the offset of the key and the offset of the next
// entry. The index ends with the number of keys and the end of the entries. All numbers are u32.
// Only files in storage/lsm use this file.

#include "storage/base/bytes.h"

namespace hg::lsm {

/// A view of a block that WithPlaces returned. The bytes of the block must outlive this object.
class PlacedBlock {
 public:
  explicit PlacedBlock(ByteView block);

  [[nodiscard]] ByteView entries() const { return block_.substr(0, entries_); }
  /// Moves *in forward to the entry after the last indexed entry whose key is less than `start`.
  /// *in must be a suffix of the entries. Sets *key to the key of that indexed entry. Does nothing
  /// if *in is already at this entry or beyond it.
  void Jump(ByteView start, ByteView* in, Bytes* key) const;

 private:
  [[nodiscard]] ByteView KeyOf(size_t place) const;

  const ByteView block_;
  size_t count_, entries_, index_;
};

/// Returns the entries of a block, followed by an index of some entries. If entries are damaged,
/// the index has only entries before the damage.
Bytes WithPlaces(ByteView entries);

}  // namespace hg::lsm
