#include <algorithm>
#include <future>
#include <map>
#include <optional>
#include <set>

#include "storage/base/crc32c.h"
#include "storage/base/invariant.h"
#include "storage/base/scratch.h"
#include "storage/codec/append_cell.h"
#include "storage/codec/cell_class.h"
#include "storage/codec/row_key.h"
#include "storage/engine/memstore.h"

namespace hg::engine {
namespace {

// Returns the combined effect of a row's changes, in order, on the points family.
points::RowPart RowPartOfChanges(std::span<const CellChange> changes, ByteView family) {
  points::RowPart row_part;
  std::set<ByteView> seen;
  points::PartPoint point;
  for (auto it = changes.rbegin(); it != changes.rend(); ++it) {
    if (it->family != family) continue;
    if (it->kind == CellChange::Kind::kDeleteFamily) {
      row_part.cleared = true;
      break;
    }
    const bool is_point = it->kind == CellChange::Kind::kPut &&
                          points::CanonicalPoint(it->qualifier, it->value, &point);
    if (is_point) row_part.form = points::RowForm::kSingle;
    if (!seen.insert(it->qualifier).second) continue;
    if (is_point) {
      row_part.points.push_back(point);
    } else if (it->kind == CellChange::Kind::kPut) {
      row_part.raw.push_back({it->qualifier, it->value, it->timestamp_ms.value_or(0), 0, false});
    } else {
      row_part.gone.push_back(it->qualifier);
    }
  }
  std::reverse(row_part.points.begin(), row_part.points.end());
  points::Normalize(&row_part);
  return row_part;
}

bool WantsNewestVersion(const CellChange& change) {
  return change.kind == CellChange::Kind::kDeleteVersion && !change.timestamp_ms;
}

}  // namespace

std::vector<Bytes> DeletedColumns(const std::vector<CellChange>& changes) {
  std::vector<Bytes> columns;
  for (const CellChange& change : changes) {
    if (change.kind != CellChange::Kind::kPut) columns.push_back(change.qualifier);
  }
  return columns;
}

// The rows of points that a change of this key may affect: all rows of the metric and base time in
// the key. Irregular keys count, too, because a scan fails if it finds a key that it cannot decode.
// A key that is too short is padded with zeros.
struct Memstore::RowsOfKey {
  RowsOfKey(const KeyLayout& layout, const Table& table, ByteView key) {
    if (table.points_family < 0) return;
    const auto salt = static_cast<size_t>(layout.salt_width);
    const auto width = static_cast<size_t>(layout.metric_width);
    bytes.assign(key.substr(0, salt + width + sizeof(base)));
    bytes.resize(salt + width + sizeof(base));
    metric = ByteView(bytes).substr(salt, width);
    base = std::min(ReadBig32(bytes.data() + salt + width), UINT32_MAX - 1);
  }
  RowsOfKey(const RowsOfKey&) = delete;
  RowsOfKey& operator=(const RowsOfKey&) = delete;

