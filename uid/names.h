#pragma once
// Names ⇄ ids, kept in tsdb-uid exactly as OpenTSDB keeps them (spec schema.md §3; OpenTSDB class
// UniqueId): counter by increment, reverse mapping by compare-and-set before the forward one.
//
// Names are UTF-8 at this door. Stored they are ISO-8859-1, with '?' for every character beyond: so
// two names may have the same bytes and share an id. As in OpenTSDB the process remembers the
// spelling it met first and gives it back; a second spelling is found by Find, refused by
// FindOrAssign (nothing would keep their points apart), and Suggest fails on a row of which only
// another spelling is known. Telnet and import, which read ISO-8859-1, convert with FromLatin1
// (storage/model/name_text.h).

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "storage/base/bytes.h"
#include "storage/base/status.h"
#include "storage/model/key_layout.h"
#include "storage/model/uid_kind.h"
#include "storage/store.h"
#include "uid/name_cache.h"

namespace hg::uid {

struct NamesOptions {
  std::string table = "tsdb-uid";
  KeyLayout layout;
  bool random_metrics = false;  // tsd.core.uid.random_metrics; metric width ≤ 7
  /// 64 random bits; empty = the system's secure generator. Called by several threads at once.
  std::function<uint64_t()> random_bits;
  NameCacheOptions cache;
  /// Asked before a name gets an id; false = it gets none (tsd.uidfilter.*). Called by several
  /// threads at once. Empty = every name.
  std::function<bool(UidKind kind, std::string_view name)> may_assign;
  /// Told of each id that this process assigned, once both mappings are stored and before anybody
  /// is given it (tsd.core.meta.enable_realtime_uid). Called by several threads at once. May be
  /// empty.
  std::function<void(UidKind kind, const Bytes& id)> assigned;
};

/// Thread-safe. Blocks on the store on a cache miss; a hit takes one shared lock.
class Names {
 public:
  /// `store` outlives the object.
  Names(Store& store, NamesOptions options);
  ~Names();

  /// UID bytes of a name. NotFound: no such name ("No such name for 'metrics': 'x'"). Corruption:
  /// stored with another width.
  Result<Bytes> Find(UidKind kind, ByteView name);
  /// The same, assigning the next id if there is none; `*assigned` (if given) then becomes true.
  /// Concurrent callers of one name share one assignment. InvalidArgument: all ids are assigned,
  /// may_assign said no, or the name is empty. Conflict: the name's bytes belong to another
  /// spelling; or each id tried was taken (a counter behind its ids).
  Result<Bytes> FindOrAssign(UidKind kind, ByteView name, bool* assigned = nullptr);
  /// Name of a UID. NotFound: no reverse mapping ("No such unique ID for 'tagv': [0, 0, 1]").
  /// InvalidArgument: not of the kind's width.
  Result<std::string> NameOf(UidKind kind, ByteView id);

  /// Names beginning with the prefix, byte order, at most max. Empty prefix: those whose first byte
  /// is '!' … '}'. Corruption: a row of which this process knows another spelling (above).
  Result<std::vector<std::string>> Suggest(UidKind kind, ByteView prefix, size_t max);

  /// False: enough.
  using NameVisitor = std::function<Result<bool>(std::string name)>;
  /// The same one after the other, as they are read by one scan. Its failure is returned.
  Status ForEach(UidKind kind, ByteView prefix, const NameVisitor& visit);

  /// False: enough.
  using IdVisitor = std::function<bool(UidKind kind, const std::string& name, ByteView id)>;
  /// The names that an empty prefix suggests, of all kinds, as one scan reads them: what Find says
  /// of each. Neither the process nor the store's cache remembers anything of it.
  Status ForEachId(const IdVisitor& visit);

  /// NotFound: no `old_name`. Conflict: `new_name` is taken, or either name is just being renamed.
  /// Not atomic; other processes keep what they have cached.
  Status Rename(UidKind kind, ByteView old_name, ByteView new_name);
  /// Forward, reverse and metadata cells; points stay. NotFound: unknown.
  Status Delete(UidKind kind, ByteView name);

  /// Remembers the names that an empty prefix suggests, of all kinds, at most so many rows.
  Status Preload(size_t rows_max);
  /// Highest id handed out (the counter row); 0 if none.
  Result<int64_t> HighestId(UidKind kind);
  void DropCaches();
  /// Whether some names may be refused an id (may_assign).
  [[nodiscard]] bool filters() const;

  struct CacheStats {
    uint64_t hits = 0, misses = 0, size = 0, random_collisions = 0, rejected = 0;
  };
  [[nodiscard]] CacheStats Stats(UidKind kind) const;
  /// Counts a name that the caller refused to have assigned (automatic creation is off).
  void CountRejected(UidKind kind);

 private:
  class Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace hg::uid
