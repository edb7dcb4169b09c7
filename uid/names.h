#pragma once
// Maps names to ids and back, stored in tsdb-uid exactly as OpenTSDB does it (opentsdb-schema.md
// §3; OpenTSDB class UniqueId). An increment of the counter reserves an id. Then compare-and-set
// writes the reverse mapping first and the forward mapping second.
//
// Names are UTF-8 in this interface. They are stored as ISO-8859-1, with '?' for all other
// characters, so two names may have the same stored bytes and share an id. As in OpenTSDB, of
// several names with the same bytes the process remembers the one that it used first, and returns
// this name for the id. Find also finds the id of the other names. FindOrAssign refuses the other
// names, because points of different names would be in the same series. Suggest fails on a row if
// the process knows only another name with the same bytes. Telnet and import read ISO-8859-1 and
// convert it with FromLatin1 (storage/model/name_text.h).

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "storage/base/bytes.h"
#include "storage/base/request_context.h"
#include "storage/base/status.h"
#include "storage/model/key_layout.h"
#include "storage/model/uid_kind.h"
#include "storage/store.h"
#include "uid/name_cache.h"

namespace hg::uid {

struct NamesOptions {
  std::string table = "tsdb-uid";
  KeyLayout layout;
  bool random_metrics = false;  // tsd.core.uid.random_metrics; needs a metric width of at most 7
  /// Returns 64 random bits. If the function is empty, the system's secure generator is used.
  /// Several threads call it concurrently.
  std::function<uint64_t()> random_bits;
  NameCacheOptions cache;
  /// Decides whether a name may get an id (tsd.uidfilter.*). Several threads call it concurrently.
  /// If the function is empty, every name may get an id.
  std::function<bool(UidKind kind, std::string_view name)> may_assign;
  /// Called before names get ids, with the memory in bytes that the names will need
  /// (Embedded::MayAddSeries). If it fails, no id is used, and the caller gets the error. Several
  /// threads call it concurrently. If the function is empty, memory is not limited.
  std::function<Status(uint64_t bytes)> may_grow;
  /// Called for each id that this process assigned, after both mappings are stored in `store` and
  /// before a caller gets the id (tsd.core.meta.enable_realtime_uid). Several threads call it
  /// concurrently. The function may be empty.
  std::function<void(UidKind kind, const Bytes& id, Store& store)> assigned;
  /// Called when a new name is rejected because all ids of its kind are already assigned. Several
  /// threads call it concurrently. The function may be empty.
  std::function<void(UidKind kind, const Status& refusal)> ids_used_up;
};

/// The maximum length of a name in characters. A name is a row key, and HBase limits row keys.
inline constexpr size_t kNameLengthMax = 32767;

/// Thread-safe. A call for a name that is not cached blocks on the store. For a cached name it
/// takes one shared lock.
class Names {
 public:
  /// `store` must outlive the object.
  Names(Store& store, NamesOptions options);
  ~Names();

  /// Returns the UID of a name. NotFound: the name does not exist ("No such name for 'metrics':
  /// 'x'"). Corruption: the stored UID has another width. If the store must be read, the read is
  /// charged to `context` and fails with errors of `context`; nullptr means no limits.
  Result<Bytes> Find(UidKind kind, ByteView name, RequestContext* context = nullptr);
  /// Returns the UID of a name, and assigns the next id if the name has none. Sets `*assigned` (may
  /// be nullptr) to whether it assigned an id. Concurrent callers for one name share one
  /// assignment. InvalidArgument: all ids are assigned, may_assign returned false, or the name is
  /// empty or too long. Conflict: the stored bytes of the name belong to another name, or every id
  /// that was tried is in use (the id counter is too small). Also fails with errors of may_grow.
  Result<Bytes> FindOrAssign(UidKind kind, ByteView name, bool* assigned = nullptr);

  // The following functions do the same as FindOrAssign, but in two steps. They are for a group of
  // names of which either all or none get ids.

  /// Returns the id of a name. Returns nullopt if the name is new and FindOrAssign would assign an
  /// id. Fails like FindOrAssign, but does not call may_grow.
  Result<std::optional<Bytes>> FindOrAllow(UidKind kind, ByteView name);
  /// Calls may_grow for the memory of new names and returns its error.
  [[nodiscard]] Status AskForMemory(uint64_t bytes) const;
  /// Returns the memory of a new name of `name_bytes` bytes, for a call of AskForMemory.
  static uint64_t MemoryOf(size_t name_bytes);
  /// Assigns an id to a name that FindOrAllow has allowed. Call AskForMemory first. The id becomes
  /// durable only with a later commit of the log (Store::CommittedLater). Until then, do not
  /// acknowledge anything that depends on the id.
  Result<Bytes> AssignAllowed(UidKind kind, ByteView name);
  /// Returns the name of a UID. NotFound: the UID has no reverse mapping ("No such unique ID for
  /// 'tagv': [0, 0, 1]"). InvalidArgument: the UID does not have the width of its kind. `context`
  /// has the same meaning as in Find.
  Result<std::string> NameOf(UidKind kind, ByteView id, RequestContext* context = nullptr);

  /// Returns up to `max` names with the prefix, in byte order. An empty prefix means names whose
  /// first byte is '!' … '}'. Corruption: this process knows another name for the id of one of the
  /// names. Charges the names to `tally`. The scan reports its work to the context of `tally` and
  /// fails with errors of this context. nullptr means no limits.
  Result<std::vector<std::string>> Suggest(UidKind kind, ByteView prefix, size_t max,
                                           MemoryTally* tally);

  /// A function that gets each name. It returns false to end the iteration.
  using NameVisitor = std::function<Result<bool>(std::string name)>;
  /// Visits the names that Suggest would return, one by one, in a single scan. The scan reports its
  /// work to `context` (nullptr means no limits) and fails with errors of `context`. Returns the
  /// first error of `visit`.
  Status ForEach(UidKind kind, ByteView prefix, RequestContext* context, const NameVisitor& visit);

  /// A function that gets each name and its id. It returns false to end the iteration.
  using IdVisitor = std::function<bool(UidKind kind, const std::string& name, ByteView id)>;
  /// Visits the names of all kinds that Suggest returns for an empty prefix, with the ids that Find
  /// returns. They are added neither to the cache of names nor to the block cache of the store.
  Status ForEachId(const IdVisitor& visit);

  /// Gives the id of `old_name` the name `new_name`. NotFound: `old_name` does not exist. Conflict:
  /// `new_name` already has an id, perhaps from a concurrent assignment, or another rename of one
  /// of these names is running. The change is not atomic. Other processes keep their cached names.
  Status Rename(UidKind kind, ByteView old_name, ByteView new_name);
  /// Deletes a name: its forward, reverse and metadata cells. Points stay. NotFound: the name does
  /// not exist.
  Status Delete(UidKind kind, ByteView name);

  /// Reads at most `rows_max` rows of the store and adds their names, of all kinds, to the cache.
  /// These are names that Suggest returns for an empty prefix.
  Status Preload(size_t rows_max);
  /// Returns the highest assigned id (from the counter row), or 0 if there is none.
  Result<int64_t> HighestId(UidKind kind);
  void DropCaches();
  /// Returns whether may_assign is set, so that some names may be refused an id.
  [[nodiscard]] bool filters() const;

  struct CacheStats {
    uint64_t hits = 0, misses = 0, size = 0, random_collisions = 0, rejected = 0;
  };
  [[nodiscard]] CacheStats Stats(UidKind kind) const;
  /// Counts a name that the caller gave no id, because automatic creation is off.
  void CountRejected(UidKind kind);

 private:
  class Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace hg::uid
