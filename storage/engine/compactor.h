#pragma once
// Replaces memtables and files by other files. The Compactor flushes memtables, merges files,
// splits and merges regions, and removes files that have expired or that retention deletes. Each
// operation writes its files first and then passes an Edit to FileSet::Apply. The Compactor also
// owns the threads that run these operations in the background.

#include <array>
#include <chrono>
#include <functional>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "storage/base/mutex.h"
#include "storage/base/survive.h"
#include "storage/engine/embedded.h"
#include "storage/engine/environment.h"
#include "storage/engine/file_set.h"
#include "storage/engine/idle_readers.h"
#include "storage/engine/memstore.h"
#include "storage/engine/running_scans.h"
#include "storage/engine/table_catalog.h"
#include "storage/engine/version.h"
#include "storage/points/points.h"
#include "storage/points/watched_points.h"
#include "storage/region/merge_policy.h"
#include "storage/region/split_policy.h"

namespace hg::engine {

class PartWriter;
struct MergeInput;

/// Runs flushes, merges and other changes of files. Thread-safe. Once the store is closed,
/// functions start no work, and most of them return Unavailable.
///
/// Lock order: regions_mutex_ or sweep_mutex_ → the locks of FileSet and Memstore. No thread holds
/// both regions_mutex_ and sweep_mutex_. A thread takes work_mutex_ while it holds no lock, or only
/// regions_mutex_ or sweep_mutex_. A thread that holds work_mutex_ may take only the FileSet's
/// version lock. background_mutex_ is a leaf lock: a thread that holds it takes no other lock. A
/// sweep holds sweep_mutex_, and a flush holds regions_mutex_, while it writes files. A merge
/// writes files without a lock. MergeRegions holds regions_mutex_ while it rewrites parts that
/// flushes have added meanwhile. Split holds it while it reads some keys.
class Compactor {
 public:
  /// All arguments must outlive the object.
  Compactor(const Environment& env, FileSet& file_set, const TableCatalog& tables,
            Memstore& memstore, IdleReaders& readers, RunningScans& running_scans,
            const ChangeListeners& listeners);

  /// Starts the background threads. Without this call, flushes, merges and splits run only when
  /// they are requested.
  void Start();
  /// Joins the threads and waits for all other work. Call Stop once, after Environment::Close. If
  /// `flush` is true, Stop then flushes the memtables and returns the error of this flush.
  Status Stop(bool flush) EXCLUDES(regions_mutex_);
  /// Calls FileSet::ReleaseUnused. If readers still use something, a background thread repeats the
  /// call.
  void ReleaseUnused() EXCLUDES(background_mutex_);
  /// Wakes the flush thread, which then checks for flush requests and the size of the memtables.
  void WakeFlush() EXCLUDES(background_mutex_);

  /// Flushes all memtables. Waits for a running flush, and for changes of tables and regions.
  Status Flush() EXCLUDES(regions_mutex_);
  /// Callers that write much and may wait, such as deletes, call this function. If the active
  /// memtable exceeds an eighth of Environment::memory_max, LeaveRoom calls Flush. Returns Busy if
  /// the flush failed, and Unavailable if it returned Unavailable.
  Status LeaveRoom();
  /// Removes expired parts, merges all parts of each region of all tables, and sweeps series.
  /// Errors of `context` end the merges. nullptr = only closing the store ends them.
  Status Compact(RequestContext* context = nullptr);
  Status Compact(const Table& table, RequestContext* context = nullptr);
  /// Removes files as Points::DropFiles describes. Skips regions that other work has locked.
  Status DropFiles(const EndOfRows& end_of);

  // The following functions change regions. They wait for merges of the region and for flushes, and
  // return NotFound if the table was dropped. Reads and writes continue while a region changes.
  /// Splits the region that contains `key_of_region` and returns the boundary between the two new
  /// regions: `at` if it is set, and else about the middle of the region's files. The boundary is
  /// moved to the start of a group of rows (metric and hour in a points table, or a prefix of the
  /// split policy). Returns InvalidArgument if it is not inside the region, Conflict if the region
  /// shares files after a split or has no two groups, LimitExceeded if there are too many regions.
  Result<Bytes> Split(const Table& table, ByteView key_of_region, const std::optional<Bytes>& at);
  /// Merges the region that begins with `boundary` with the region before it. Returns
  /// InvalidArgument if no region begins at `boundary`, or if the two regions belong to different
  /// salt buckets.
  Status MergeRegions(const Table& table, const Bytes& boundary, RequestContext* context = nullptr);

