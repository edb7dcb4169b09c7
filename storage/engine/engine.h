#pragma once
// The core of the embedded engine: one write lock, one log and one sequence of changes. The cell
// store (EmbeddedStore) and the point store (EmbeddedPoints) share one Engine.
//
// Lock order: regions_mutex_ → the FileSet's commit lock → register_ → write_ → a leaf lock.
//
// - A leaf lock is released before another one is taken. Leaf locks are the locks inside memtables,
//   log and registry; tables_mutex_ and the FileSet's version lock, held for a copy or a swap;
//   background_mutex_, in which the background threads sleep.
// - work_mutex_ is taken alone or while regions_mutex_ is held. While it is held, only the version
//   lock may be taken.
// - The lock of IdleReaders is taken without any other lock. While it is held, the locks of readers
//   are only tried, never waited for, because a reader reads files under its own lock.
// - While write_ is held, there is no I/O and no listener is called. ReadModifyWrite calls `decide`
//   under it.

#include <algorithm>
#include <atomic>
#include <condition_variable>
#include <functional>
#include <list>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <set>
#include <shared_mutex>
#include <span>
#include <string>
#include <thread>
#include <vector>

#include "storage/base/clock.h"
#include "storage/base/file.h"
#include "storage/base/survive.h"
#include "storage/engine/embedded.h"
#include "storage/engine/file_set.h"
#include "storage/engine/idle_readers.h"
#include "storage/engine/log_body.h"
#include "storage/engine/registry.h"
#include "storage/engine/stored_row.h"
#include "storage/engine/version.h"
#include "storage/lsm/block_cache.h"
#include "storage/lsm/log_recovery.h"
#include "storage/lsm/manifest.h"
#include "storage/maintenance.h"
#include "storage/points/tsuid_list.h"
#include "storage/points/watched_points.h"
#include "storage/region/merge_policy.h"
#include "storage/region/split_policy.h"

namespace hg::points {

class ReplayPipe;
class RunWriter;
struct MergeInput;

/// Which files of a part a reader needs. The cell file holds the cells of all families, the points
/// file holds points.
enum class FilesRead : uint8_t { kAll, kCells };
/// The files that a reader of one family needs; "" means all families.
inline FilesRead FilesFor(const Table& table, ByteView family) {
  const bool points = family.empty() || table.FamilyIndex(family) == table.points_family;
  return points ? FilesRead::kAll : FilesRead::kCells;
}

/// Thread-safe after Open.
class Engine {
 public:
  /// See Embedded::Open.
  static Result<std::unique_ptr<Engine>> Open(const EmbeddedOptions& options, FileSystem& files,
                                              const Clock& clock);
  ~Engine();
  Status Close();

  [[nodiscard]] const EmbeddedOptions& options() const { return options_; }
  [[nodiscard]] const KeyLayout& layout() const { return options_.layout; }
  [[nodiscard]] const Registry& registry() const { return registry_; }
  [[nodiscard]] RenderOptions render_options() const {
    const int64_t now_ms = clock_.NowMs();
    return {now_ms / 1000, options_.enable_compaction, now_ms};
  }

  // Tables. The pointers stay valid as long as the engine lives, even after the table was altered
  // or dropped. A write through such an old pointer may be lost, as if it had happened before the
  // change.
  Result<const Table*> FindTable(const std::string& name) const;
  [[nodiscard]] std::vector<const Table*> Tables() const;
  [[nodiscard]] const Table* points_table() const {
    return points_table_.load(std::memory_order_acquire);
  }
  Status CreateTable(const TableDescriptor& descriptor);
  Status AlterTable(const TableDescriptor& descriptor);
  Status DropTable(const std::string& name);
  [[nodiscard]] const ObserverChain& observers() const { return observers_; }

  // Listeners for changes of old rows (WatchedPoints).
  [[nodiscard]] ChangeListeners& listeners() { return listeners_; }
  void RaiseHorizon(uint32_t base);
  [[nodiscard]] uint32_t horizon() const { return horizon_.load(std::memory_order_acquire); }
  [[nodiscard]] bool RowsExpire() const;

