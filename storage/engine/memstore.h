#pragma once
// Holds the registry of series, and the data of a store that is not in files yet: the memtables,
// the log, and the sequence numbers of changes. All writes of the cell store and of the point store
// go through the Memstore. Therefore the points and the cells of a row share one log, one sequence
// and one write lock.

#include <algorithm>
#include <atomic>
#include <functional>
#include <memory>
#include <mutex>
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
#include "storage/region/region_count.h"

namespace hg::engine {

class ReplayPipe;

/// Returns the qualifiers of the columns that the changes delete.
std::vector<Bytes> DeletedColumns(const std::vector<CellChange>& changes);

/// Maximum memory of the columns that one read-modify-write reads, in bytes. Each version of a cell
/// in a memtable or file counts twice.
inline constexpr int64_t kChangeReadsMax = 512 << 20;
/// A read-modify-write that reads more bytes than this is large. Only one large read-modify-write
/// runs at a time, because it holds the write lock for milliseconds.
inline constexpr int64_t kLargeChangeBytes = 1 << 20;

/// The unflushed data of one store. Thread-safe after Replay. The versions of the FileSet own the
/// frozen memtables, so a reader that pins a version may keep a memtable after its flush.
///
/// Lock order: the FileSet's commit lock (Freeze only) or large_changes_ → register_ → write_ → a
/// leaf lock. The leaf locks are those inside memtables, log, registry, table catalog and FileSet
/// (its version lock), and the lock of `wake_flush`. A thread that holds write_ does no I/O and
/// calls no listener. ReadModifyWrite calls `decide` while it holds write_.
class Memstore {
 public:
  /// All arguments must outlive the object. `wake_flush` wakes the flush thread. The Memstore may
  /// call `wake_flush` while it holds the write lock, so `wake_flush` must be fast.
  Memstore(const Environment& env, FileSet& file_set, const TableCatalog& tables,
           const ChangeListeners& listeners, std::function<void()> wake_flush);

  // At the start, call Load and then Replay on one thread, before any other function. `stored` is
  // the manifest with which the FileSet was opened.
  /// Reads the series (Corruption if one is missing in the files), and makes the first memtable.
  Status Load(const lsm::Manifest& stored);
  /// Replays the log, and then opens the log for writing.
  Status Replay(const lsm::Manifest& stored);
  /// If Load and Replay have read two series numbers for one TSUID, rebuilds the index of series,
  /// so that each TSUID has only one number. Returns Exhausted if there is no memory for the new
  /// index. Call this function after Replay.
  Status ForgetDuplicates() EXCLUDES(register_);
  /// Writes, syncs and closes the log, and returns the error of the log. Call this function after
  /// Environment::Close, when WaitForWriters has returned.
  Status Close();

  [[nodiscard]] const Registry& registry() const { return registry_; }
  /// Returns the object that reads rows of this store.
  [[nodiscard]] const RowReader& rows() const { return rows_; }

  // The following functions write. Pass the log positions that they return to Commit.
  Result<SeriesNumber> Register(ByteView tsuid);
  Status RegisterAll(std::span<const ByteView> tsuids, SeriesNumber* numbers) EXCLUDES(register_);
  /// Embedded::MayAddSeries describes this function. Its memory limit is a little lower than the
  /// limit of Register, so a series whose names were just created can still be registered.
  Status MayAddSeries(uint64_t name_bytes);
  Result<LogPosition> Append(std::span<const PointEntry> batch);
  [[nodiscard]] bool AppendMayWait(std::span<const PointEntry> batch) const;
  /// Applies changes, which must be valid for the table. For a delete of a newest version or of a
  /// compacted cell, the call first reads the row, as ReadModifyWrite does.
  Result<LogPosition> Write(const Table& table, ByteView key,
                            const std::vector<CellChange>& changes);
  /// Appends to the append cell (codec::kAppendQualifier) of a regular row of the points table.
  /// AppendToRow does not read the stored cell. The appended bytes are kept separately until a read
  /// or a merge joins them with the stored cell.
  Result<LogPosition> AppendToRow(const Table& table, ByteView key, ByteView bytes);
  /// ReadModifyWrite reads the selected columns of the row, calls `decide` and applies the changes
  /// of `decide` atomically. It may read files. `decide` sees at least the selected columns, and
  /// fills `changes` or returns false to change nothing. `decide` may be called more than once, and
  /// under the write lock, so it must be fast and take no lock. Columns that `changes` deletes must
  /// be among the selected columns. ReadModifyWrite returns the error of `decide`, or LimitExceeded
  /// if it would read more than kChangeReadsMax bytes.
  using Decide =
      std::function<Result<bool>(const StoredRow& row, std::vector<CellChange>* changes)>;
  struct Outcome {
    bool written = false;
    LogPosition position = 0;
  };
  Result<Outcome> ReadModifyWrite(const Table& table, ByteView key,
                                  const lsm::ColumnChoice& columns, const Decide& decide);
  /// Returns the server time for a change of the row that is made now. Call this function only
  /// from `decide`.
  [[nodiscard]] int64_t stamp_ms_locked(ByteView key) const {
    write_.AssertHeld();
    return std::max(env_.clock.NowMs(), stamp_floors_ms_[StampSlot(key)]);
  }
  void Commit(LogPosition position, std::function<void(Status)> done) {
    log_->Commit(position, std::move(done));
  }
  /// Blocks until the log position is committed.
  Status CommitAndWait(LogPosition position);
  Status Sync() { return log_->WaitSynced(log_->End()); }

