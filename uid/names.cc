#include "uid/names.h"

#include <array>
#include <atomic>
#include <condition_variable>
#include <map>
#include <mutex>
#include <set>

#include "storage/base/invariant.h"
#include "storage/base/random_bits.h"
#include "storage/base/survive.h"
#include "storage/model/name_text.h"
#include "uid/name_cache.h"

namespace hg::uid {
namespace {

// Numbers of attempts. OpenTSDB's constants are 3 and 10, but it decrements them before the first
// try.
constexpr int kSequentialTries = 2;
constexpr int kRandomTries = 9;

const Bytes kForwardFamily = "id";
const Bytes kReverseFamily = "name";
const Bytes kCounterRow(1, '\0');

// An empty prefix suggests names from '!' up to, but not including, '~'.
const Bytes kSuggestFirst = "!";
const Bytes kSuggestEnd = "~";
constexpr size_t kSuggestBatchMax = 4096;  // maximum number of rows
constexpr size_t kSuggestBatchBytes = size_t{1} << 20;

// Returns whether other names may be stored under the same bytes: characters beyond Latin-1 are
// stored as "?".
bool HasAliases(ByteView name) { return ToLatin1(name).find('?') != Bytes::npos; }

Bytes MetaQualifier(UidKind kind) {
  return kind == UidKind::kMetric ? "metric_meta" : std::string(UidKindName(kind)) + "_meta";
}

// Returns the bytes as Java's Arrays.toString prints signed bytes.
std::string SignedBytes(ByteView id) {
  std::string out = "[";
  for (size_t i = 0; i < id.size(); ++i) {
    if (i > 0) out += ", ";
    out += std::to_string(static_cast<int>(static_cast<signed char>(id[i])));
  }
  return out + "]";
}

// An assignment in progress. All other callers for the same name wait for it.
struct Pending {
  std::mutex mutex;
  std::condition_variable done_changed;
  bool done = false;            // guarded by mutex
  Result<Bytes> id = Status();  // guarded by mutex until `done` is set, then constant
};

// Adds the memory of a name to `charged` while the name gets its id.
class InFlight {
 public:
  InFlight(std::atomic<uint64_t>* charged, uint64_t bytes) : charged_(charged), bytes_(bytes) {
    if (charged_ != nullptr) charged_->fetch_add(bytes_, std::memory_order_relaxed);
  }
  ~InFlight() {
    if (charged_ != nullptr) charged_->fetch_sub(bytes_, std::memory_order_relaxed);
  }
  InFlight(const InFlight&) = delete;
  InFlight& operator=(const InFlight&) = delete;

 private:
  std::atomic<uint64_t>* const charged_;
  const uint64_t bytes_;
};

// The names of one kind.
class Kind {
 public:
  Kind(Store& store, const NamesOptions& options, UidKind kind)
      : store_(store),
        options_(options),
        kind_(kind),
        qualifier_(UidKindName(kind)),
        width_(UidWidth(options.layout, kind)),
        random_(options.random_metrics && kind == UidKind::kMetric),
        cache_(options.cache) {}

  Result<Bytes> Find(ByteView name, RequestContext* context = nullptr);
  Result<std::optional<Bytes>> FindOrAllow(ByteView name);
  // Returns the id of the name, and assigns one if there is none. `allowed` is true if FindOrAllow
  // has allowed the name.
  Result<Bytes> FindOrAssign(ByteView name, bool allowed, bool* assigned);
  Result<std::string> NameOf(ByteView id, RequestContext* context);
  // Implements Names::Suggest if `suggests` is true, else Names::ForEach. They differ if the cache
  // has another name for an id than the store.
  Status ForEach(ByteView prefix, size_t batch_rows, RequestContext* context,
                 const Names::NameVisitor& visit, bool suggests);
  Status Rename(ByteView old_name, ByteView new_name);
  Result<Bytes> FindOwn(ByteView name);
  Status Delete(ByteView name);
  Result<int64_t> HighestId();

  // Returns the id of this kind in a row of names, or nullptr.
  [[nodiscard]] const Bytes* IdIn(const Row& row) const;
  // Caches a row that a scan of all kinds has read.
  void Remember(const Row& row);
  void DropCache() { cache_.Clear(); }
  void CountRejected() { rejected_.fetch_add(1, std::memory_order_relaxed); }
  [[nodiscard]] Names::CacheStats Stats() const;