  ByteView metric;
  uint32_t base = UINT32_MAX;  // UINT32_MAX: no rows
  Bytes bytes;
};

void Memstore::RaiseHorizon(uint32_t base) {
  if (base <= horizon()) return;
  MutexLock lock(write_);
  if (base > horizon()) horizon_.store(base, std::memory_order_release);
}

template <typename Tell>
bool Memstore::LockTold(uint32_t oldest, const Tell& tell, ToldRows* told, Status* refused) {
  for (;;) {
    write_.Lock();
    const uint32_t below = horizon();
    if (oldest >= below || told->below >= below) [[likely]] {
      if (!env_.closed()) [[likely]]
        return true;
      write_.Unlock();
      *refused = env_.CheckOpen();
      return false;
    }
    write_.Unlock();
    *refused = tell(below);
    if (!refused->ok()) return false;
    told->below = below;
  }
}

bool Memstore::LockTold(const RowsOfKey& rows, ToldRows* told, Status* refused) {
  const auto tell = [&](uint32_t) { return told->Tell(rows.metric, rows.base); };
  return LockTold(rows.base, tell, told, refused);
}

Status Memstore::CheckWritable() {
  RETURN_IF_ERROR(env_.CheckOpen());
  if (MemoryBytes() > env_.memory_max) {
    AskForFlush(FlushRequest::kIfNeeded);
    const uint64_t unflushed = UnflushedBytes(), all = std::max(MemoryBytes(), unflushed);
    const Status refusal = Status::Busy(
        "the memory for writes is over its budget of " + std::to_string(env_.memory_max) +
        " bytes: unflushed data takes " + Megabytes(unflushed) +
        ", and flushed data that queries still read takes " + Megabytes(all - unflushed));
    env_.observers.AfterMemoryRefusal(refusal);
    return refusal;
  }
  return log_->Failure();
}

void Memstore::AskForFlush(FlushRequest request) {
  FlushRequest before = flush_request_.load(std::memory_order_relaxed);
  while (before < request &&
         !flush_request_.compare_exchange_weak(before, request, std::memory_order_relaxed)) {
  }
  if (before != FlushRequest::kNone) return;  // the flush thread is awake and will see the request
  wake_flush_();
}

// Each change calls this function at its end, while it holds the write lock.
void Memstore::Account() {
  const size_t bytes = active_->bytes();
  active_bytes_.store(bytes, std::memory_order_relaxed);
  if (bytes > FlushBytes() || active_->rows.has_long_row()) AskForFlush(FlushRequest::kIfNeeded);
}

bool Memstore::AppendMayWait(std::span<const PointEntry> batch) const {
  const uint32_t below = horizon(), mapped = registry_.mapped_end();
  return mapped > 0 && std::any_of(batch.begin(), batch.end(), [&](const PointEntry& entry) {
           return entry.base < below && entry.series < mapped;
         });
}

Result<LogPosition> Memstore::Append(std::span<const PointEntry> batch) {
  if (env_.observers.guards_writes()) [[unlikely]]
    RETURN_IF_ERROR(env_.observers.BeforePoints(batch));
  RETURN_IF_ERROR(CheckWritable());
  const uint32_t known = registry_.size();
  uint32_t highest = 0, oldest = UINT32_MAX;
  for (const PointEntry& entry : batch) {
    highest = std::max(highest, entry.series);
    oldest = std::min(oldest, entry.base);
  }
  if (!batch.empty() && highest >= known) {
    return Status::InvalidArgument("series number " + std::to_string(highest) +
                                   " was never assigned");
  }
  const bool logged = env_.options.durability != Durability::kNone;

  // Everything that can fail or takes time happens before the lock is taken.
  //
  // Telnet lines come in small batches. Each thread keeps these buffers, because otherwise new
  // buffers of kEntryBytesMax per point would be allocated and cleared for each batch. Then batches
  // of 50 points would take 4 % more time (micro_bench, Append/50).
  thread_local std::vector<char> kept_bodies;
  thread_local std::vector<std::pair<ByteView, uint32_t>> kept_records;
  const size_t slices = (batch.size() + kRecordPointsMax - 1) / kRecordPointsMax;
  const size_t room = batch.size() * kEntryBytesMax + slices * 2 + 16;
  Scratch bodies(&kept_bodies, room);
  Scratch records(&kept_records, slices);
  char* out = bodies.data();
  for (size_t at = 0; at < batch.size(); at += kRecordPointsMax) {
    const auto slice = batch.subspan(at, std::min(kRecordPointsMax, batch.size() - at));
    const size_t size = EncodePoints(slice, out);
    if (size == 0) return Status::InvalidArgument("a qualifier is not that of a single point");
    const ByteView body(out, size);
    records[at / kRecordPointsMax] = {body, logged ? crc32c::Value(body) : 0};
    out += size;
    INVARIANT(out <= bodies.data() + room);
  }

  std::shared_ptr<const TsuidTable> tsuids;  // outlives `told`, which keeps views of its metrics
  ToldRows told(listeners_);
  const auto tell = [&](uint32_t below) -> Status {
    if (tsuids == nullptr) tsuids = registry_.tsuids();
    const PointEntry* last = nullptr;
    for (const PointEntry& entry : batch) {
      if (entry.base >= below) continue;
      const bool repeated =
          last != nullptr && last->series == entry.series && last->base == entry.base;
      last = &entry;
      if (repeated) continue;
      const ByteView tsuid = tsuids->FindTsuid(entry.series);
      // An empty TSUID is that of a forgotten series, which CheckNumbers refuses later.
      if (tsuid.empty()) continue;
      const ByteView metric = tsuid.substr(0, static_cast<size_t>(layout().metric_width));
      RETURN_IF_ERROR(told.Tell(metric, entry.base));
    }
    return {};
  };
  LogPosition position = logged && batch.empty() ? log_->End() : 0;
  for (size_t i = 0; i < slices; ++i) {
    const size_t at = i * kRecordPointsMax;
    const auto slice = batch.subspan(at, std::min(kRecordPointsMax, batch.size() - at));
    Status refused;
    if (!LockTold(oldest, tell, &told, &refused)) return refused;
    AdoptedLock lock(write_);
    if (registry_.forgotten_count() > 0) RETURN_IF_ERROR(CheckNumbers(slice));
    const uint64_t sequence = ++sequence_;
    INVARIANT(sequence > active_->after_sequence);
    if (logged) {
      position = log_->Add(static_cast<uint8_t>(LogKind::kPoints), sequence, records[i].first,
                           records[i].second);
    }
    ApplyPoints(slice, sequence);
    Account();
  }
  return position;
}

Status Memstore::RegisterKey(const Table& table, ByteView key) {
  Bytes tsuid;
  uint32_t base;
  if (table.points_family >= 0 && IsRegularKey(layout(), key, &tsuid, &base)) {
    return Register(tsuid).status();
  }
  WarmUp(table, key);
  return {};
}

void Memstore::WarmUp(const Table& table, ByteView key) const {
  if (table.FamilyIndex(points::kFamily) < 0 || registry_.mapped_end() == 0) return;
  if (const auto series = codec::TsuidOf(layout(), key); series.ok()) (void)registry_.Find(*series);
}

// Requires the write lock and a registered series.
LogPosition Memstore::WriteLocked(const Table& table, ByteView key,
                                  const std::vector<CellChange>& changes, bool operands) {
  RowRecord record;
  record.table = table.id;
  record.key = key;
  int64_t stamp = stamp_ms_locked(key);
  for (const CellChange& change : changes) {
    StampedChange stamped{
        change.kind, static_cast<uint8_t>(table.FamilyIndex(change.family)), change.qualifier, {}};
    stamped.timestamp_ms = change.timestamp_ms.value_or(stamp);
    if (change.kind == CellChange::Kind::kPut) {
      stamped.value = change.value;
      stamped.operand = operands;
      // If the sum overflows, the cell never expires.
      int64_t expires_ms;
      if (change.ttl_ms &&
          !__builtin_add_overflow(stamped.timestamp_ms, *change.ttl_ms, &expires_ms)) {
        stamped.expires_ms = expires_ms;
      }
    } else if (!change.timestamp_ms) {
      ++stamp;  // a put after a delete must be visible
    }
    record.changes.push_back(std::move(stamped));
  }
  if (table.needs_strict_times()) ++stamp;  // so that the next write creates another version
  stamp_floors_ms_[StampSlot(key)] = stamp;
  record.stamp_ms = stamp;
  body_.clear();
  EncodeRowRecord(record, &body_);
  const uint64_t sequence = ++sequence_;
  const LogPosition position =
      log_->Add(static_cast<uint8_t>(LogKind::kRow), sequence, body_, crc32c::Value(body_));
  ApplyRow(table, record, sequence);
  Account();
  return position;
}

Result<LogPosition> Memstore::Write(const Table& table, ByteView key,
                                    const std::vector<CellChange>& changes) {
  const bool looks =
      std::any_of(changes.begin(), changes.end(), [&table](const CellChange& change) {
        return WantsNewestVersion(change) ||
               (table.points_family >= 0 && change.kind == CellChange::Kind::kDeleteColumn &&
                points::NamesSeveralPoints(change.qualifier));
      });
  if (looks) {
    ASSIGN_OR_RETURN(const Outcome outcome,
                     ReadModifyWrite(table, key, lsm::ColumnChoice(DeletedColumns(changes)),
                                     [&](const StoredRow&, std::vector<CellChange>* out) {
                                       *out = changes;
                                       return Result<bool>(true);
                                     }));
    return outcome.position;
  }
  if (env_.observers.guards_writes()) {
    RETURN_IF_ERROR(env_.observers.BeforeRow(table.descriptor.name, key, changes));
  }
  RETURN_IF_ERROR(CheckWritable());
  if (RefusesRow(key, changes)) return RefusedRow();
  return WriteRegistered(table, key, changes, false);
}

// Limits what appends to one cell take in memory. An append does not read the part of the cell that
// is in files, so the complete cell may become larger with each flush.
Status Memstore::CheckAppend(const Table& table, ByteView key, const CellChange& append) {
  const size_t size = active_->CellsOrMake(table.id).ValueBytes(
      key, static_cast<uint8_t>(table.points_family), append.qualifier);
  return CheckValueSize(size + append.value.size());
}

// Registers the series of the row again if a sweep forgets it before the lock is taken.
Result<LogPosition> Memstore::WriteRegistered(const Table& table, ByteView key,
                                              const std::vector<CellChange>& changes,
                                              bool operands) {
  const RowsOfKey rows(layout(), table, key);
  ToldRows told(listeners_);
  for (;;) {
    const uint32_t forgotten = registry_.forgotten_count();
    RETURN_IF_ERROR(RegisterKey(table, key));
    Status refused;
    if (!LockTold(rows, &told, &refused)) return refused;
    AdoptedLock lock(write_);
    if (registry_.forgotten_count() != forgotten) continue;
    if (operands) RETURN_IF_ERROR(CheckAppend(table, key, changes.front()));
    return WriteLocked(table, key, changes, operands);
  }
}

Result<LogPosition> Memstore::AppendToRow(const Table& table, ByteView key, ByteView bytes) {
  if (env_.observers.guards_writes()) {
    RETURN_IF_ERROR(env_.observers.BeforeRow(table.descriptor.name, key, {}));
  }
  RETURN_IF_ERROR(CheckWritable());
  const std::vector<CellChange> changes = {
      PutCell(Bytes(points::kFamily), Bytes(codec::kAppendQualifier), Bytes(bytes))};
  if (RefusesRow(key, changes)) return RefusedRow();
  return WriteRegistered(table, key, changes, true);
}

// Replaces deletes of a column's newest version. In tables ordered by arrival, the replacement
// deletes the column. In other tables, the replacement deletes the version with the newest stored
// timestamp.
void Memstore::NameVersions(const Table& table, const StoredRow& row,
                            std::vector<CellChange>* changes) const {
  if (std::none_of(changes->begin(), changes->end(), WantsNewestVersion)) return;
  if (table.order == lsm::CellOrder::kByArrival) {
    for (CellChange& change : *changes) {
      if (WantsNewestVersion(change)) change.kind = CellChange::Kind::kDeleteColumn;
    }
    return;
  }
  const auto seen =
      lsm::VisibleVersions(table.families, env_.render_options().now_ms, {}, row.cells.versions);
  std::erase_if(*changes, [&](CellChange& change) {
    if (!WantsNewestVersion(change)) return false;
    const lsm::CellVersion* const newest =
        FindVersion(seen, table.FamilyIndex(change.family), change.qualifier);
    if (newest != nullptr) change.timestamp_ms = newest->timestamp_ms;
    return newest == nullptr;
  });
}

// Replaces each delete of a compacted cell by deletes of the points that this cell would contain
// after the preceding changes. Runs under the write lock. A request may have many deletes of a row
// with many points. The row is therefore merged with its changes only before a delete whose
// qualifier is long enough for all points. The time is proportional to the bytes of the request.
void Memstore::ExpandDeletes(const Table& table, StoredRow row,
                             std::vector<CellChange>* changes) const {
  const Bytes& family = table.families[static_cast<size_t>(table.points_family)].name;
  auto names_several = [&family](const CellChange& change) {
    return change.kind == CellChange::Kind::kDeleteColumn && change.family == family &&
           points::NamesSeveralPoints(change.qualifier);
  };
  if (std::none_of(changes->begin(), changes->end(), names_several)) return;
  points::RowPart& part = row.row_part;
  const auto keep_points = [&part] {
    std::erase_if(part.raw,
                  [](const auto& cell) { return !points::TouchesPoints(cell.qualifier); });
    part.gone.clear();
  };
  keep_points();
  size_t merged = 0;                 // number of changes already merged into `part`
  size_t unmerged = 0;               // number of later changes that may affect points
  std::map<ByteView, bool> changed;  // columns of these later changes: true if last put
  std::map<size_t, std::vector<Bytes>> replaced;  // the columns that a delete deletes instead
  const auto is_raw = [&](const Bytes& qualifier) {
    const auto it = changed.find(qualifier);
    if (it != changed.end()) return it->second;
    return std::ranges::binary_search(part.raw, qualifier, {}, &points::RawCell::qualifier);
  };
  for (size_t i = 0; i < changes->size(); ++i) {
    const CellChange& change = (*changes)[i];
    const bool puts = change.kind == CellChange::Kind::kPut;
    if (change.family != family || (puts && !points::TouchesPoints(change.qualifier))) continue;
    if (change.kind == CellChange::Kind::kDeleteFamily) {
      part = points::RowPart();
      merged = i + 1;
      unmerged = 0;
      changed.clear();
      continue;
    }
    if (!names_several(change) || is_raw(change.qualifier)) {
      changed[change.qualifier] = puts;
      ++unmerged;
      continue;
    }
    // Only the points of a row without raw cells can form the cell. Each change removes at most one
    // raw cell or point.
    std::vector<Bytes>& gone = replaced[i];
    if (part.raw.size() > unmerged) continue;
    if (change.qualifier.size() / 2 + unmerged < part.points.size()) continue;
    if (unmerged > 0) {
      const auto later = std::span(*changes).subspan(merged, i - merged);
      part = points::Merge(RowPartOfChanges(later, family), std::move(part));
      keep_points();
      unmerged = 0;
      changed.clear();
    }
    merged = i + 1;
    gone = points::DeleteRendered(part, row.base, change.qualifier, env_.render_options()).gone;
    if (!gone.empty()) part.points.clear();
  }
  std::vector<CellChange> expanded;
  for (size_t i = 0; i < changes->size(); ++i) {
    const auto columns = replaced.find(i);
    if (columns == replaced.end()) {
      expanded.push_back(std::move((*changes)[i]));
      continue;
    }
    for (Bytes& qualifier : columns->second) {
      expanded.push_back(DeleteColumn(family, std::move(qualifier)));
    }
  }
  *changes = std::move(expanded);
}

// Counts the memory of the columns that a read-modify-write reads. It waits for large_changes_
// before it reads large columns, and holds this lock until it is destroyed.
class Memstore::ReadMemory final : public RequestContext {
 public:
  explicit ReadMemory(std::mutex& large_changes) : turn_(large_changes, std::defer_lock) {}