  // WatchedPoints describes RaiseHorizon and horizon. `base` is a base time in seconds.
  void RaiseHorizon(uint32_t base);
  [[nodiscard]] uint32_t horizon() const { return horizon_.load(std::memory_order_acquire); }

  // active_bytes returns the size of the active memtable in bytes. MemoryBytes returns the size of
  // all memtables, including flushed memtables that readers still use.
  [[nodiscard]] uint64_t active_bytes() const { return active_bytes_; }
  [[nodiscard]] uint64_t MemoryBytes() const {
    const uint64_t frozen = *frozen_bytes_;  // read first: Freeze changes it last
    return frozen + active_bytes_;
  }
  /// Returns the size in bytes of all memtables that are not flushed yet. The result may briefly
  /// exceed MemoryBytes, because the two are not read at the same instant.
  [[nodiscard]] uint64_t UnflushedBytes() const;

  // To forget series that have no rows any more, call BeginSweep, search memtables and files, and
  // call EndSweep. Only one sweep may run at a time. A series is not forgotten if one of its rows
  // changes during the sweep.
  /// Starts to record which series change. Returns a series number. Only series numbers below the
  /// returned number may be passed to EndSweep, because changes of later series are not recorded.
  uint32_t BeginSweep() EXCLUDES(write_);
  /// The results of a sweep. The registration of all series in them must be in files, not in the
  /// log. Swept is a plain value.
  struct Swept {
    NumberSet absent;     // series without rows
    MappedRanges mapped;  // the result of Registry::MapSeries
  };
  /// Forgets those series of `swept->absent` that did not change since BeginSweep, and removes the
  /// series of `swept->mapped` from memory. Does nothing if memory is exhausted. `swept` is null if
  /// there is nothing to forget or to remove. Other threads may register series while EndSweep
  /// builds a new index; they wait only while it adds the last new series.
  void EndSweep(const Swept* swept) EXCLUDES(register_);

  // The following functions are for flushes. Only one flush may run at a time.
  struct FlushDue {
    bool due = false;
    // Whether the flush must not be postponed: a new series was rejected that would fit after a
    // flush of this memtable, or the memtable has a long row (RowMemory::has_long_row).
    bool urgent = false;
  };
  /// Returns whether the active memtable should be flushed because of its size, its age, a long
  /// row, or the length of the log. Clears the flush request (AskForFlush), because the caller now
  /// decides whether to flush.
  FlushDue TakeFlushDue(const Memtable& active);
  /// Makes a new memtable the active one and freezes the previous one. Does nothing if the previous
  /// memtable is empty or too many memtables are frozen. Only pointers change under the write lock,
  /// so nothing can fail after the replacement.
  void Freeze() EXCLUDES(register_);
  /// Waits until the log is durable up to the last record of the frozen memtable.
  Status WaitSynced(const Memtable& frozen);
  /// Returns the value of Edit::flushed for a flush of the frozen memtable.
  [[nodiscard]] Flushed FlushedBy(const Memtable& frozen) EXCLUDES(write_);
  /// Removes the log files of a memtable whose contents were flushed to files.
  void ReleaseLog(const Memtable& flushed);

  /// Waits until no write is in progress. Compactor::Stop calls this function after the store was
  /// marked as closed.
  void WaitForWriters() EXCLUDES(write_) { MutexLock lock(write_); }
  /// Returns whether the store accepts writes, because the log was replayed and opened.
  [[nodiscard]] bool has_log() const { return log_ != nullptr; }
  /// Sets the members of `stats` that describe memory, series and log.
  void AddTo(EmbeddedStats* stats) const;