  // Each of the following functions does the work of one round of a background thread. Tests
  // without background threads call these functions directly.
  enum class MergePool : uint8_t { kAny, kSmall, kLarge };  // kLarge: above merge.large_bytes
  /// Removes the series that have no rows in memory or in files from the registry
  /// (Registry::Forget). Keeps series whose registration was not flushed yet. Rollups count as
  /// rows. Deleted or expired rows also count as rows until a merge removes them. First reads
  /// the day indexes of files. For files without one, reads at most one block per series and points
  /// file, and the cell files of tables whose row keys contain series. Stops as soon as rows of all
  /// series are found. Writes the list of series again if many of its series were removed.
  Status SweepSeries() EXCLUDES(sweep_mutex_);
  Status FlushIfNeeded() EXCLUDES(regions_mutex_);
  Status MergePending(MergePool pool);
  Status SplitWhereDue();

  // The following functions are for code that changes tables or repairs files.
  /// Runs `change` under regions_mutex_: no flush and no other change of tables or regions runs.
  template <typename Change>
  Status ChangeTables(const Change& change) EXCLUDES(regions_mutex_) {
    MutexLock lock(regions_mutex_);
    RETURN_IF_ERROR(env_.CheckOpen());
    return change();
  }
  /// Waits for other work in the regions `places`, locks these regions and runs `work`. Meanwhile,
  /// only flushes may add parts to the regions. The regions are unlocked even if `work` fails or
  /// throws; an exception becomes Unavailable.
  template <typename Work>
  Status WhileHeld(const std::vector<RegionPlace>& places, const Work& work) EXCLUDES(work_mutex_) {
    RETURN_IF_ERROR(HoldRegions(places));
    const Status status = Survive(work);
    ReleaseRegions(places);
    return status;
  }
  /// Replaces the files of the list of series by one file without forgotten series. Calls `prepare`
  /// first; if this fails, changes nothing. Returns the number of series in the new file.
  Result<uint32_t> RewriteSeries(const std::function<Status(const Edit&)>& prepare)
      EXCLUDES(work_mutex_);
  /// Call this function after files were repaired. Merges that failed because of damaged files are
  /// then tried again.
  void AfterRepair() EXCLUDES(work_mutex_);

  /// Sets the members of `stats` that describe background work.
  void AddTo(EmbeddedStats* stats) const EXCLUDES(work_mutex_);

 private:
  // BeginWork starts the report of a flush, a merge or other background work. EndWork reports the
  // work to the observers.
  [[nodiscard]] StoreWork BeginWork(StoreWork::Kind kind, uint32_t table) const;
  void EndWork(StoreWork work) const;
  [[nodiscard]] std::string NameOf(RegionPlace place) const {
    return tables_.NameOf(*file_set_.Pin(), place);
  }
  [[nodiscard]] const KeyLayout& layout() const { return env_.layout(); }

  // The background threads. Each has a flag that wakes the thread, and the error of its last round.
  enum Worker : size_t { kFlush, kSmallMerges, kLargeMerges, kSeriesSweep, kRelease, kWorkers };
  struct WorkerState {
    bool wanted = false;
    Status error;
  };
  /// Sleeps until the worker is woken, at most for `time`. Returns false if the worker must end.
  bool SleepUntilWanted(Worker worker, std::chrono::milliseconds time) EXCLUDES(background_mutex_);
  /// Sleeps for `time`. If the threads must end, returns earlier.
  void Pause(std::chrono::milliseconds time) EXCLUDES(background_mutex_);
  void EndRound(Worker worker, Status status) EXCLUDES(background_mutex_);
  void FlushLoop();
  void MergeLoop(MergePool pool);
  void SweepLoop();
  void ReleaseLoop();
  void WakeMerges() EXCLUDES(background_mutex_);