  // Functions that write. Pass the log position that they return to Commit.
  Result<SeriesNumber> Register(ByteView tsuid);
  /// See Embedded::MayAddSeries. The limit is a little lower than that of Register, so that a
  /// series whose names were just created can still be registered.
  Status MayAddSeries(uint64_t name_bytes);
  Status RegisterAll(std::span<const ByteView> tsuids, SeriesNumber* numbers);
  Result<LogPosition> Append(std::span<const PointEntry> batch);
  /// Applies changes that do not depend on stored data. The caller has checked them against the
  /// table.
  Result<LogPosition> Write(const Table& table, ByteView key,
                            const std::vector<CellChange>& changes);
  /// Appends to the append cell (codec::kAppendQualifier) of a regular row of the points table. It
  /// does not read the stored cell: the appended bytes are kept separately until a read or a merge
  /// joins both.
  Result<LogPosition> AppendToRow(const Table& table, ByteView key, ByteView bytes);
  /// Reads the selected columns of the row, calls `decide` and applies its changes atomically.
  /// `decide` sees at least the selected columns. It fills `changes`, or returns false to change
  /// nothing. It may be called more than once, under the write lock, so it must be fast. Columns
  /// that its changes delete must be among the selected ones.
  using Decide =
      std::function<Result<bool>(const StoredRow& row, std::vector<CellChange>* changes)>;
  struct Outcome {
    bool written = false;
    LogPosition position = 0;
  };
  Result<Outcome> ReadModifyWrite(const Table& table, ByteView key,
                                  const lsm::ColumnChoice& columns, const Decide& decide);
  /// The server time of a change made now. Call it only from `decide`.
  [[nodiscard]] int64_t stamp_ms_locked() const {
    return std::max(clock_.NowMs(), stamp_floor_ms_);
  }
  void Commit(LogPosition position, std::function<void(Status)> done) {
    log_->Commit(position, std::move(done));
  }
  /// Blocks until the position is committed. Returns at once on a thread that waits for its commits
  /// later (storage/base/commit_later.h).
  Status CommitAndWait(LogPosition position);
  Status Sync();

  // Functions that read.
  [[nodiscard]] IdleReaders& readers() const { return readers_; }
  [[nodiscard]] std::shared_ptr<const Version> Pin() const { return file_set_.Pin(); }
  /// Reads at least the selected columns of the row from memory and files. With FilesRead::kCells,
  /// the points files are not read. Points of a regular row are not read if no selected column
  /// depends on them. `memory` is charged before cells are copied and may refuse; null means no
  /// limit. Fails with Busy if it would read the disk and the context of `memory` may not wait.
  Result<StoredRow> Read(const Version& version, const Table& table, ByteView key,
                         FilesRead files = FilesRead::kAll, const lsm::ColumnChoice& columns = {},
                         MemoryTally* memory = nullptr) const;
  /// Reads what one memtable holds of a regular row, as of one moment. Returns false if it holds
  /// nothing.
  bool ReadMemoryPart(const Generation& generation, const RowHourMemory* row, ByteView key,
                      bool with_objects, StoredRow* out) const;
  /// Returns the base times in `range` of the series' rows that may hold points, ascending and
  /// without duplicates.
  Status ListBases(const Version& version, SeriesNumber series, const RowRange& range,
                   std::vector<uint32_t>* bases) const;

  // Functions that change the set of files.
  Status Flush();
  /// For callers that write as fast as they can and may wait, such as deletes. If unflushed memory
  /// exceeds an eighth of its limit, flushes it and blocks meanwhile. Busy: the flush failed.
  Status LeaveRoom();
  Status Compact();
  Status Compact(const Table& table);
  /// See Points::DropFiles.
  Status DropFiles(const EndOfRows& end_of);

  // Regions. These calls may wait for merges of the region. Readers and writers continue.
  /// Splits the region that contains `key_of_region` and returns the boundary. The boundary is
  /// `at`, cut to a whole row group in a points table, or else the middle of the region's files.
  /// InvalidArgument: `at` is not inside the region. Conflict: the region still shares files after
  /// an earlier split, or has fewer than two row groups.
  Result<Bytes> Split(const Table& table, ByteView key_of_region, const std::optional<Bytes>& at);
  /// Merges the region that begins with `boundary` with the region before it. InvalidArgument: no
  /// region begins there, or the two belong to different salt buckets.
  Status MergeRegions(const Table& table, const Bytes& boundary);

