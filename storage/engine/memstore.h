#pragma once
// Holds the data of a store that is not in files yet: the registry of series, the memtables, the
// log, and the sequence of changes. All writes of the cell store and of the point store go through
// it. So points and cells of a row share one log, one sequence and one write lock.

#include <algorithm>
#include <atomic>
#include <functional>
#include <memory>
#include <span>
#include <vector>

#include "storage/base/mutex.h"
#include "storage/engine/embedded.h"
#include "storage/engine/environment.h"
#include "storage/engine/file_set.h"
#include "storage/engine/log_body.h"
#include "storage/engine/registry.h"
#include "storage/engine/row_reader.h"
#include "storage/engine/stored_row.h"
#include "storage/engine/table_catalog.h"
#include "storage/lsm/log_recovery.h"
#include "storage/points/tsuid_list.h"
#include "storage/points/watched_points.h"

namespace hg::engine {

class ReplayPipe;

/// Returns the qualifiers of the columns that the changes delete.
std::vector<Bytes> DeletedColumns(const std::vector<CellChange>& changes);

/// Thread-safe after Replay. The versions of the FileSet own the frozen memtables, so a reader that
/// pins a version may keep a memtable after its flush.
///
/// Lock order: the FileSet's commit lock (Freeze only) → register_ → write_ → a leaf lock. Leaf
/// locks are those inside memtables, log, registry, table catalog and FileSet (its version lock),
/// and the lock that `wake_flush` takes. A thread that holds write_ does no I/O and calls no
/// listener. ReadModifyWrite calls `decide` while it holds write_.
class Memstore {
 public:
  /// All arguments must outlive the object. `wake_flush` wakes the flush thread. The Memstore may
  /// call it while it holds the write lock, so `wake_flush` must be fast.
  Memstore(const Environment& env, FileSet& file_set, const TableCatalog& tables,
           const ChangeListeners& listeners, std::function<void()> wake_flush);

  // Call Load and then Replay at the start, on one thread, before any other function. `stored` is
  // the manifest with which the FileSet was opened.
  /// Reads the series from the files of the current version, and makes the first memtable.
  Status Load(const lsm::Manifest& stored);
  /// Replays the log, and opens it for writing.
  Status Replay(const lsm::Manifest& stored);
  /// Rebuilds the index if a series was read with two numbers. Call this function after Replay.
  Status ForgetDuplicates() EXCLUDES(register_);
  /// Writes, syncs and closes the log. Call this function after the store was marked as closed and
  /// WaitForWriters has returned.
  Status Close();

  [[nodiscard]] const Registry& registry() const { return registry_; }
  /// Returns the object that reads rows of this store.
  [[nodiscard]] const RowReader& rows() const { return rows_; }

  // Functions that write. Pass the log positions that they return to Commit.
  Result<SeriesNumber> Register(ByteView tsuid);
  Status RegisterAll(std::span<const ByteView> tsuids, SeriesNumber* numbers) EXCLUDES(register_);
  /// See Embedded::MayAddSeries. Its memory limit is a little lower than that of Register, so a
  /// series whose names were just created can still be registered.
  Status MayAddSeries(uint64_t name_bytes);
  Result<LogPosition> Append(std::span<const PointEntry> batch);
  /// Applies changes that do not depend on stored data. The caller must have checked them for this
  /// table.
  Result<LogPosition> Write(const Table& table, ByteView key,
                            const std::vector<CellChange>& changes);
  /// Appends to the append cell (codec::kAppendQualifier) of a regular row of the points table. It
  /// does not read the stored cell: the appended bytes are kept separately until a read or a merge
  /// joins both.
  Result<LogPosition> AppendToRow(const Table& table, ByteView key, ByteView bytes);
  /// ReadModifyWrite reads the selected columns of the row, calls `decide` and applies its changes
  /// atomically. `decide` sees at least the selected columns. It fills `changes`, or returns false
  /// to change nothing. `decide` may be called more than once, and under the write lock, so it must
  /// be fast. Columns that `changes` deletes must be among the selected columns.
  using Decide =
      std::function<Result<bool>(const StoredRow& row, std::vector<CellChange>* changes)>;
  struct Outcome {
    bool written = false;
    LogPosition position = 0;
  };
  Result<Outcome> ReadModifyWrite(const Table& table, ByteView key,
                                  const lsm::ColumnChoice& columns, const Decide& decide);
  /// Returns the server time for a change that is made now. Call it only from `decide`.
  [[nodiscard]] int64_t stamp_ms_locked() const {
    write_.AssertHeld();
    return std::max(env_.clock.NowMs(), stamp_floor_ms_);
  }
  void Commit(LogPosition position, std::function<void(Status)> done) {
    log_->Commit(position, std::move(done));
  }
  /// Blocks until the position is committed.
  Status CommitAndWait(LogPosition position);
  Status Sync() { return log_->WaitSynced(log_->End()); }