 private:
  // Reads a name from the store. Returns NotFound if the name has no id or is empty.
  Result<NameCache::Entry> Load(ByteView name, RequestContext* context = nullptr);
  Result<Bytes> LoadOrAssign(ByteView name, bool* assigned);
  // Returns the error if a new name may not get an id. Does not check whether there is memory for
  // the name.
  Status CheckNew(ByteView name);
  // These functions write through `store`: store_, or its handle for later commits.
  Result<Bytes> Assign(ByteView name, Store& store, bool* assigned);
  // Makes one attempt. Returns nullopt if the id was taken and the caller should try again.
  Result<std::optional<Bytes>> TryAssign(ByteView name, Store& store, bool* assigned);
  Result<Bytes> NextId(Store& store);
  Result<bool> PutIfAbsent(Store& store, ByteView row, const Bytes& family, ByteView value);
  [[nodiscard]] Status IdsUsedUp() const;
  Result<Bytes> RequireOwnRawKey(ByteView name, const NameCache::Entry& entry) const;
  [[nodiscard]] Status CheckLength(ByteView name) const;
  Status RenameReserved(ByteView old_name, ByteView new_name);

  // Returns the value of this kind's column in a row, or nullopt.
  Result<std::optional<Bytes>> ReadColumn(ByteView row, const Bytes& family,
                                          RequestContext* context = nullptr);

  [[nodiscard]] Status NoSuchName(ByteView name) const {
    return Status::NotFound("No such name for '" + qualifier_ + "': '" + std::string(name) + "'");
  }
  [[nodiscard]] Status NameTaken(ByteView old_name, ByteView new_name, ByteView id) const {
    return Status::Conflict("When trying rename(\"" + std::string(old_name) + "\", \"" +
                            std::string(new_name) + "\") on " + Describe() +
                            ": new name already assigned ID=" + SignedBytes(id));
  }
  // Returns the name of this kind in OpenTSDB's messages.
  [[nodiscard]] std::string Describe() const {
    return "UniqueId(" + options_.table + ", " + qualifier_ + ", " + std::to_string(width_) + ")";
  }

  Store& store_;
  const NamesOptions& options_;
  const UidKind kind_;
  const Bytes qualifier_;
  const int width_;
  const bool random_;

  NameCache cache_;
  std::atomic<uint64_t> random_collisions_{0};
  std::atomic<uint64_t> rejected_{0};