  // One round of the work of each background thread. Tests without threads call these.
  enum class MergePool : uint8_t { kAny, kSmall, kLarge };
  Status FlushIfNeeded();
  Status MergePending(MergePool pool);
  Status SplitWhereDue();
  /// See storage/maintenance.h.
  Result<CheckReport> Check();
  Result<RepairReport> Repair();
  Result<CopyProgress> Backup(const std::string& folder, const CopyWatch& watch);
  [[nodiscard]] EmbeddedStats Stats() const;

 private:
  Engine(const EmbeddedOptions& options, FileSystem& files, const Clock& clock);

  using RegionPlace = std::pair<uint32_t, uint32_t>;  // ids of table and region

  // Defined in engine_open.cc.
  Status Start();
  Status LoadSeries(const Version& version);
  /// `met` collects new series of consecutive records that are not in the registry yet.
  Status Replay(const lsm::LogRecord& record, ReplayPipe* pipe, TsuidList* met);
  void AddMet(TsuidList* met);
  // Defined in engine_tables.cc.
  [[nodiscard]] bool HasFamiliesOf(const TableDescriptor& wanted) const;
  Status MakeFolderOf(const std::string& table);
  void AddTable(const lsm::TableEntry& entry);
  [[nodiscard]] const Table* TableById(uint32_t id) const;
  Status DropHeld(const Table& table, const std::vector<RegionPlace>& places);
  /// Returns NotFound if the table was dropped.
  static Status CheckThere(const Version& version, const Table& table);

  /// If true, Close need not wait for a flush.
  [[nodiscard]] bool memory_is_logged() const { return options_.durability != Durability::kNone; }

  // Defined in engine_register.cc.
  Status AddSeries(std::span<const ByteView> tsuids, SeriesNumber* numbers);
  /// Returns Exhausted, like MayAddSeries, if unflushed memory, ResidentBytes() and `more` bytes
  /// together exceed `percent` of the budget. Requests a flush if FlushAdmitsSeries.
  Status CheckSeriesMemory(uint64_t more, uint64_t percent);
  /// Whether CheckSeriesMemory would succeed with UrgentFlushBytes() of unflushed memory.
  [[nodiscard]] bool FlushAdmitsSeries(uint64_t more, uint64_t percent) const;
  [[nodiscard]] bool SeriesFull() const;  // EmbeddedStats::series_full
  /// Memory that no flush frees, in bytes: series, names and the indexes of files.
  [[nodiscard]] uint64_t ResidentBytes() const {
    return registry_.bytes() + NameBytes() + file_set_.MemoryBytes();
  }
  /// Memory of the names that the process keeps outside the store, in bytes.
  [[nodiscard]] uint64_t NameBytes() const {
    return options_.name_bytes != nullptr ? options_.name_bytes->load(std::memory_order_relaxed)
                                          : 0;
  }
  /// A smaller memtable is not flushed before a series was refused.
  [[nodiscard]] uint64_t EarlyFlushBytes() const {
    return std::max(memory_max_ / 16, kMemtableOverheadBytes);
  }
  /// A smaller memtable is not flushed for a refused series.
  [[nodiscard]] uint64_t UrgentFlushBytes() const {
    return std::max(memory_max_ / 64, kMemtableOverheadBytes);
  }
  /// A memtable takes up to about this much memory with its first points, so flushing a smaller one
  /// frees nothing for long.
  static constexpr uint64_t kMemtableOverheadBytes = uint64_t{512} << 10;

