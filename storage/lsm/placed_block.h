#pragma once
// A block in memory. Its entries are followed by an index of some entries, so that a look-up reads
// only a small part of the block. The index begins with the keys of these entries. For each key it
// has the offset of the key and that of the next entry. It ends with the number of keys and the end
// of the entries. All numbers are u32. Only this folder uses this file.

#include "storage/base/bytes.h"

namespace hg::lsm {

/// A view of a block that WithPlaces returned. The block must outlive this object.
class PlacedBlock {
 public:
  explicit PlacedBlock(ByteView block);

  [[nodiscard]] ByteView entries() const { return block_.substr(0, entries_); }
  /// Moves *in, a suffix of the entries, forward to the entry after the last indexed entry whose
  /// key is less than `start`. Sets *key to the key of that indexed entry. Does nothing if *in is
  /// already there or beyond.
  void Jump(ByteView start, ByteView* in, Bytes* key) const;

 private:
  [[nodiscard]] ByteView KeyOf(size_t place) const;

  const ByteView block_;
  size_t count_, entries_, index_;
};

/// Returns the entries of a block, followed by an index of some of them. If entries are damaged,
/// the index has only entries before the damage.
Bytes WithPlaces(ByteView entries);

}  // namespace hg::lsm