  std::mutex pending_mutex_;
  // Guarded by pending_mutex_.
  std::map<std::string, std::shared_ptr<Pending>, std::less<>> pending_;
  std::set<Bytes> renaming_;  // stored bytes of names
};

Result<std::optional<Bytes>> Kind::ReadColumn(ByteView row, const Bytes& family,
                                              RequestContext* context) {
  CellSelection wanted;
  wanted.family = family;
  wanted.qualifiers = {qualifier_};
  wanted.context = context;
  ASSIGN_OR_RETURN(Row found, store_.GetCells(options_.table, row, wanted));
  if (found.cells.empty()) return std::optional<Bytes>();
  return std::optional<Bytes>(std::move(found.cells[0].value));
}

Result<bool> Kind::PutIfAbsent(Store& store, ByteView row, const Bytes& family, ByteView value) {
  return store.CompareAndMutate(family, qualifier_, std::nullopt, options_.table,
                                {Bytes(row), {PutCell(family, qualifier_, Bytes(value))}});
}

Result<NameCache::Entry> Kind::Load(ByteView name, RequestContext* context) {
  if (name.empty()) return NoSuchName(name);
  const uint64_t changes = cache_.changes();
  ASSIGN_OR_RETURN(const std::optional<Bytes> id,
                   ReadColumn(ToLatin1(name), kForwardFamily, context));
  if (!id) return NoSuchName(name);
  if (id->size() != static_cast<size_t>(width_)) {
    return Status::Corruption("Found id.length = " + std::to_string(id->size()) +
                              " which is != " + std::to_string(width_) + " required for '" +
                              qualifier_ + "' (name '" + std::string(name) + "')");
  }
  return cache_.Add(name, *id, changes);
}

Result<Bytes> Kind::Find(ByteView name, RequestContext* context) {
  NameCache::Entry entry;
  if (cache_.FindId(name, &entry)) return std::move(entry.id);
  ASSIGN_OR_RETURN(entry, Load(name, context));
  return std::move(entry.id);
}

Result<Bytes> Kind::RequireOwnRawKey(ByteView name, const NameCache::Entry& entry) const {
  if (!entry.shares_id) return entry.id;
  return Status::Conflict("name '" + std::string(name) + "' for '" + qualifier_ +
                          "' is stored under the same bytes as another name, whose id is " +
                          SignedBytes(entry.id));
}

Status Kind::CheckLength(ByteView name) const {
  if (name.empty()) return Status::InvalidArgument("empty name for '" + qualifier_ + "'");
  if (name.size() <= kNameLengthMax) return {};
  const size_t length = ToLatin1(name).size();
  if (length <= kNameLengthMax) return {};
  return Status::InvalidArgument("a name for '" + qualifier_ + "' has " + std::to_string(length) +
                                 " characters (at most " + std::to_string(kNameLengthMax) +
                                 " can be stored)");
}

Result<std::optional<Bytes>> Kind::FindOrAllow(ByteView name) {
  NameCache::Entry entry;
  if (!cache_.FindId(name, &entry)) {
    RETURN_IF_ERROR(CheckLength(name));
    Result<NameCache::Entry> loaded = Load(name);
    if (loaded.status().code() == StatusCode::kNotFound) {
      RETURN_IF_ERROR(CheckNew(name));
      return std::optional<Bytes>();
    }
    ASSIGN_OR_RETURN(entry, std::move(loaded));
  }
  ASSIGN_OR_RETURN(Bytes id, RequireOwnRawKey(name, entry));
  return std::optional<Bytes>(std::move(id));
}

Result<Bytes> Kind::FindOrAssign(ByteView name, bool allowed, bool* assigned) {
  NameCache::Entry entry;
  if (cache_.FindId(name, &entry)) return RequireOwnRawKey(name, entry);
  RETURN_IF_ERROR(CheckLength(name));

  auto pending = std::make_shared<Pending>();
  bool first = false;
  {
    std::lock_guard lock(pending_mutex_);
    const auto [at, is_new] = pending_.try_emplace(std::string(name), pending);
    first = is_new;
    pending = at->second;
  }
  if (!first) {
    std::unique_lock lock(pending->mutex);
    pending->done_changed.wait(lock, [&] { return pending->done; });
    return pending->id;
  }

  Result<Bytes> id = Survive([&]() -> Result<Bytes> {
    if (!allowed || !options_.cache.ids) return LoadOrAssign(name, assigned);
    // Another thread may have assigned the id after FindOrAllow.
    if (cache_.FindId(name, &entry)) return RequireOwnRawKey(name, entry);
    return Assign(name, store_.CommittedLater(), assigned);
  });
  // Passes the result to the waiting threads. This must not allocate memory.
  {
    std::lock_guard lock(pending_mutex_);
    pending_.erase(pending_.find(name));
  }
  {
    std::lock_guard lock(pending->mutex);
    pending->id = std::move(id);
    pending->done = true;
  }
  pending->done_changed.notify_all();
  return pending->id;
}

Result<Bytes> Kind::LoadOrAssign(ByteView name, bool* assigned) {
  const Result<NameCache::Entry> entry = Load(name);
  if (entry.ok()) return RequireOwnRawKey(name, *entry);
  if (entry.status().code() != StatusCode::kNotFound) return entry.status();
  RETURN_IF_ERROR(CheckNew(name));
  if (options_.may_grow) RETURN_IF_ERROR(options_.may_grow(Names::MemoryOf(name.size())));
  return Assign(name, store_, assigned);
}

Status Kind::CheckNew(ByteView name) {
  if (!options_.may_assign || options_.may_assign(kind_, name)) return {};
  CountRejected();
  return Status::InvalidArgument("Failed to assign an id to '" + std::string(name) + "' of '" +
                                 qualifier_ + "': blocked by the filter of new names");
}

Result<Bytes> Kind::Assign(ByteView name, Store& store, bool* assigned) {
  const InFlight in_flight(options_.cache.charged.get(), Names::MemoryOf(name.size()));
  Status failure = Status::Conflict("no free id found for '" + qualifier_ + "': '" +
                                    std::string(name) + "'; each tried id already has a name");
  for (int tries = random_ ? kRandomTries : kSequentialTries; tries > 0; --tries) {
    const Result<std::optional<Bytes>> id = TryAssign(name, store, assigned);
    if (!id.ok()) {
      // Conflicts and exhausted ids are permanent. Only store failures are worth another attempt.
      if (id.status().code() == StatusCode::kInvalidArgument ||
          id.status().code() == StatusCode::kConflict) {
        return id.status();
      }
      failure = id.status();
      continue;
    }
    if (*id) return **id;
  }
  return failure;
}

Result<std::optional<Bytes>> Kind::TryAssign(ByteView name, Store& store, bool* assigned) {
  const Bytes stored = ToLatin1(name);
  ASSIGN_OR_RETURN(const Bytes id, NextId(store));
  // The reverse mapping is written first. Alone it is harmless, whereas a forward mapping alone
  // would produce row keys that nobody can resolve.
  ASSIGN_OR_RETURN(const bool reverse_put, PutIfAbsent(store, id, kReverseFamily, stored));
  if (!reverse_put) {
    if (random_) random_collisions_.fetch_add(1, std::memory_order_relaxed);
    return std::optional<Bytes>();
  }
  // From the forward mapping on, other threads may rename or delete the name.
  const uint64_t changes = cache_.changes();
  ASSIGN_OR_RETURN(const bool forward_put, PutIfAbsent(store, stored, kForwardFamily, id));
  if (!forward_put) {
    // Another writer has assigned an id to the name first, so the id of this attempt stays unused.
    if (random_) random_collisions_.fetch_add(1, std::memory_order_relaxed);
    const Result<NameCache::Entry> winner = Load(name);
    if (!winner.ok()) {
      if (winner.status().code() == StatusCode::kNotFound) return std::optional<Bytes>();
      return winner.status();
    }
    ASSIGN_OR_RETURN(Bytes winning_id, RequireOwnRawKey(name, *winner));
    return std::optional<Bytes>(std::move(winning_id));
  }
  if (assigned != nullptr) *assigned = true;
  if (options_.assigned) options_.assigned(kind_, id, store);
  return std::optional<Bytes>(cache_.Add(name, id, changes).id);
}

Result<Bytes> Kind::NextId(Store& store) {
  uint64_t number;
  if (random_) {
    const uint64_t bits = options_.random_bits ? options_.random_bits() : RandomBits();
    number = width_ >= 8 ? bits >> 1 : bits & ((uint64_t{1} << (8 * width_)) - 1);
    if (number == 0) number = 1;
  } else {
    ASSIGN_OR_RETURN(const int64_t next,
                     store.Increment(options_.table, kCounterRow, kForwardFamily, qualifier_, 1));
    if (next <= 0) {
      return Status::InvalidArgument("got a negative id from the counter of '" + qualifier_ +
                                     "': " + std::to_string(next));
    }
    number = static_cast<uint64_t>(next);
  }
  if (number > static_cast<uint64_t>(LargestId(width_))) return IdsUsedUp();
  Bytes id;
  AppendBig(&id, number, width_);
  return id;
}

Status Kind::IdsUsedUp() const {
  Status refusal = Status::InvalidArgument("All unique ids for '" + qualifier_ + "' on " +
                                           std::to_string(width_) + " bytes are already assigned");
  if (options_.ids_used_up) options_.ids_used_up(kind_, refusal);
  return refusal;
}

Result<std::string> Kind::NameOf(ByteView id, RequestContext* context) {
  std::string name;
  if (cache_.FindName(id, &name)) return name;
  if (id.size() != static_cast<size_t>(width_)) {
    return Status::InvalidArgument("Wrong id.length = " + std::to_string(id.size()) +
                                   " which is != " + std::to_string(width_) + " required for '" +
                                   qualifier_ + "'");
  }
  const uint64_t changes = cache_.changes();
  ASSIGN_OR_RETURN(const std::optional<Bytes> stored, ReadColumn(id, kReverseFamily, context));
  if (!stored) {
    return Status::NotFound("No such unique ID for '" + qualifier_ + "': " + SignedBytes(id));
  }
  name = FromLatin1(*stored);
  cache_.Add(name, id, changes);
  return name;
}

Status Kind::ForEach(ByteView prefix, size_t batch_rows, RequestContext* context,
                     const Names::NameVisitor& visit, bool suggests) {
  ScanSpec spec;
  spec.table = options_.table;
  spec.start = prefix.empty() ? kSuggestFirst : ToLatin1(prefix);
  spec.stop = prefix.empty() ? kSuggestEnd : AfterPrefix(spec.start);
  spec.family = kForwardFamily;
  spec.qualifiers = {qualifier_};
  spec.batch_rows = std::min(batch_rows, kSuggestBatchMax);
  spec.batch_bytes = kSuggestBatchBytes;
  spec.context = context;
  ASSIGN_OR_RETURN(const std::unique_ptr<ScanCursor> cursor, store_.Scan(spec));
  std::vector<Row> rows;
  while (true) {
    RETURN_IF_ERROR(cursor->Next(&rows));
    if (rows.empty()) return {};
    for (const Row& row : rows) {
      if (row.empty()) continue;
      std::string name = FromLatin1(row.key);
      std::string known;
      if (cache_.FindName(row.cells[0].value, &known) && known != name) {
        // A name with characters beyond Latin-1 is stored with "?" in their place. Another daemon
        // may have renamed it, too.
        if (!suggests) {
          name = std::move(known);
        } else {
          return Status::Corruption("Unexpected exception caught by " + Describe() + ".suggest(" +
                                    std::string(prefix) + "): id " +
                                    SignedBytes(row.cells[0].value) + " is known as '" + known +
                                    "', not '" + name + "'");
        }
      }
      ASSIGN_OR_RETURN(const bool more, visit(std::move(name)));
      if (!more) return {};
    }
  }
}

Status Kind::Rename(ByteView old_name, ByteView new_name) {
  RETURN_IF_ERROR(CheckLength(new_name));
  const Bytes old_bytes = ToLatin1(old_name);
  const Bytes new_bytes = ToLatin1(new_name);
  std::set<Bytes> both{old_bytes, new_bytes};
  {
    std::lock_guard lock(pending_mutex_);
    if (renaming_.contains(old_bytes) || renaming_.contains(new_bytes)) {
      return Status::Conflict("Ongoing rename of \"" + std::string(old_name) + "\" or \"" +
                              std::string(new_name) + "\"");
    }
    renaming_.merge(both);
  }
  Status status = Survive([&] { return RenameReserved(old_name, new_name); });
  std::lock_guard lock(pending_mutex_);
  renaming_.erase(old_bytes);
  renaming_.erase(new_bytes);
  return status;
}

// Returns the id of a name. Returns Conflict if the id belongs to another name that is stored under
// the same bytes. Without the other name in the cache, the conflict is not noticed.
Result<Bytes> Kind::FindOwn(ByteView name) {
  NameCache::Entry entry;
  if (!cache_.FindId(name, &entry)) {
    ASSIGN_OR_RETURN(entry, Load(name, nullptr));
  }
  return RequireOwnRawKey(name, entry);
}

Status Kind::RenameReserved(ByteView old_name, ByteView new_name) {
  ASSIGN_OR_RETURN(const Bytes id, FindOwn(old_name));
  const Result<Bytes> taken = Find(new_name);
  if (taken.ok()) {
    return NameTaken(old_name, new_name, *taken);
  }
  if (taken.status().code() != StatusCode::kNotFound) return taken.status();

  const Bytes new_bytes = ToLatin1(new_name);
  // The cells are written one after the other, so that a name never leads to an id whose reverse
  // mapping does not have this name.
  RETURN_IF_ERROR(
      store_.Mutate(options_.table, {{id, {PutCell(kReverseFamily, qualifier_, new_bytes)}}}));
  ASSIGN_OR_RETURN(const bool forward_put, PutIfAbsent(store_, new_bytes, kForwardFamily, id));
  if (!forward_put) {
    // The name got an id meanwhile and keeps it. So the renamed id gets its old name back.
    const RowMutation back = {id, {PutCell(kReverseFamily, qualifier_, ToLatin1(old_name))}};
    RETURN_IF_ERROR(
        store_.CompareAndMutate(kReverseFamily, qualifier_, new_bytes, options_.table, back)
            .status());
    cache_.Remove(old_name, id, false);  // a reader may have cached the new name
    ASSIGN_OR_RETURN(const Bytes owner, Find(new_name));
    return NameTaken(old_name, new_name, owner);
  }
  Status status = store_.Mutate(options_.table,
                                {{ToLatin1(old_name), {DeleteColumn(kForwardFamily, qualifier_)}}});
  // Called after the last change in the store, so that data read before this change is not cached.
  cache_.Rename(old_name, new_name, id, HasAliases(old_name));
  return status;
}

Status Kind::Delete(ByteView name) {
  ASSIGN_OR_RETURN(const Bytes id, FindOwn(name));
  Status status =
      store_.Mutate(options_.table, {{ToLatin1(name), {DeleteColumn(kForwardFamily, qualifier_)}}});
  if (status.ok()) {
    status =
        store_.Mutate(options_.table, {{id,
                                        {DeleteColumn(kReverseFamily, qualifier_),
                                         DeleteColumn(kReverseFamily, MetaQualifier(kind_))}}});
  }
  cache_.Remove(name, id, HasAliases(name));
  return status;
}

const Bytes* Kind::IdIn(const Row& row) const {
  for (const Cell& cell : row.cells) {
    if (cell.qualifier == qualifier_ && cell.value.size() == static_cast<size_t>(width_))
      return &cell.value;
  }
  return nullptr;
}

void Kind::Remember(const Row& row) {
  if (const Bytes* const id = IdIn(row)) cache_.Add(FromLatin1(row.key), *id, cache_.changes());
}

Result<int64_t> Kind::HighestId() {
  ASSIGN_OR_RETURN(const std::optional<Bytes> counter, ReadColumn(kCounterRow, kForwardFamily));
  if (!counter) return int64_t{0};
  if (counter->size() != 8) {
    return Status::Corruption("counter of '" + qualifier_ +
                              "' does not have 8 bytes: " + ToHexUpper(*counter));
  }
  return static_cast<int64_t>(ReadBig64(counter->data()));
}

Names::CacheStats Kind::Stats() const {
  Names::CacheStats stats;
  const NameCache::Counts cached = cache_.Count();
  stats.hits = cached.hits;
  stats.misses = cached.misses;
  stats.size = cached.size;
  stats.random_collisions = random_collisions_.load(std::memory_order_relaxed);
  stats.rejected = rejected_.load(std::memory_order_relaxed);
  return stats;
}

}  // namespace

class Names::Impl {
 public:
  Impl(Store& store, NamesOptions options)
      : store_(store),
        options_(std::move(options)),
        kinds_{{{store, options_, UidKind::kMetric},
                {store, options_, UidKind::kTagk},
                {store, options_, UidKind::kTagv}}} {
    INVARIANT(!options_.random_metrics || options_.layout.metric_width <= 7);
  }

