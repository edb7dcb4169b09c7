#pragma once
// Maps names to ids and ids to names. The mappings are stored in the table tsdb-uid exactly as
// OpenTSDB stores them (opentsdb-schema.md §3; OpenTSDB class UniqueId). To assign an id, the
// process first reserves the id by an increment of the counter. It then writes the mapping from id
// to name (the reverse mapping), and after that the mapping from name to id (the forward mapping).
// Both writes are compare-and-set.
//
// Names are UTF-8 in this interface. They are stored as ISO-8859-1, with '?' for all other
// characters, so two names may have the same stored bytes and share an id. If several names have
// the same stored bytes, the process remembers the name that it used first, and returns this name
// for the id. OpenTSDB does the same. Find also finds the id of the other names. FindOrAssign
// rejects the other names, because points of different names would be in the same series. Suggest
// fails if it reads a row and the process knows only another name with the bytes of this row. The
// telnet protocol and the import tool read ISO-8859-1 and convert it with FromLatin1
// (storage/model/name_text.h).

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
  /// A function that returns 64 random bits for random metric ids. If the function is empty, the
  /// secure random generator of the system is used. Several threads call the function concurrently.
  std::function<uint64_t()> random_bits;
  NameCacheOptions cache;
  /// A function that decides whether a name may get an id (tsd.uidfilter.*). Several threads call
  /// the function concurrently. If the function is empty, every name may get an id.
  std::function<bool(UidKind kind, std::string_view name)> may_assign;
  /// A function that is called before names get ids, with the memory in bytes that the names will
  /// need (Embedded::MayAddSeries). If the function fails, no id is used, and the caller gets the
  /// error. Several threads call the function concurrently. If the function is empty, memory is not
  /// limited.
  std::function<Status(uint64_t bytes)> may_grow;
  /// A function that is called for each id that this process has assigned
  /// (tsd.core.meta.enable_realtime_uid). The function is called after the mappings from name to id
  /// and from id to name are stored in `store`, and before a caller gets the id. Several threads
  /// call the function concurrently. If the function is empty, Names calls nothing.
  std::function<void(UidKind kind, const Bytes& id, Store& store)> assigned;
  /// A function that is called if a new name is rejected because all ids of its kind are already
  /// assigned. `refusal` is the error that the caller gets. Several threads call the function
  /// concurrently. If the function is empty, Names calls nothing.
  std::function<void(UidKind kind, const Status& refusal)> ids_used_up;
};

/// The maximum length of a name in characters. The limit exists because a name is a row key, and
/// HBase limits the length of row keys.
inline constexpr size_t kNameLengthMax = 32767;

/// The names and ids of all kinds. Thread-safe. A call for a name that is not cached blocks on the
/// store. A call for a cached name takes one shared lock.
class Names {
 public:
  /// `store` must outlive the object.
  Names(Store& store, NamesOptions options);
  ~Names();

  /// Returns the UID of a name. Returns NotFound if the name does not exist; the message is "No
  /// such name for 'metrics': 'x'". Returns Corruption if the stored UID does not have the width of
  /// its kind. If the store must be read, the work is charged to `context`, and Find returns the
  /// errors of `context`. If `context` is nullptr, there are no limits.
  Result<Bytes> Find(UidKind kind, ByteView name, RequestContext* context = nullptr);
  /// Returns the UID of a name, and assigns the next id if the name has no id. If this call
  /// assigned the id and `assigned` is not nullptr, sets `*assigned` to true; otherwise `*assigned`
  /// stays unchanged. Concurrent callers for one name share one assignment. Returns InvalidArgument
  /// if all ids are assigned, if may_assign returned false, or if the name is empty or too long.
  /// Returns Conflict if the stored bytes of the name belong to another name, or if every id that
  /// was tried is in use (the id counter is too small). Also returns the errors of may_grow.
  Result<Bytes> FindOrAssign(UidKind kind, ByteView name, bool* assigned = nullptr);

  // The next four functions assign ids like FindOrAssign, but in two steps. They are for a group of
  // names of which either all or none should get ids.

