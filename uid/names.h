#pragma once
// Names ⇄ ids, kept in tsdb-uid exactly as OpenTSDB keeps them (spec schema.md §3; OpenTSDB class UniqueId):
// counter by increment, reverse mapping by compare-and-set before the forward one. Names are ISO-8859-1 bytes here;
// callers on the wire convert (uid/name_text.h).

#include <memory>
#include <string>
#include <vector>

#include "storage/base/bytes.h"
#include "storage/base/status.h"
#include "storage/model/key_layout.h"
#include "storage/model/uid_kind.h"
#include "storage/store.h"

namespace hg::uid {

struct NamesOptions {
  std::string table = "tsdb-uid";
  KeyLayout layout;
  bool random_metrics = false;  // tsd.core.uid.random_metrics
};

/// Thread-safe. Blocks on the store on a cache miss; a hit takes one shared lock.
class Names {
 public:
  /// `store` outlives the object.
  Names(Store& store, NamesOptions options);
  ~Names();

  /// UID bytes of a name. NotFound: no such name. Corruption: stored with another width.
  Result<Bytes> Find(UidKind kind, ByteView name);
  /// The same, assigning the next id if there is none. Concurrent callers of one name share one assignment.
  /// LimitExceeded-like exhaustion is InvalidArgument ("all ids assigned").
  Result<Bytes> FindOrAssign(UidKind kind, ByteView name);
  /// Name of a UID. NotFound: no reverse mapping.
  Result<Bytes> NameOf(UidKind kind, ByteView id);

  /// Names beginning with the prefix, byte order, at most max. Empty prefix: those whose first byte is '!' … '~'.
  Result<std::vector<Bytes>> Suggest(UidKind kind, ByteView prefix, size_t max);

  /// NotFound: no `old_name`. Conflict: `new_name` is taken.
  Status Rename(UidKind kind, ByteView old_name, ByteView new_name);
  /// Forward, reverse and metadata cells; points stay. NotFound: unknown.
  Status Delete(UidKind kind, ByteView name);

  /// Highest id handed out (the counter row); 0 if none.
  Result<int64_t> HighestId(UidKind kind);
  void DropCaches();

  struct CacheStats {
    uint64_t hits = 0, misses = 0, size = 0, random_collisions = 0, rejected = 0;
  };
  [[nodiscard]] CacheStats Stats(UidKind kind) const;

 private:
  class Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace hg::uid