  Status Preload(size_t rows_max) {
    if (rows_max == 0) return {};
    return ForEachRow(true, [&](const Row& row) {
      for (Kind& kind : kinds_) kind.Remember(row);
      return --rows_max > 0;
    });
  }

  Status ForEachId(const IdVisitor& visit) {
    return ForEachRow(false, [&](const Row& row) {
      const std::string name = FromLatin1(row.key);
      for (size_t k = 0; k < kinds_.size(); ++k) {
        const Bytes* const id = kinds_[k].IdIn(row);
        if (id != nullptr && !visit(kUidKinds[k], name, *id)) return false;
      }
      return true;
    });
  }

  [[nodiscard]] Status AskForMemory(uint64_t bytes) const {
    return options_.may_grow ? options_.may_grow(bytes) : Status();
  }
  [[nodiscard]] bool filters() const { return static_cast<bool>(options_.may_assign); }
  Kind& of(UidKind kind) { return kinds_[static_cast<size_t>(kind)]; }

 private:
  // Visits the rows of names that an empty prefix suggests, until `visit` returns false.
  template <typename Visit>
  Status ForEachRow(bool fill_cache, const Visit& visit) {
    ScanSpec spec;
    spec.fill_cache = fill_cache;
    spec.table = options_.table;
    spec.start = kSuggestFirst;
    spec.stop = kSuggestEnd;
    spec.family = kForwardFamily;
    ASSIGN_OR_RETURN(const std::unique_ptr<ScanCursor> cursor, store_.Scan(spec));
    for (std::vector<Row> rows;;) {
      RETURN_IF_ERROR(cursor->Next(&rows));
      if (rows.empty()) return {};
      for (const Row& row : rows)
        if (!visit(row)) return {};
    }
  }