  /// Returns the id of a name. Returns nullopt if the name is new and may get an id (may_assign).
  /// Returns the same errors as FindOrAssign, but does not call may_grow.
  Result<std::optional<Bytes>> FindOrAllow(UidKind kind, ByteView name);
  /// Calls may_grow with the memory that new names need, in bytes, and returns the error of
  /// may_grow.
  [[nodiscard]] Status AskForMemory(uint64_t bytes) const;
  /// Returns the memory that a new name of `name_bytes` bytes needs, in bytes. The sum of these
  /// numbers is the argument of AskForMemory.
  static uint64_t MemoryOf(size_t name_bytes);
  /// Assigns an id to a name for which FindOrAllow returned nullopt. Call AskForMemory first. The
  /// id becomes durable only with a later commit of the log (Store::CommittedLater). Until this
  /// commit, do not acknowledge anything that depends on the id.
  Result<Bytes> AssignAllowed(UidKind kind, ByteView name);
  /// Returns the name of a UID. Returns NotFound if no name is stored for the UID; the message is
  /// "No such unique ID for 'tagv': [0, 0, 1]". Returns InvalidArgument if the UID does not have
  /// the width of its kind. `context` has the same meaning as in Find.
  Result<std::string> NameOf(UidKind kind, ByteView id, RequestContext* context = nullptr);

  /// Returns at most `max` names that begin with `prefix`, in byte order. If the prefix is empty,
  /// returns names whose first byte is '!' … '}'. Returns Corruption if this process knows another
  /// name for the id of one of the names. Charges the memory of the names to `tally`. The scan
  /// charges its work to the context of `tally` and returns the errors of this context. If `tally`
  /// is nullptr, there are no limits.
  Result<std::vector<std::string>> Suggest(UidKind kind, ByteView prefix, size_t max,
                                           MemoryTally* tally);

  /// A function that gets each name. It returns false to end the iteration.
  using NameVisitor = std::function<Result<bool>(std::string name)>;
  /// Calls `visit` for all names that Suggest would return without a maximum, one by one, in a
  /// single scan. If this process knows another name for an id, `visit` gets that name. The scan
  /// charges its work to `context` and returns the errors of `context`; nullptr means no limits. If
  /// `visit` returns an error, ForEach ends and returns this error.
  Status ForEach(UidKind kind, ByteView prefix, RequestContext* context, const NameVisitor& visit);

  /// A function that gets each name and its id. It returns false to end the iteration.
  using IdVisitor = std::function<bool(UidKind kind, const std::string& name, ByteView id)>;
  /// Calls `visit` for the names of all kinds whose first byte is '!' … '}', each with its id.
  /// These are the names that Suggest returns for an empty prefix. ForEachId adds nothing to the
  /// name cache and no blocks to the block cache of the store.
  Status ForEachId(const IdVisitor& visit);

  /// Renames `old_name` to `new_name`; the id stays the same. Returns NotFound if `old_name` does
  /// not exist. Returns Conflict if `new_name` already has an id, perhaps from a concurrent
  /// assignment, or if another rename of `old_name` or `new_name` is running. The change is not
  /// atomic. Other processes keep their cached names.
  Status Rename(UidKind kind, ByteView old_name, ByteView new_name);
  /// Deletes a name: its two mappings (name → id and id → name) and the metadata of its id. Points
  /// are not deleted. Returns NotFound if the name does not exist.
  Status Delete(UidKind kind, ByteView name);

  /// Reads at most `rows_max` rows of the table of names, and adds the names in these rows to the
  /// cache. The rows are those of the names, of all kinds, that Suggest returns for an empty
  /// prefix.
  Status Preload(size_t rows_max);
  /// Returns the highest assigned id, which is the value of the id counter in the store. Returns 0
  /// if no id is assigned.
  Result<int64_t> HighestId(UidKind kind);
  void DropCaches();
  /// Returns whether NamesOptions::may_assign is set, so that new names may be rejected.
  [[nodiscard]] bool filters() const;

  struct CacheStats {
    uint64_t hits = 0, misses = 0, size = 0, random_collisions = 0, rejected = 0;
  };
  [[nodiscard]] CacheStats Stats(UidKind kind) const;

 private:
  class Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace hg::uid
