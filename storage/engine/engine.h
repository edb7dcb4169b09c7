#pragma once
// The engine's core: one write lock, one log, one sequence (engine.md). Both doors of the embedded
// store stand on it.
//
// Lock order: maintenance_ → register_ → write_ → those below, which are let go of before another
// is taken: locks inside memory, log and registry; version_mutex_ and tables_mutex_, held for a
// copy or a swap; background_mutex_, which threads sleep in. work_mutex_ is taken alone or in
// maintenance_, with none of the others but version_mutex_ in it. The lock of IdleReaders is taken
// without any other; in it those of readers, which read under them, are tried and never waited for.
// No I/O and no callback under write_.

#include <algorithm>
#include <array>
#include <atomic>
#include <condition_variable>
#include <functional>
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

/// Which files a reader looks at. Cells of all families stand in one file of a run (engine.md §6),
/// points in another.
enum class FilesRead : uint8_t { kAll, kCells };
/// What a reader of one family ("" = of all) need look at.
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

  // Tables. Pointers live as long as the engine, also to what a table was before it was altered or
  // dropped: what is written by them then may be lost, as if it had come before.
  Result<const Table*> FindTable(const std::string& name) const;
  [[nodiscard]] std::vector<const Table*> Tables() const;
  [[nodiscard]] const Table* points_table() const {
    return points_table_.load(std::memory_order_acquire);
  }
  Status CreateTable(const TableDescriptor& descriptor);
  Status AlterTable(const TableDescriptor& descriptor);
  Status DropTable(const std::string& name);
  [[nodiscard]] const ObserverChain& observers() const { return observers_; }

  // Who is told of changes to old rows (WatchedPoints).
  [[nodiscard]] ChangeListeners& listeners() { return listeners_; }
  void RaiseHorizon(uint32_t base);
  [[nodiscard]] uint32_t horizon() const { return horizon_.load(std::memory_order_acquire); }
  [[nodiscard]] bool RowsExpire() const;

  // Writes. What they return is to be given to Commit.
  Result<SeriesNumber> Register(ByteView tsuid);
  Status RegisterAll(std::span<const ByteView> tsuids, SeriesNumber* numbers);
  Result<LogPosition> Append(std::span<const PointEntry> batch);
  /// A mutation that depends on nothing stored. Changes were checked against the table.
  Result<LogPosition> Write(const Table& table, ByteView key,
                            const std::vector<CellChange>& changes);
  /// Appends to the append cell (codec::kAppendQualifier) of a regular row of the points table
  /// without a look at what is stored: the bytes are kept beside it until both are read or merged.
  Result<LogPosition> AppendToRow(const Table& table, ByteView key, ByteView bytes);
  /// Reads the row, asks `decide` what to do, and does it with nothing in between. `decide` sees
  /// the whole row as the cells door shows it and as it is stored; it fills the changes, or returns
  /// false to change nothing. It may be called more than once, and under the write lock: it must be
  /// quick.
  using Decide =
      std::function<Result<bool>(const StoredRow& row, std::vector<CellChange>* changes)>;
  struct Outcome {
    bool written = false;
    LogPosition position = 0;
  };
  Result<Outcome> ReadModifyWrite(const Table& table, ByteView key, const Decide& decide);
  /// The server time of a change made now; only for `decide`.
  [[nodiscard]] int64_t stamp_ms_locked() const {
    return std::max(clock_.NowMs(), stamp_floor_ms_);
  }
  void Commit(LogPosition position, std::function<void(Status)> done) {
    log_->Commit(position, std::move(done));
  }
  /// Blocks, unless the thread waits later (storage/base/commit_later.h).
  Status CommitAndWait(LogPosition position);
  Status Sync();

  // Reads.
  [[nodiscard]] IdleReaders& readers() const { return readers_; }
  [[nodiscard]] std::shared_ptr<const Version> Pin() const;
  /// The whole row, from all parts; from cell files alone, all but its points that are in files.
  Result<StoredRow> Read(const Version& version, const Table& table, ByteView key,
                         FilesRead files = FilesRead::kAll) const;
  /// The part of a regular row that one generation holds, read at one moment; false if it has none.
  bool ReadMemoryPart(const Generation& generation, const RowHourMemory* row, ByteView key,
                      bool with_objects, StoredRow* out) const;
  /// The bases in range of the series' rows that may hold points, rising.
  Status ListBases(const Version& version, SeriesNumber series, const RowRange& range,
                   std::vector<uint32_t>* bases) const;

  // Files.
  Status Flush();
  /// For who writes as fast as it can and may wait, as deletes do: flushes what would soon leave no
  /// room for others. Blocks then.
  Status LeaveRoom();
  Status Compact();
  Status Compact(const Table& table);
  /// See Points.
  Status DropFiles(const EndOfRows& end_of);

  // Regions. Any call may wait for merges of the region; writers and readers go on.
  /// Divides the region that has this key, at the given key (cut to a whole group of a points
  /// table), or in the middle of its files. Where it was divided. InvalidArgument: the key is not
  /// inside. Conflict: files of an earlier split are still shared, or there are no two groups.
  Result<Bytes> Split(const Table& table, ByteView key_of_region, const std::optional<Bytes>& at);
  /// Joins the region that begins with the key and the one before it. InvalidArgument: there is
  /// none, or they are of different salt buckets.
  Status MergeRegions(const Table& table, const Bytes& boundary);

  // What the threads do in the background, once; for tests without them.
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

  // engine_open.cc
  Status Start();
  Status LoadOrMakeManifest();
  Status AdoptStrayKeys();
  Status OpenRuns(Version* version);
  Status LoadSeries(const Version& version);
  /// `met`: series of records before, which are not in the registry yet.
  Status Replay(const lsm::LogRecord& record, ReplayPipe* pipe, TsuidList* met);
  void AddMet(TsuidList* met);
  // engine_tables.cc
  [[nodiscard]] bool HasFamiliesOf(const TableDescriptor& wanted) const;
  Status MakeFolderOf(const std::string& table);
  void AddTable(const lsm::TableEntry& entry);
  [[nodiscard]] const Table* TableById(uint32_t id) const;
  Status DropHeld(const Table& table, size_t regions);

  /// Then a stop need not wait for a flush.
  [[nodiscard]] bool memory_is_logged() const { return options_.durability != Durability::kNone; }

  // engine_register.cc
  Status AddSeries(std::span<const ByteView> tsuids, SeriesNumber* numbers);

  // engine_write.cc
  [[nodiscard]] uint64_t MemoryBytes() const { return active_bytes_ + *frozen_bytes_; }
  Status CheckWritable();
  /// To be asked under a lock that Close takes: then Close has yet to come.
  [[nodiscard]] Status CheckOpen() const;
  /// To memory, of what the log has. A want of memory here ends the process: a row that is half
  /// changed can be neither shown nor taken back, and the next start has it whole from the log.
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
  /// Takes the write lock of an open store, when all that the write changes below the horizon was
  /// told of. `oldest`: no row of the write has a lower base; `tell` is called without the lock.
  template <typename Tell>
  Status LockTold(uint32_t oldest, const Tell& tell, ToldRows* told,
                  std::unique_lock<std::mutex>* lock);
  struct RowsOfKey;
  Status LockTold(const RowsOfKey& rows, ToldRows* told, std::unique_lock<std::mutex>* lock);
  void AskForFlush();
  void Account();

  // Told to observers when it is done.
  [[nodiscard]] StoreWork BeginWork(StoreWork::Kind kind, uint32_t table) const;
  void EndWork(StoreWork work) const;

  // engine_read.cc
  Result<std::shared_ptr<const RunFiles>> OpenFiles(const lsm::RunEntry& entry);
  StoredRow ReadMemory(const Version& version, const Table& table, ByteView key, bool regular,
                       ByteView tsuid, uint32_t base) const;
  Result<StoredRow> ReadFiles(const Version& version, const Table& table, ByteView key,
                              bool regular, ByteView tsuid, uint32_t base,
                              FilesRead files = FilesRead::kAll) const;

  // engine_flush.cc
  // The middle ones expect maintenance_ to be held.
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
  [[nodiscard]] std::map<uint32_t, uint64_t> RowsOfDays(const Generation& generation,
                                                        const FlushJob& job) const;
  Status WritePointsRegion(const Generation& generation, FlushJob* job);
  Status WriteCellsRegion(const Generation& generation, FlushJob* job);
  static Status FinishRun(RunWriter* writer, std::vector<lsm::RunEntry>* entries);
  lsm::RunEntry NewEntry(uint32_t table, uint32_t region, const Generation& generation);
  void RemoveRunFiles(const lsm::RunEntry& entry);
  /// Of files that are written now.
  [[nodiscard]] std::string SpaceOf(uint32_t table) const;
  /// `made`: runs that the manifest names as the first one.
  Status Publish(lsm::Manifest manifest, std::shared_ptr<const Version> version,
                 const std::vector<lsm::RunEntry>& made = {});
  [[nodiscard]] bool NamedOnDisk(const std::vector<lsm::RunEntry>& runs) const;

  // Regions and their files. Whoever merges has taken its runs out of others' choice; whoever
  // divides or joins holds the region, and no merge is at work in it. Who drops files holds it,
  // too, beside the merges that have begun.
  using RegionPlace = std::pair<uint32_t, uint32_t>;  // ids of table and region
  struct MergeJob {
    RegionPlace place;
    Runs runs;            // newest first
    bool bottom = false;  // no older run has rows in common with them
    bool paced = false;
  };
  struct RegionWork {
    std::set<uint64_t> merging;  // numbers of runs
    bool held = false;
  };
  /// Others are merged meanwhile: what stops one region, a damaged block, is there the next time.
  struct FailedMerge {
    Status why;
    std::set<uint64_t> runs;  // its numbers: forgotten once one of them is gone
    /// Where room was wanting: so much free, it is tried again whatever the time; 0: it was not.
    uint64_t room_bytes = 0;
    int64_t wait_ms = 0;   // twice as long each time
    int64_t again_ms = 0;  // of the monotonic clock; not tried before
  };
  // engine_merge.cc
  void MergeLoop(MergePool pool);
  void WakeMerges();
  bool PickMerge(MergePool pool, MergeJob* job);
  [[nodiscard]] bool HasPoints(RegionPlace place) const;
  /// In how many of a region's runs a row may be.
  [[nodiscard]] size_t DepthOf(RegionPlace place, const Runs& runs) const;
  void EndMerge(const MergeJob& job);
  Status MergeJobRuns(const MergeJob& job);
  // engine_merge_failed.cc
  /// Puts the region of a merge that failed aside for a while.
  void NoteMerge(const MergeJob& job, const Status& status);
  void ForgetMended(const Version& version);  // with work_mutex_
  [[nodiscard]] bool MergeFailed(RegionPlace place) const;
  /// Of a region whose last merge failed, the first one; ok: there is none.
  [[nodiscard]] Status MergeFailure() const;
  /// "table tsdb, region [, \x00\x00\x02)".
  [[nodiscard]] std::string NameOf(RegionPlace place) const;
  [[nodiscard]] int64_t MonotonicMs() const { return clock_.MonotonicNs() / 1'000'000; }
  // engine_mend.cc
  /// The regions that have the run.
  [[nodiscard]] std::vector<RegionPlace> RegionsWith(uint64_t number) const;
  Status MendRun(uint64_t number, const std::vector<Damage>& damages, RepairReport* report);
  Status MendHeld(const std::vector<RegionPlace>& places, uint64_t number,
                  const std::vector<Damage>& damages, RepairReport* report);
  /// `damaged`: by number of the run.
  Status RewriteSeries(const std::map<uint64_t, std::vector<Damage>>& damaged,
                       RepairReport* report);
  Status RewriteSeriesHeld(RegionPlace place,
                           const std::map<uint64_t, std::vector<Damage>>& damaged,
                           RepairReport* report);
  // engine_drop.cc
  using MetricEnds = std::map<Bytes, uint32_t>;  // before which rows of a metric may go
  Status DropFilesHeld(RegionPlace place, const MetricEnds& ends);
  /// Before which all rows that a region may have may go.
  [[nodiscard]] uint32_t EndIn(const region::RegionMap& regions, size_t region,
                               const MetricEnds& ends) const;
  // engine_expiry.cc
  Status DropExpired();
  Status DropExpiredHeld(const Table& table, RegionPlace place, int64_t oldest_ms);
  /// About how much of a run of the points table a merge of all its region's runs would drop.
  [[nodiscard]] uint64_t ExpiredBytes(const Run& run, int64_t now_ms) const;
  Status WriteMerged(RegionPlace place, std::vector<MergeInput> inputs, bool bottom, bool paced,
                     std::vector<lsm::RunEntry>* written);
  void WaitForPace(region::Pace* pace, uint64_t bytes);
  Status CompactRegion(RegionPlace place);
  Status HoldRegions(const std::vector<RegionPlace>& places);
  void ReleaseRegions(const std::vector<RegionPlace>& places);
  /// Between both, and given back however the work ends.
  template <typename Work>
  Status WhileHeld(const std::vector<RegionPlace>& places, const Work& work) {
    RETURN_IF_ERROR(HoldRegions(places));
    const Status status = Survive(work);
    ReleaseRegions(places);
    return status;
  }
  static void RemoveEntries(RegionPlace place, const Runs& gone, lsm::Manifest* manifest);
  void RetireUnnamed(const Runs& gone);  // with maintenance_
  // engine_region.cc
  Result<Bytes> SplitHeld(const Table& table, RegionPlace place, const std::optional<Bytes>& at);
  Status MergeHeld(const Table& table, RegionPlace left, RegionPlace right);
  std::vector<region::GroupWeight> WeightsOf(const Table& table, const Runs& runs,
                                             const Bytes& start, const Bytes& stop,
                                             Status* failed) const;
  Status SidesOf(const Run& run, const Bytes& start, const Bytes& key, bool* before,
                 bool* behind) const;
  [[nodiscard]] Bytes SaltOf(const Bytes& start) const;
  static std::vector<lsm::RegionEntry>& RegionsIn(lsm::Manifest* manifest, uint32_t table);
  static size_t CountRegions(const Version& version);
  void SetVersion(std::shared_ptr<const Version> version);

  // Constant after Open.
  const EmbeddedOptions options_;
  FileSystem& files_;
  const Clock& clock_;
  std::unique_ptr<FileLock> lock_;
  std::unique_ptr<lsm::Log> log_;
  uint64_t memory_max_ = 0;  // bytes of unflushed memory

  // Thread-safe or guarded by themselves.
  mutable IdleReaders readers_;
  // Shared with files, which a reader may keep open longer than the engine lives.
  const std::shared_ptr<lsm::BlockCache> cache_;
  const std::shared_ptr<lsm::ReadCounters> read_counters_ = std::make_shared<lsm::ReadCounters>();
  std::atomic<const Table*> points_table_{nullptr};  // set once; altered later
  Registry registry_;
  std::atomic<uint64_t> active_bytes_{0};
  // Shared with the frozen generations: a reader may keep one longer than the engine lives.
  const std::shared_ptr<std::atomic<uint64_t>> frozen_bytes_ =
      std::make_shared<std::atomic<uint64_t>>(0);
  std::atomic<bool> flush_asked_{false};
  std::atomic<uint64_t> log_released_{0};  // position up to which the log is in files
  std::atomic<uint64_t> replayed_{0};
  std::atomic<uint64_t> dropped_runs_{0};  // counted when no new reader sees them any more
  const std::shared_ptr<WorkCounters> work_counters_ = std::make_shared<WorkCounters>();
  const ObserverChain observers_;
  std::atomic<bool> closed_{false};
  ChangeListeners listeners_;
  std::atomic<uint32_t> horizon_{0};  // rises under write_

  mutable std::shared_mutex tables_mutex_;
  std::vector<std::unique_ptr<Table>> all_tables_;       // guarded by tables_mutex_
  std::map<std::string, const Table*> tables_;           // guarded by tables_mutex_
  std::array<const Table*, kTablesMax> tables_by_id_{};  // guarded by tables_mutex_

  std::mutex maintenance_;
  lsm::Manifest manifest_;                   // as last written; guarded by maintenance_
  std::optional<int64_t> flush_put_off_ms_;  // since then; guarded by maintenance_

  mutable std::mutex work_mutex_;
  std::condition_variable work_done_;
  std::map<RegionPlace, RegionWork> work_;  // guarded by work_mutex_; nothing at work: no entry
  std::map<RegionPlace, FailedMerge> failed_merges_;  // guarded by work_mutex_
  std::map<RegionPlace, uint64_t> cannot_split_;  // of the thread that divides: bytes to try again

  std::atomic<uint64_t> next_number_{1};  // of files, never reused

  std::mutex register_;  // one caller at a time makes new series

  std::mutex write_;
  // Guarded by write_.
  uint64_t sequence_ = 0;
  // No server time is below it: the highest one so far, or one more where that was a delete's.
  int64_t stamp_floor_ms_ = 0;
  Generation* active_ = nullptr;  // version_'s first
  Bytes body_;

  mutable std::mutex version_mutex_;
  std::shared_ptr<const Version> version_;  // guarded by version_mutex_

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
