#pragma once
// Maps ids of metrics and tags in this store to the ids that another store has for the same names.
// Also converts row keys with these ids.

#include <map>

#include "storage/model/key_layout.h"
#include "storage/model/uid_kind.h"
#include "storage/store.h"

namespace hg::tsd {

/// Maps the ids of one store to the ids of another store. An id that was not added is mapped to
/// itself. The map is not thread-safe.
class IdMap {
 public:
  explicit IdMap(const KeyLayout& layout) : layout_(layout) {}

  void Add(UidKind kind, const Bytes& here, const Bytes& there);
  /// Returns whether every id is mapped to itself.
  [[nodiscard]] bool same() const;
  /// Replaces the ids in the key of a row of points or rollups, and in the TSUIDs of its
  /// annotations. Keys that belong to no series, and keys that cannot be parsed, stay unchanged.
  void Rename(Row* row) const;

 private:
  [[nodiscard]] Bytes Of(UidKind kind, ByteView here) const;

  const KeyLayout layout_;
  std::map<Bytes, Bytes> ids_[std::size(kUidKinds)];
};

}  // namespace hg::tsd