  // Defined in engine_write.cc.
  [[nodiscard]] uint64_t MemoryBytes() const { return active_bytes_ + *frozen_bytes_; }
  Status CheckWritable();
  /// Returns Unavailable if Close was called. Close first marks the store as closed and then takes
  /// its locks. Call CheckOpen under one of these locks: if it returns ok, Close waits until the
  /// caller releases the lock.
  [[nodiscard]] Status CheckOpen() const;
  /// Applies to memory what is already in the log. Running out of memory here terminates the
  /// process: a half-changed row can be neither shown nor undone. The next start replays the whole
  /// change from the log.
  void ApplyPoints(std::span<const PointEntry> entries, uint64_t sequence) noexcept;
  void ApplyRow(const Table& table, const RowRecord& record, uint64_t sequence) noexcept;
  void ApplyRegularRow(const Table& table, const RowRecord& record, uint64_t sequence,
                       SeriesNumber series, uint32_t base);
  LogPosition WriteLocked(const Table& table, ByteView key, const std::vector<CellChange>& changes,
                          bool operands = false);
  void ExpandDeletes(const Table& table, StoredRow row, std::vector<CellChange>* changes) const;
  void NameVersions(const Table& table, const StoredRow& row,
                    std::vector<CellChange>* changes) const;
  Status RegisterKey(const Table& table, ByteView key);
  /// Takes the write lock of an open store. If the write changes rows below the horizon, it first
  /// calls `tell`, without the lock, to inform the listeners of these rows. `oldest` is at most the
  /// lowest base time that the write touches.
  template <typename Tell>
  Status LockTold(uint32_t oldest, const Tell& tell, ToldRows* told,
                  std::unique_lock<std::mutex>* lock);
  struct RowsOfKey;
  Status LockTold(const RowsOfKey& rows, ToldRows* told, std::unique_lock<std::mutex>* lock);
  enum class FlushRequest : uint8_t {
    kNone,
    kIfNeeded,
    kForSeries,  // a series was refused that a flush would admit
  };
  /// Wakes the flush thread.
  void AskForFlush(FlushRequest request);
  void Account();

  // Reports a flush, merge or other background work to the observers when it ends.
  [[nodiscard]] StoreWork BeginWork(StoreWork::Kind kind, uint32_t table) const;
  void EndWork(StoreWork work) const;

  // Defined in engine_read.cc.
  struct RowPlace {
    ByteView key;
    bool regular = false;  // if true, tsuid and base are those of the key
    Bytes tsuid;
    uint32_t base = 0;
  };
  [[nodiscard]] RowPlace PlaceOf(const Table& table, ByteView key) const;
  Result<StoredRow> ReadMemory(const Version& version, const Table& table, const RowPlace& place,
                               const lsm::ColumnChoice& columns, MemoryTally* memory) const;
  bool ReadMemoryColumns(const Generation& generation, const RowHourMemory* row,
                         const RowPlace& place, const lsm::ColumnChoice& columns,
                         StoredRow* out) const;
  Result<StoredRow> ReadFiles(const Version& version, const Table& table, const RowPlace& place,
                              FilesRead files, const lsm::ColumnChoice& columns,
                              MemoryTally* memory) const;

  // Defined in engine_flush.cc. From PutOff to FlushOldest, the caller holds regions_mutex_.
  void FlushLoop();
  bool PutOff(const Version& version);
  void Freeze();
  Status FlushMemory();
  Status FlushFrozen();
  Status FlushOldest();
  struct FlushJob;
  Status WriteGeneration(const Generation& generation, std::vector<lsm::RunEntry>* entries);
  void RunFlushJobs(const Generation& generation, std::vector<FlushJob>& jobs);
  Status WriteSeries(const Generation& generation, std::vector<lsm::RunEntry>* entries);
  /// Writes the series with numbers in [begin, end) to the table of series.
  Status AddSeriesRows(uint32_t begin, uint32_t end, RunWriter* writer) const;
  [[nodiscard]] std::map<uint32_t, uint64_t> RowsOfDays(const Generation& generation,
                                                        const FlushJob& job) const;
  Status WritePointsRegion(const Generation& generation, FlushJob* job);
  Status WriteCellsRegion(const Generation& generation, FlushJob* job);
  static Status FinishRun(RunWriter* writer, std::vector<lsm::RunEntry>* entries);
  lsm::RunEntry NewEntry(uint32_t table, uint32_t region, const Generation& generation);
  /// The namespace folder for new files of the table.
  [[nodiscard]] std::string SpaceOf(uint32_t table) const;