  Store& store_;
  const NamesOptions options_;
  std::array<Kind, 3> kinds_;
};

Names::Names(Store& store, NamesOptions options)
    : impl_(std::make_unique<Impl>(store, std::move(options))) {}
Names::~Names() = default;

Result<Bytes> Names::Find(UidKind kind, ByteView name, RequestContext* context) {
  return impl_->of(kind).Find(name, context);
}
Result<Bytes> Names::FindOrAssign(UidKind kind, ByteView name, bool* assigned) {
  return impl_->of(kind).FindOrAssign(name, false, assigned);
}
Result<std::optional<Bytes>> Names::FindOrAllow(UidKind kind, ByteView name) {
  return impl_->of(kind).FindOrAllow(name);
}
Result<Bytes> Names::AssignAllowed(UidKind kind, ByteView name) {
  return impl_->of(kind).FindOrAssign(name, true, nullptr);
}
Status Names::AskForMemory(uint64_t bytes) const { return impl_->AskForMemory(bytes); }
uint64_t Names::MemoryOf(size_t name_bytes) {
  // Memory of the rows of both mappings in the memtable, and of the cache entries.
  constexpr uint64_t kRowBytes = 192;
  return 2 * (kRowBytes + name_bytes) + NameCache::BytesOf(name_bytes);
}
Result<std::string> Names::NameOf(UidKind kind, ByteView id, RequestContext* context) {
  return impl_->of(kind).NameOf(id, context);
}
Result<std::vector<std::string>> Names::Suggest(UidKind kind, ByteView prefix, size_t max,
                                                MemoryTally* tally) {
  std::vector<std::string> names;
  if (max == 0) return names;
  const auto collect = [&](std::string name) -> Result<bool> {
    // While the list grows to twice its size, its old memory is still in use.
    if (tally != nullptr) {
      RETURN_IF_ERROR(
          tally->Add(static_cast<int64_t>(3 * sizeof(std::string) + HeapBytesOf(name.size()))));
    }
    names.push_back(std::move(name));
    return names.size() < max;
  };
  RequestContext* context = tally != nullptr ? tally->context() : nullptr;
  RETURN_IF_ERROR(impl_->of(kind).ForEach(prefix, max, context, collect, true));
  return names;
}
Status Names::ForEach(UidKind kind, ByteView prefix, RequestContext* context,
                      const NameVisitor& visit) {
  return impl_->of(kind).ForEach(prefix, kSuggestBatchMax, context, visit, false);
}
Status Names::Rename(UidKind kind, ByteView old_name, ByteView new_name) {
  return impl_->of(kind).Rename(old_name, new_name);
}
Status Names::Delete(UidKind kind, ByteView name) { return impl_->of(kind).Delete(name); }
Result<int64_t> Names::HighestId(UidKind kind) { return impl_->of(kind).HighestId(); }
Status Names::ForEachId(const IdVisitor& visit) { return impl_->ForEachId(visit); }
Status Names::Preload(size_t rows_max) { return impl_->Preload(rows_max); }
void Names::DropCaches() {
  for (UidKind kind : kUidKinds) impl_->of(kind).DropCache();
}
bool Names::filters() const { return impl_->filters(); }
Names::CacheStats Names::Stats(UidKind kind) const { return impl_->of(kind).Stats(); }

}  // namespace hg::uid
