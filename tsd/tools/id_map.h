#pragma once
// Which ids another store has for the names of this one, and what rows of series are called there.

#include <map>

#include "storage/model/key_layout.h"
#include "storage/model/uid_kind.h"
#include "storage/store.h"

namespace hg::tsd {

/// Ids that were not added are the same on both sides. One thread.
class IdMap {
 public:
  explicit IdMap(const KeyLayout& layout) : layout_(layout) {}

  void Add(UidKind kind, const Bytes& here, const Bytes& there);
  /// All of them are.
  [[nodiscard]] bool same() const;
  /// Gives a row of series, of points or of rollups, the key that it has there, and its annotations
  /// that series. A key without series, or that cannot be read, stays as it is.
  void Rename(Row* row) const;

 private:
  [[nodiscard]] Bytes Of(UidKind kind, ByteView here) const;

  const KeyLayout layout_;
  std::map<Bytes, Bytes> ids_[std::size(kUidKinds)];
};

}  // namespace hg::tsd