 private:
  // The following functions are in memstore_replay.cc.
  Status LoadSeries(const Version& version, const lsm::Manifest& stored);
  /// Moves series from memory to mapped files if at least `series` of them are in memory, or if
  /// they need much memory, and *may_map is true. If the files cannot be written, sets *may_map to
  /// false.
  Status MapLoaded(uint32_t series, bool* may_map);
  /// Replays one log record. `met` collects the new series of consecutive records that the registry
  /// does not have yet.
  Status ReplayRecord(const lsm::LogRecord& record, ReplayPipe* pipe, TsuidList* met)
      REQUIRES(write_);
  void AddMet(TsuidList* met);

  // The following functions are in memstore_series.cc.
  Status AddSeries(std::span<const ByteView> tsuids, SeriesNumber* numbers) EXCLUDES(register_);
  /// Returns whether the change must be refused because of its memory in the indexes of files. A
  /// file's index has a key for each block. If keys are short compared with blocks, the index takes
  /// a small part of the memory that the rows took before their flush, as it does for points. Such
  /// rows are never refused. Rows with long keys are refused under the condition under which new
  /// series are refused, and deletes of such rows a little later.
  [[nodiscard]] bool RefusesRow(ByteView key, const std::vector<CellChange>& changes) const;
  /// Returns the error for a change that RefusesRow refuses. Requests a flush if it would help. Do
  /// not hold the write lock.
  Status RefusedRow() EXCLUDES(write_);
  /// Returns Exhausted with a message that begins with `what`, and reports it to the observers.
  /// Requests a flush if FlushAdmitsSeries returns true.
  Status RefuseForMemory(const char* what, const char* advice, uint64_t more, uint64_t percent);
  static std::string Megabytes(uint64_t bytes);  // returns the text of a size, for error messages
  /// Returns whether unflushed memory, ResidentBytes() and `more` bytes together are at most
  /// `percent` of the memory limit.
  [[nodiscard]] bool MemoryAdmits(uint64_t more, uint64_t percent) const {
    return MemoryBytes() + ResidentBytes() + more <= env_.memory_max / 100 * percent;
  }
  /// Returns Exhausted, like MayAddSeries, if unflushed memory, ResidentBytes() and `more` bytes
  /// together exceed `percent` of the memory limit. In this case, requests a flush if
  /// FlushAdmitsSeries returns true.
  Status CheckSeriesMemory(uint64_t more, uint64_t percent);
  /// Returns whether CheckSeriesMemory would succeed if only UrgentFlushBytes() bytes of memory
  /// were unflushed.
  [[nodiscard]] bool FlushAdmitsSeries(uint64_t more, uint64_t percent) const;
  [[nodiscard]] bool SeriesFull() const;        // computes EmbeddedStats::series_full
  [[nodiscard]] bool SeriesRefusedNow() const;  // computes EmbeddedStats::series_refused_now
  /// Returns the memory in bytes that no flush frees: series, names and the indexes of files.
  [[nodiscard]] uint64_t ResidentBytes() const {
    return registry_.bytes() + NameBytes() + file_set_.MemoryBytes();
  }
  /// Returns the memory in bytes of the names that the process keeps outside the store.
  [[nodiscard]] uint64_t NameBytes() const {
    const auto& bytes = env_.options.name_bytes;
    return bytes != nullptr ? bytes->load(std::memory_order_relaxed) : 0;
  }
  /// Returns a size in bytes. A memtable that is larger is flushed.
  [[nodiscard]] uint64_t FlushBytes() const { return env_.memory_max / region::kFlushedPart; }
  /// Returns a size in bytes. Scarce memory causes a flush only if the memtable is larger than this
  /// size.
  [[nodiscard]] uint64_t EarlyFlushBytes() const {
    return std::max(env_.memory_max / 16, kMemtableOverheadBytes);
  }
  /// Returns a size in bytes. The rejection of a new series causes a flush only if the memtable is
  /// larger than this size.
  [[nodiscard]] uint64_t UrgentFlushBytes() const {
    return std::max(env_.memory_max / 64, kMemtableOverheadBytes);
  }
  /// A new memtable needs up to about this much memory, in bytes, for its first points. Therefore,
  /// flushing a smaller memtable frees memory only for a short time.
  static constexpr uint64_t kMemtableOverheadBytes = uint64_t{512} << 10;