  // The following functions are in compactor_flush.cc.
  bool PutOff(const Version& version) REQUIRES(regions_mutex_);
  void TakeMemoryFromReaders();
  Status FlushMemory() REQUIRES(regions_mutex_);
  Status FlushFrozen() REQUIRES(regions_mutex_);
  Status FlushOldest() REQUIRES(regions_mutex_);
  struct FlushJob;
  /// Writes the data of the memtable to files. Also counts the points and cells of each region in
  /// `writes`, whose keys are region ids.
  Status WriteMemtable(const Memtable& memtable, std::vector<lsm::PartEntry>* entries,
                       std::map<uint32_t, uint64_t>* writes) REQUIRES(regions_mutex_);
  void RunFlushJobs(const Memtable& memtable, std::vector<FlushJob>& jobs);
  Status WriteSeries(const Memtable& memtable, std::vector<lsm::PartEntry>* entries);
  [[nodiscard]] std::map<uint32_t, uint64_t> RowsOfDays(const Memtable& memtable,
                                                        const FlushJob& job) const;
  Status WritePointsRegion(const Memtable& memtable, FlushJob* job);
  Status WriteCellsRegion(const Memtable& memtable, FlushJob* job);
  /// Returns Unavailable if the store is being closed and its log keeps the unflushed data.
  /// Engine::Close then does not wait for the flush.
  Status CheckFlushNeeded() const;
  static Status FinishPart(PartWriter* writer, std::vector<lsm::PartEntry>* entries);
  lsm::PartEntry NewEntry(uint32_t table, uint32_t region, const Memtable& memtable);

  // How work is reserved: A merge reserves its input parts (RegionWork::merging). A split or a
  // region merge locks the whole region (RegionWork::held) and waits until no merge runs in the
  // region. Dropping files also locks the region, but merges that already run continue.
  struct MergeJob {
    RegionPlace place;
    Parts parts;                        // the parts to merge, newest first
    bool bottom = false;                // whether no older part has rows in common with `parts`
    bool paced = false;                 // whether pace_ limits the write rate
    RequestContext* context = nullptr;  // its errors end the merge
  };
  struct RegionWork {
    std::set<uint64_t> merging;  // numbers of the parts that merges have reserved
    bool held = false;
  };
  /// A region whose last merge failed. The merge threads then merge other regions, because the
  /// cause of the failure, such as a damaged block, does not disappear by itself.
  struct FailedMerge {
    Status why;
    /// Numbers of the merge's input parts. When one of these parts is removed, the failure is
    /// forgotten.
    std::set<uint64_t> parts;
    /// If the disk had too little space for the merge: the number of free bytes with which it
    /// is retried, even before again_ms. 0 means that the merge failed for another reason.
    uint64_t room_bytes = 0;
    int64_t wait_ms = 0;   // pause before a retry, in ms; doubles with each failure, up to a limit
    int64_t again_ms = 0;  // time of the next retry on the monotonic clock, in ms
  };
  Status HoldRegions(const std::vector<RegionPlace>& places) EXCLUDES(work_mutex_);
  void ReleaseRegions(const std::vector<RegionPlace>& places) EXCLUDES(work_mutex_);