  Status Step(uint64_t) override { return {}; }
  Status Charge(int64_t bytes) override {
    if (bytes_ + bytes > kChangeReadsMax) {
      return Status::LimitExceeded("the columns of the row that the change reads need more than " +
                                   std::to_string(kChangeReadsMax) +
                                   " bytes of memory; change fewer columns at once");
    }
    bytes_ += bytes;
    if (bytes_ > kLargeChangeBytes && !turn_.owns_lock()) turn_.lock();
    return {};
  }
  [[nodiscard]] bool large() const { return turn_.owns_lock(); }
  // Unlocks large_changes_. Call this function if the columns are small, and only the search for
  // them in a large row took the lock.
  void EndTurn() {
    if (turn_.owns_lock()) turn_.unlock();
  }

 private:
  int64_t bytes_ = 0;
  std::unique_lock<std::mutex> turn_;
};

Result<Memstore::Outcome> Memstore::ReadModifyWrite(const Table& table, ByteView key,
                                                    const lsm::ColumnChoice& columns,
                                                    const Decide& decide) {
  if (env_.observers.guards_writes()) {
    RETURN_IF_ERROR(env_.observers.BeforeRow(table.descriptor.name, key, {}));
  }
  RETURN_IF_ERROR(CheckWritable());
  const RowPlace place = rows_.PlaceOf(table, key);
  const RowsOfKey rows(layout(), table, key);
  ToldRows told(listeners_);
  ReadMemory read(large_changes_);
  for (;;) {
    MemoryTally memory(&read);
    const uint64_t dropped_parts = file_set_.dropped_parts();
    const auto version = file_set_.Pin();
    env_.region_loads->AddRead(version->RegionsOf(table.id).IdOf(key));
    ASSIGN_OR_RETURN(StoredRow files,
                     rows_.ReadFiles(*version, table, place, FilesRead::kAll, columns, &memory));
    RETURN_IF_ERROR(rows_.ChargeMemory(*version, table, place, columns, &memory));
    if (memory.held() <= kLargeChangeBytes) read.EndTurn();
    WarmUp(table, key);
    bool refuses = false;
    std::optional<LogPosition> written;
    {
      Status refused;
      if (!LockTold(rows, &told, &refused)) return refused;
      AdoptedLock lock(write_);
      // The files and memtables of this version contain the complete row under two conditions. The
      // first memtable must still be the active one. No files may have been dropped, because the
      // rows of dropped files must not reappear.
      if (version->memtables.front().get() != active_ ||
          file_set_.dropped_parts() != dropped_parts) {
        continue;
      }
      ASSIGN_OR_RETURN(StoredRow row, rows_.ReadMemory(*version, table, place, columns, nullptr));
      row = MergeStored(table, std::move(row), std::move(files));
      Expire(table, env_.clock.NowMs(), &row);
      std::vector<CellChange> changes;
      ASSIGN_OR_RETURN(const bool write, decide(row, &changes));
      if (!write) return Outcome{};
      NameVersions(table, row, &changes);
      refuses = RefusesRow(key, changes);
      if (!refuses && (!place.regular || registry_.Find(place.tsuid))) {
        if (place.regular) ExpandDeletes(table, std::move(row), &changes);
        written = WriteLocked(table, key, changes);
      }
    }
    if (written) {
      // Unless the log buffers records (durability `buffered`), it then holds at most one such
      // record that is not written to the file yet.
      if (read.large()) RETURN_IF_ERROR(CommitAndWait(*written));
      return Outcome{true, *written};
    }
    if (refuses) return RefusedRow();  // without the lock, because it calls observers
    RETURN_IF_ERROR(Register(place.tsuid).status());
  }
}

Status Memstore::CommitAndWait(LogPosition position) {
  std::promise<Status> promise;
  auto committed = promise.get_future();
  log_->Commit(position, [&promise](Status status) { promise.set_value(std::move(status)); });
  return committed.get();
}

}  // namespace hg::engine