  // Regions and their files. A merge reserves its input parts (RegionWork::merging). A split or
  // region merge locks the whole region (RegionWork::held) while no merge runs in it. Dropping
  // files also locks the region, but merges that already run continue.
  struct MergeJob {
    RegionPlace place;
    Runs runs;            // newest first
    bool bottom = false;  // no older part has rows in common with them
    bool paced = false;
  };
  struct RegionWork {
    std::set<uint64_t> merging;  // numbers of the parts
    bool held = false;
  };
  /// A region whose last merge failed. Other regions are merged meanwhile, because the cause, such
  /// as a damaged block, does not go away by itself.
  struct FailedMerge {
    Status why;
    /// Numbers of its input parts. The failure is forgotten once one of them is gone.
    std::set<uint64_t> runs;
    /// If the merge failed because the disk was full: retry once this many bytes are free. Else 0.
    uint64_t room_bytes = 0;
    int64_t wait_ms = 0;   // doubles with each failure, up to a limit
    int64_t again_ms = 0;  // no retry before this time of the monotonic clock
  };
  // Defined in engine_merge.cc.
  void MergeLoop(MergePool pool);
  void WakeMerges();
  bool PickMerge(MergePool pool, MergeJob* job);
  [[nodiscard]] bool HasPoints(RegionPlace place) const;
  /// The largest number of the region's parts that may hold one row.
  [[nodiscard]] size_t DepthOf(RegionPlace place, const Runs& runs) const;
  void EndMerge(const MergeJob& job);
  Status MergeJobRuns(const MergeJob& job);
  // Defined in engine_merge_failed.cc.
  /// Records the result of a merge. After a failure, the region is not merged for a while.
  void NoteMerge(const MergeJob& job, const Status& status);
  void ForgetMended(const Version& version);  // the caller holds work_mutex_
  [[nodiscard]] bool MergeFailed(RegionPlace place) const;
  /// The error of the first region whose last merge failed; ok if there is none.
  [[nodiscard]] Status MergeFailure() const;
  /// Names a region in messages, such as "table tsdb, region [, \x00\x00\x02)".
  [[nodiscard]] std::string NameOf(RegionPlace place) const;
  [[nodiscard]] int64_t MonotonicMs() const { return clock_.MonotonicNs() / 1'000'000; }
  // Defined in engine_mend.cc.
  /// The parts that use the files with this number: one for each region that shares them.
  [[nodiscard]] Runs RunsWith(uint64_t number) const;
  Status MendRun(uint64_t number, const std::vector<Damage>& damages, RepairReport* report);
  Status MendHeld(const Runs& runs, const std::vector<Damage>& damages, RepairReport* report);
  /// `damaged` maps the numbers of parts to their damage.
  Status RewriteSeries(const std::map<uint64_t, std::vector<Damage>>& damaged,
                       RepairReport* report);
  Status RewriteSeriesHeld(RegionPlace place,
                           const std::map<uint64_t, std::vector<Damage>>& damaged,
                           RepairReport* report);
  // Defined in engine_drop.cc.
  using MetricEnds = std::map<Bytes, uint32_t>;  // per metric, rows before this time may be dropped
  Status DropFilesHeld(RegionPlace place, const MetricEnds& ends);
  /// Returns a time. All rows of the region before this time may be dropped.
  [[nodiscard]] uint32_t EndIn(const region::RegionMap& regions, size_t region,
                               const MetricEnds& ends) const;
  // Defined in engine_expiry.cc.
  Status DropExpired();
  Status DropExpiredHeld(const Table& table, RegionPlace place, int64_t oldest_ms);
  /// Estimates the expired bytes of a part of the points table. A merge of all parts of its region
  /// would drop them.
  [[nodiscard]] uint64_t ExpiredBytes(const Run& run, int64_t now_ms) const;
  Status WriteMerged(RegionPlace place, std::vector<MergeInput> inputs, bool bottom, bool paced,
                     std::vector<lsm::RunEntry>* written);
  struct MergePressure;
  void WaitForPace(MergePressure* pressure, uint64_t bytes);
  Status CompactRegion(RegionPlace place);
  Status HoldRegions(const std::vector<RegionPlace>& places);
  void ReleaseRegions(const std::vector<RegionPlace>& places);
  /// Runs `work` while it holds the regions. Releases them even if `work` fails or throws.
  template <typename Work>
  Status WhileHeld(const std::vector<RegionPlace>& places, const Work& work) {
    RETURN_IF_ERROR(HoldRegions(places));
    const Status status = Survive(work);
    ReleaseRegions(places);
    return status;
  }
  // Defined in engine_region.cc.
  Result<Bytes> SplitHeld(const Table& table, RegionPlace place, const std::optional<Bytes>& at);
  Status MergeHeld(const Table& table, RegionPlace left, RegionPlace right);
  std::vector<region::GroupWeight> WeightsOf(const Table& table, const Runs& runs,
                                             const Bytes& start, const Bytes& stop,
                                             Status* failed) const;
  Status SidesOf(const Run& run, const Bytes& start, const Bytes& key, bool* before,
                 bool* behind) const;
  [[nodiscard]] Bytes SaltOf(const Bytes& start) const;
  static std::vector<lsm::RegionEntry>& RegionsIn(TableList* tables, uint32_t table);
  static size_t CountRegions(const Version& version);