  // From now on, changes of rows with bases below `base` are reported to listeners.
  void RaiseHorizon(uint32_t base);
  [[nodiscard]] uint32_t horizon() const { return horizon_.load(std::memory_order_acquire); }

  // Return the size of unflushed memory in bytes.
  [[nodiscard]] uint64_t active_bytes() const { return active_bytes_; }
  [[nodiscard]] uint64_t MemoryBytes() const { return active_bytes_ + *frozen_bytes_; }

  // To forget series that have no rows any more, call BeginSweep, search memtables and files, and
  // call EndSweep. One sweep at a time. A series whose row changes meanwhile is not forgotten.
  /// Starts to record which series change. Returns a series number: only lower series numbers may
  /// be passed to EndSweep, because changes of later series are not recorded.
  uint32_t BeginSweep() EXCLUDES(write_);
  /// Forgets those series of `absent` that did not change since BeginSweep. The registration of
  /// each of them must be in files, so that the log does not contain it. `absent` is null if the
  /// search failed or found nothing. Creates a new index while other threads register series, and
  /// blocks these threads only while it adds the last new series.
  void EndSweep(const NumberSet* absent) EXCLUDES(register_);

  // Functions for flushes. The caller runs one flush at a time.
  struct FlushDue {
    bool due = false;
    bool urgent = false;  // a new series was rejected that would fit after a flush of this memtable
  };
  /// Returns whether the active memtable should be flushed because of its size, its age or the
  /// length of the log. Clears the flush request (AskForFlush), because the caller will flush.
  FlushDue TakeFlushDue(const Memtable& active);
  /// Makes a new memtable the active one and freezes the previous one, unless the previous one is
  /// empty or too many memtables are frozen. Only pointers change under the write lock, so nothing
  /// can fail after the replacement.
  void Freeze() EXCLUDES(register_);
  /// Waits until the log is durable up to the end of the frozen memtable.
  Status WaitSynced(const Memtable& frozen);
  /// Returns the value of Edit::flushed for a flush of the frozen memtable.
  [[nodiscard]] Flushed FlushedBy(const Memtable& frozen) EXCLUDES(write_);
  /// Removes the log files of a memtable whose contents were flushed to files.
  void ReleaseLog(const Memtable& flushed);

  /// Waits until no write is in progress. For Close, after the store was marked as closed.
  void WaitForWriters() EXCLUDES(write_) { MutexLock lock(write_); }
  /// Returns whether the store accepts writes: the log was replayed and opened.
  [[nodiscard]] bool has_log() const { return log_ != nullptr; }
  /// Sets the members of `stats` that describe memory, series and log.
  void AddTo(EmbeddedStats* stats) const;

 private:
  // The following functions are in memstore_replay.cc.
  Status LoadSeries(const Version& version, const lsm::Manifest& stored);
  /// `met` collects the new series of consecutive records which the registry does not have yet.
  Status ReplayRecord(const lsm::LogRecord& record, ReplayPipe* pipe, TsuidList* met)
      REQUIRES(write_);
  void AddMet(TsuidList* met);

  // The following functions are in memstore_series.cc.
  Status AddSeries(std::span<const ByteView> tsuids, SeriesNumber* numbers) EXCLUDES(register_);
  /// Returns Exhausted, like MayAddSeries, if unflushed memory, ResidentBytes() and `more` bytes
  /// together exceed `percent` of the memory limit. Then requests a flush if FlushAdmitsSeries.
  Status CheckSeriesMemory(uint64_t more, uint64_t percent);
  /// Returns whether CheckSeriesMemory would succeed with UrgentFlushBytes() of unflushed memory.
  [[nodiscard]] bool FlushAdmitsSeries(uint64_t more, uint64_t percent) const;
  [[nodiscard]] bool SeriesFull() const;  // computes EmbeddedStats::series_full
  /// Returns the memory in bytes that no flush frees: series, names and the indexes of files.
  [[nodiscard]] uint64_t ResidentBytes() const {
    return registry_.bytes() + NameBytes() + file_set_.MemoryBytes();
  }
  /// Returns the memory in bytes of the names that the process caches outside the store.
  [[nodiscard]] uint64_t NameBytes() const {
    const auto& bytes = env_.options.name_bytes;
    return bytes != nullptr ? bytes->load(std::memory_order_relaxed) : 0;
  }
  /// A memtable must be larger than this many bytes to be flushed because memory is scarce.
  [[nodiscard]] uint64_t EarlyFlushBytes() const {
    return std::max(env_.memory_max / 16, kMemtableOverheadBytes);
  }
  /// Like EarlyFlushBytes, for a flush that is requested because a new series was rejected.
  [[nodiscard]] uint64_t UrgentFlushBytes() const {
    return std::max(env_.memory_max / 64, kMemtableOverheadBytes);
  }
  /// A memtable needs up to about this much memory for its first points. Therefore, flushing a
  /// smaller memtable frees memory only for a short time.
  static constexpr uint64_t kMemtableOverheadBytes = uint64_t{512} << 10;