  // The following functions are in compactor_merge.cc.
  bool PickMerge(MergePool pool, MergeJob* job) EXCLUDES(work_mutex_);
  /// Returns how many parts of the region may contain the same row, at most.
  [[nodiscard]] size_t DepthOf(RegionPlace place, const Parts& parts) const;
  void EndMerge(const MergeJob& job) EXCLUDES(work_mutex_);
  Status MergeJobParts(const MergeJob& job);
  Status WriteMerged(RegionPlace place, std::vector<MergeInput> inputs, bool bottom, bool paced,
                     RequestContext* context, std::vector<lsm::PartEntry>* written);
  struct MergePressure;
  void WaitForPace(MergePressure* pressure, uint64_t bytes);
  Status CompactRegions(const std::vector<RegionPlace>& places, RequestContext* context);
  Status CompactRegion(RegionPlace place, RequestContext* context);
  // The following functions are in compactor_merge_failed.cc.
  /// Records the result of a merge. After a failure, the region is not merged for some time.
  void NoteMerge(const MergeJob& job, const Status& status) EXCLUDES(work_mutex_);
  /// Forgets the failures of merges whose input parts are gone.
  void ForgetMended() EXCLUDES(work_mutex_);
  void ForgetMendedIn(const Version& version) REQUIRES(work_mutex_);
  [[nodiscard]] bool MergeFailed(RegionPlace place) const EXCLUDES(work_mutex_);
  /// Returns the error of the first region whose last merge failed. Returns ok if no last merge
  /// failed.
  [[nodiscard]] Status MergeFailure() const EXCLUDES(work_mutex_);
  // The following functions are in compactor_drop.cc.
  // Maps the UID of a metric to the time, in seconds, before which its rows may be dropped.
  using MetricEnds = std::map<Bytes, uint32_t>;
  Status DropFilesHeld(RegionPlace place, const MetricEnds& ends);
  /// Returns the time, in seconds, before which all rows of the region may be dropped. 0 = no rows.
  [[nodiscard]] uint32_t EndIn(const region::RegionMap& regions, size_t region,
                               const MetricEnds& ends) const;
  // The following functions are in compactor_expiry.cc.
  Status DropExpired();
  Status DropExpiredHeld(const Table& table, RegionPlace place, int64_t oldest_ms);
  /// Estimates how many bytes of a part of the points table have expired. A merge of all parts of
  /// its region would remove these bytes.
  [[nodiscard]] uint64_t ExpiredBytes(const Part& part, int64_t now_ms) const;
  // The following class is in compactor_series.cc.
  class SeriesSearch;
  // The following functions are in compactor_region.cc.
  Result<Bytes> SplitHeld(const Table& table, RegionPlace place, const std::optional<Bytes>& at);
  Status MergeHeld(const Table& table, RegionPlace left, RegionPlace right,
                   RequestContext* context);
  std::vector<region::GroupWeight> WeightsOf(const Table& table, const Parts& parts,
                                             const Bytes& start, const Bytes& stop,
                                             Status* failed) const;
  Status SidesOf(const Part& part, const Bytes& start, const Bytes& key, bool* before,
                 bool* behind) const;
  [[nodiscard]] Bytes SaltOf(const Bytes& start) const;

  const Environment& env_;
  FileSet& file_set_;
  const TableCatalog& tables_;
  Memstore& memstore_;
  const Registry& registry_;  // the registry of the memstore
  IdleReaders& readers_;
  RunningScans& running_scans_;
  const ChangeListeners& listeners_;

  // A thread holds this lock while it changes tables or regions, and during a whole flush. A flush
  // writes files per region, so only one flush may run, and regions must not change during the
  // flush. Merges and file drops continue.
  Mutex regions_mutex_;
  // The time (Clock::NowMs) at which the flush that is now due was first postponed, if it was.
  std::optional<int64_t> flush_put_off_ms_ GUARDED_BY(regions_mutex_);

  // A thread holds this lock during a sweep. The thread must hold no other lock of the engine when
  // it takes sweep_mutex_.
  Mutex sweep_mutex_;

  region::Pace pace_;  // limits the total write rate of all background merges; thread-safe

  mutable Mutex work_mutex_;
  CondVar work_done_;
  std::map<RegionPlace, RegionWork> work_ GUARDED_BY(work_mutex_);  // idle regions have no entry
  std::map<RegionPlace, FailedMerge> failed_merges_ GUARDED_BY(work_mutex_);
  // A region that could not be split. `table` is the table of the region; altering a table replaces
  // its object. `bytes` is the size at which a split is tried again.
  struct Unsplit {
    const Table* table = nullptr;
    uint64_t bytes = 0;
  };
  // Only one thread uses this member: the thread of the small merges, or the thread of a test
  // without background threads.
  std::map<RegionPlace, Unsplit> cannot_split_;

  mutable Mutex background_mutex_;
  CondVar background_wake_;
  std::array<WorkerState, kWorkers> workers_ GUARDED_BY(background_mutex_);
  bool stop_ GUARDED_BY(background_mutex_) = false;
  std::array<std::thread, kWorkers> threads_;  // used only by Start and Stop
};

/// Returns the number of regions of all tables.
size_t CountRegions(const Version& version);
/// Returns LimitExceeded if the store would have too many regions after adding `more` regions.
Status CheckRegionCount(const Environment& env, const Version& version, size_t more);

}  // namespace hg::engine