  // The following members are constant after Open.
  const EmbeddedOptions options_;
  FileSystem& files_;
  const Clock& clock_;
  std::unique_ptr<FileLock> lock_;
  std::unique_ptr<lsm::Log> log_;
  uint64_t memory_max_ = 0;  // limit of unflushed memory, in bytes

  // The following members are thread-safe, or guarded by their own locks.
  mutable IdleReaders readers_;
  // Shared with files, which a reader may keep open longer than the engine lives.
  const std::shared_ptr<lsm::BlockCache> cache_;
  const std::shared_ptr<lsm::ReadCounters> read_counters_ = std::make_shared<lsm::ReadCounters>();
  FileSet file_set_;
  std::atomic<const Table*> points_table_{nullptr};  // set once; replaced when the table is altered
  Registry registry_;
  std::atomic<uint64_t> refused_series_{0};
  std::atomic<uint64_t> active_bytes_{0};
  // Shared with the frozen memtables: a reader may keep one longer than the engine lives.
  const std::shared_ptr<std::atomic<uint64_t>> frozen_bytes_ =
      std::make_shared<std::atomic<uint64_t>>(0);
  std::atomic<FlushRequest> flush_request_{FlushRequest::kNone};  // FlushIfNeeded takes it
  std::atomic<uint64_t> log_released_{0};  // log records up to this position are flushed to files
  std::atomic<uint64_t> replayed_{0};
  // Incremented after new versions no longer contain the part.
  std::atomic<uint64_t> dropped_runs_{0};
  const std::shared_ptr<WorkCounters> work_counters_ = std::make_shared<WorkCounters>();
  const ObserverChain observers_;
  std::atomic<bool> closed_{false};
  ChangeListeners listeners_;
  std::atomic<uint32_t> horizon_{0};  // only rises, under write_

  mutable std::shared_mutex tables_mutex_;
  std::vector<std::unique_ptr<Table>> all_tables_;  // guarded by tables_mutex_
  std::map<std::string, const Table*> tables_;      // guarded by tables_mutex_
  std::map<uint32_t, const Table*> tables_by_id_;   // guarded by tables_mutex_

  // Held while tables or regions change, and during a whole flush: a flush writes files per region,
  // so only one may run and the regions must not change. Merges and file drops continue.
  std::mutex regions_mutex_;
  // When the flush was first postponed; guarded by regions_mutex_.
  std::optional<int64_t> flush_put_off_ms_;

  region::Pace pace_;  // shared by all background merges

  mutable std::mutex work_mutex_;
  std::condition_variable work_done_;
  std::map<RegionPlace, RegionWork> work_;  // guarded by work_mutex_; no entry: the region is idle
  std::map<RegionPlace, FailedMerge> failed_merges_;  // guarded by work_mutex_
  // Size in bytes at which a split is tried again. Used by the splitting thread only.
  std::map<RegionPlace, uint64_t> cannot_split_;

  std::mutex register_;  // serializes the registration of new series

  std::mutex write_;
  // The following members are guarded by write_.
  uint64_t sequence_ = 0;
  // Lower bound of all later server times: the highest one so far, or one more if that belonged to
  // a delete.
  int64_t stamp_floor_ms_ = 0;
  Generation* active_ = nullptr;  // the first memtable of the version
  Bytes body_;

  mutable std::mutex background_mutex_;
  std::condition_variable background_wake_;
  bool flush_wanted_ = false;        // guarded by background_mutex_
  bool merge_wanted_ = false;        // guarded by background_mutex_
  bool large_merge_wanted_ = false;  // guarded by background_mutex_
  bool stop_ = false;                // guarded by background_mutex_
  Status flush_error_;               // guarded by background_mutex_
  Status merge_error_;               // guarded by background_mutex_
  Status large_merge_error_;         // guarded by background_mutex_
  std::thread flush_thread_;
  std::thread merge_thread_;
  std::thread large_merge_thread_;
};

}  // namespace hg::points