  // The following functions are in memstore_write.cc.
  Status CheckWritable();
  /// Applies changes that are already in the log to memory. If memory cannot be allocated, the
  /// process ends, because a half-changed row can be neither shown nor undone. The next start
  /// replays the whole change from the log.
  void ApplyPoints(std::span<const PointEntry> entries, uint64_t sequence) noexcept
      REQUIRES(write_);
  void ApplyRow(const Table& table, const RowRecord& record, uint64_t sequence) noexcept
      REQUIRES(write_);
  // The following functions are in memstore_series.cc.
  /// Returns NotFound if the series of an entry is forgotten.
  [[nodiscard]] Status CheckNumbers(std::span<const PointEntry> entries) const REQUIRES(write_);
  // Called before a row changes, if a sweep runs.
  void NoteRow(const Table& table, ByteView key) REQUIRES(write_);
  void ApplyRegularRow(const Table& table, const RowRecord& record, uint64_t sequence,
                       SeriesNumber series, uint32_t base) REQUIRES(write_);
  Result<LogPosition> WriteRegistered(const Table& table, ByteView key,
                                      const std::vector<CellChange>& changes, bool operands)
      EXCLUDES(write_);
  LogPosition WriteLocked(const Table& table, ByteView key, const std::vector<CellChange>& changes,
                          bool operands = false) REQUIRES(write_);
  void ExpandDeletes(const Table& table, StoredRow row, std::vector<CellChange>* changes) const;
  void NameVersions(const Table& table, const StoredRow& row,
                    std::vector<CellChange>* changes) const;
  Status RegisterKey(const Table& table, ByteView key);
  /// Takes the write lock of an open store and returns true, or sets `refused` and returns false.
  /// If the write changes rows below the horizon, it first calls `tell` without the lock, to inform
  /// the listeners about these rows. `oldest` must not be greater than the lowest base time of the
  /// rows that the write changes.
  template <typename Tell>
  bool LockTold(uint32_t oldest, const Tell& tell, ToldRows* told, Status* refused)
      TRY_ACQUIRE(write_);
  struct RowsOfKey;
  bool LockTold(const RowsOfKey& rows, ToldRows* told, Status* refused) TRY_ACQUIRE(write_);
  enum class FlushRequest : uint8_t {
    kNone,
    kIfNeeded,
    kForSeries,  // a new series was rejected that would fit after a flush
  };
  /// Stores the request and wakes the flush thread.
  void AskForFlush(FlushRequest request);
  void Account() REQUIRES(write_);

  [[nodiscard]] const KeyLayout& layout() const { return env_.layout(); }

  const Environment& env_;
  FileSet& file_set_;
  const TableCatalog& tables_;
  const ChangeListeners& listeners_;
  const std::function<void()> wake_flush_;
  std::unique_ptr<lsm::Log> log_;  // set by Replay

  // The following members are thread-safe, or guarded by their own locks.
  Registry registry_;
  const RowReader rows_;
  std::atomic<uint64_t> refused_series_{0};
  std::atomic<uint64_t> active_bytes_{0};
  // Shared with frozen memtables, because a reader may use one longer than the engine exists.
  const std::shared_ptr<std::atomic<uint64_t>> frozen_bytes_ =
      std::make_shared<std::atomic<uint64_t>>(0);
  std::atomic<FlushRequest> flush_request_{FlushRequest::kNone};  // TakeFlushDue clears it
  std::atomic<uint64_t> log_released_{0};  // records up to this position are flushed to files
  std::atomic<uint64_t> replayed_{0};
  std::atomic<uint32_t> horizon_{0};  // only rises, under write_

  Mutex register_;  // serializes the registration of new series

  mutable Mutex write_;
  uint64_t sequence_ GUARDED_BY(write_) = 0;
  // Lower bound for all later server times: the highest server time so far, or one more if that
  // time belonged to a delete.
  int64_t stamp_floor_ms_ GUARDED_BY(write_) = 0;
  Memtable* active_ GUARDED_BY(write_) = nullptr;  // the first memtable of the version
  Bytes body_ GUARDED_BY(write_);
  bool sweeping_ GUARDED_BY(write_) = false;
  NumberSet changed_ GUARDED_BY(write_);  // series that changed since BeginSweep
};

}  // namespace hg::engine