  // The following functions are in memstore_apply.cc.
  /// ApplyPoints and ApplyRow apply changes, which are already in the log, to memory. If memory
  /// cannot be allocated, the process ends, because a half-changed row can be neither shown nor
  /// undone. The next start replays the whole change from the log.
  void ApplyPoints(std::span<const PointEntry> entries, uint64_t sequence) noexcept
      REQUIRES(write_);
  void ApplyRow(const Table& table, const RowRecord& record, uint64_t sequence) noexcept
      REQUIRES(write_);
  void ApplyRegularRow(const Table& table, const RowRecord& record, uint64_t sequence,
                       SeriesNumber series, uint32_t base) REQUIRES(write_);
  // The following functions are in memstore_series.cc.
  /// Returns NotFound if the series of an entry was forgotten.
  [[nodiscard]] Status CheckNumbers(std::span<const PointEntry> entries) const REQUIRES(write_);
  // Records the series of the row as changed. If a sweep runs, call NoteRow before a row changes.
  void NoteRow(const Table& table, ByteView key) REQUIRES(write_);
  // The following functions are in memstore_write.cc.
  /// Returns Busy, and reports it to the observers, if MemoryBytes exceeds the memory limit.
  /// Returns other errors if the store is closed or the log has failed.
  Status CheckWritable() EXCLUDES(write_);
  Result<LogPosition> WriteRegistered(const Table& table, ByteView key,
                                      const std::vector<CellChange>& changes, bool operands)
      EXCLUDES(write_);
  Status CheckAppend(const Table& table, ByteView key, const CellChange& append) REQUIRES(write_);
  LogPosition WriteLocked(const Table& table, ByteView key, const std::vector<CellChange>& changes,
                          bool operands = false) REQUIRES(write_);
  class ReadMemory;
  void ExpandDeletes(const Table& table, StoredRow row, std::vector<CellChange>* changes) const;
  void NameVersions(const Table& table, const StoredRow& row,
                    std::vector<CellChange>* changes) const;
  Status RegisterKey(const Table& table, ByteView key);
  /// Looks up the series of a row, so that its pages of a mapped file are in memory. Call this
  /// function before the write lock is taken, if the series is looked up again under the lock.
  void WarmUp(const Table& table, ByteView key) const;
  /// Takes the write lock of an open store and returns true, or sets `refused` and returns false.
  /// If the write changes rows below the horizon, LockTold first calls `tell` without the lock, to
  /// inform the listeners about these rows. `oldest` must not be greater than the lowest base time
  /// of the rows that the write changes.
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
  /// Stores the flush request and wakes the flush thread.
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
  // This counter is shared with frozen memtables, because a reader may use a memtable longer than
  // the engine exists.
  const std::shared_ptr<std::atomic<uint64_t>> frozen_bytes_ =
      std::make_shared<std::atomic<uint64_t>>(0);
  std::atomic<FlushRequest> flush_request_{FlushRequest::kNone};  // TakeFlushDue clears the request
  std::atomic<uint64_t> log_released_{0};  // records up to this log position are flushed to files
  std::atomic<uint64_t> replayed_{0};
  // A read-modify-write that reads more than kLargeChangeBytes holds this lock, from before it
  // reads until its change is committed. Such a read-modify-write may register a series meanwhile.
  std::mutex large_changes_;
  std::atomic<uint32_t> horizon_{0};  // only rises; changed under write_

  Mutex register_;  // makes registrations of new series run one after the other

  mutable Mutex write_;
  uint64_t sequence_ GUARDED_BY(write_) = 0;
  // Lower bounds for all later server times of a row, by StampSlot of its key. A bound is greater
  // than the last server time after a delete without a timestamp, and after each change of a table
  // with needs_strict_times(). Many slots keep the bounds near the clock: with one slot, 30,000
  // deletes in a second would move the times of all rows 30 s ahead, and would hide puts whose
  // clients set the time.
  static constexpr size_t kStampSlots = 4096;
  static size_t StampSlot(ByteView key) { return std::hash<ByteView>()(key) % kStampSlots; }
  std::vector<int64_t> stamp_floors_ms_ GUARDED_BY(write_) = std::vector<int64_t>(kStampSlots);
  Memtable* active_ GUARDED_BY(write_) = nullptr;  // the first memtable of the current version
  Bytes body_ GUARDED_BY(write_);                  // working memory to encode a log record
  bool sweeping_ GUARDED_BY(write_) = false;
  NumberSet changed_ GUARDED_BY(write_);  // series that changed since BeginSweep
};

}  // namespace hg::engine
