#pragma once
// The embedded store is one data directory with a cell store and a point store
// (storage/engine/README.md). The daemon and the tools open the embedded store with Embedded::Open.

#include <atomic>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "storage/base/clock.h"
#include "storage/base/file.h"
#include "storage/base/status.h"
#include "storage/maintenance.h"
#include "storage/model/key_layout.h"
#include "storage/points/observer.h"
#include "storage/points/points.h"
#include "storage/points/watched_points.h"
#include "storage/region/merge_policy.h"
#include "storage/region/split_policy.h"
#include "storage/store.h"

namespace hg {

/// What the store guarantees when it acknowledges a write (region-store.md §11.4).
enum class Durability : unsigned char {
  kNone,      // points stay in memory until a flush; ids, names and new series are still logged
  kBuffered,  // a write is in the log file within 1 s
  kLogged,    // a write is in the log file when acknowledged: survives a killed process
  kSynced,    // a write is synced when acknowledged: survives a power failure
};

struct EmbeddedOptions {
  std::string path = "data";  // path of the data directory, which is created if it is missing
  KeyLayout layout;
  Durability durability = Durability::kLogged;
  int sync_interval_ms = 1000;  // interval of background fdatasync calls; kBuffered: at most 1000
  uint64_t memory_limit_bytes = uint64_t{1} << 30;  // the setting tsd.memory.limit
  /// memory_share and cache_share are shares of memory_limit_bytes. Their sum is at most 0.8.
  double memory_share = 0.4;  // share of the limit for unflushed data, names and series
  double cache_share = 0.15;  // share of the limit for cached blocks
  uint64_t log_max_bytes = uint64_t{512} << 20;  // size of the unflushed log that starts a flush
  uint64_t log_file_bytes = uint64_t{64} << 20;  // size of one log file
  // The age in milliseconds at which a memtable is flushed. A delay of up to a tenth of this age is
  // added, so that stores that were started together do not flush together.
  int64_t flush_age_ms = 3'600'000;
  /// The maximum time in milliseconds for which a flush is postponed. A flush is postponed while a
  /// row of some region may be in merge.parts_blocking parts or more, unless memory is scarce.
  int64_t flush_put_off_max_ms = 90'000;
  /// Whether background threads flush, merge and split. If `background` is false, the store does
  /// this work only on request, so that a tool can read a store without changing its files.
  bool background = true;
  region::MergePolicy merge;
  region::SplitPolicy split;
  uint64_t open_files_max = UINT64_MAX;  // maximum number of files that the process may open
  int64_t check_interval_ms = 60'000;    // interval in ms of the checks for due merges and splits
  /// Interval in milliseconds of the searches for series that have no rows any more. The first
  /// search starts check_interval_ms after the opening. 0 = only Compactor::Compact searches.
  int64_t sweep_interval_ms = 3'600'000;
  /// The value of tsd.storage.enable_compaction. It controls whether the cell store may return the
  /// points of an old row as one compacted cell.
  bool enable_compaction = true;
  StoreObservers observers;
  /// Memory in bytes of the names that the process keeps outside the store, such as cached names.
  /// These names count against memory_share, as series do. A null pointer means that there are no
  /// such names.
  std::shared_ptr<const std::atomic<uint64_t>> name_bytes;
  /// A text that other processes see in the error message when they find the data directory locked,
  /// such as "127.0.0.1:4242".
  std::string lock_note;
  /// Tables to create in Open if they do not exist. The default is OpenTSDB's four tables.
  std::vector<TableDescriptor> tables = DefaultTables();

  /// Returns the default tables with the given names: tsdb (family t, points), tsdb-uid (families
  /// id and name), tsdb-meta (name) and tsdb-tree (t).
  static std::vector<TableDescriptor> DefaultTables(const std::string& data = "tsdb",
                                                    const std::string& uid = "tsdb-uid",
                                                    const std::string& meta = "tsdb-meta",
                                                    const std::string& tree = "tsdb-tree");
};

struct EmbeddedStats {
  uint64_t series = 0;
  uint64_t memory_bytes = 0;        // size of all memtables, also of flushed ones that readers use
  uint64_t memory_limit_bytes = 0;  // while memory_bytes exceeds this limit, Append returns Busy
  uint64_t registry_bytes = 0;      // memory of the series that are not in mapped files
  uint64_t registry_mapped_bytes = 0;  // size of the mapped files of series
  uint64_t name_bytes = 0;             // memory of names that the process keeps outside the store
  uint64_t file_memory_bytes = 0;      // memory of block indexes of all open files
  uint64_t refused_series = 0;  // number of calls that were denied memory for series or names
  /// Whether series, names and indexes of files need so much memory that new names are rejected,
  /// even after a flush.
  bool series_full = false;
  bool series_refused_now = false;  // whether new names are rejected, perhaps only until a flush
  uint64_t file_count = 0;
  uint64_t file_bytes = 0;
  uint64_t log_bytes = 0;  // size of the log whose records are not flushed to files yet
  uint64_t flushes = 0;
  uint64_t merges = 0;
  uint64_t flushed_bytes = 0;     // bytes of files written by flushes
  uint64_t merge_read_bytes = 0;  // bytes of files read by merges
  uint64_t merged_bytes = 0;      // bytes of files written by merges
  uint64_t expired_parts = 0;     // number of parts removed without reading: all rows had expired
  uint64_t dropped_parts = 0;     // number of parts that Points::DropFiles removed without reading
  uint64_t splits = 0;
  uint64_t cache_bytes = 0;  // size of the block cache; the next three members count its use
  uint64_t cache_hits = 0;
  uint64_t cache_misses = 0;
  uint64_t cache_evicted = 0;
  uint64_t blocks_read = 0;        // number of blocks read from files on disk
  uint64_t skipped_by_bloom = 0;   // number of file accesses that Bloom filters avoided
  uint64_t forgotten_bytes = 0;    // bytes of merged files that were dropped from the page cache
  uint64_t skipped_by_time = 0;    // number of file accesses that time spans of files avoided
  uint64_t regions = 0;            // number of regions of all tables
  uint64_t regions_unmerged = 0;   // number of regions whose last merge failed
  uint64_t replayed_records = 0;   // number of log records replayed when the store was opened
  uint64_t observer_failures = 0;  // number of exceptions that observers threw
  std::string background_error;    // error of a background thread's last round; "" = no error
};

/// An open embedded store. Thread-safe after Open. Exactly one table of the options must have
/// points = true. points() reads and writes that table.
class Embedded {
 public:
  virtual ~Embedded() = default;  // the destructor closes the store

  /// Opens the store, or creates the store in an empty directory. Returns Busy if another process
  /// uses the directory; the message contains the lock_note of that process. Returns
  /// InvalidArgument if an option is invalid, or if the directory has another layout; the message
  /// names the width that differs. Returns Corruption if a file is damaged; the message names the
  /// file and the offset. `files` and `clock` must outlive the object.
  static Result<std::unique_ptr<Embedded>> Open(const EmbeddedOptions& options,
                                                FileSystem& files = PosixFileSystem(),
                                                const Clock& clock = SystemClock());

  virtual Store& cells() = 0;
  virtual Points& points() = 0;
  /// Returns the store of points() as WatchedPoints, which can register change listeners.
  virtual WatchedPoints& watched() = 0;
  /// Checks whether a new series may be registered now. `name_bytes` is the memory that the new
  /// names of the series need. Call this function before any of these names gets an id, so that a
  /// rejected point leaves no name behind. Returns Exhausted if there is no memory for new series.
  /// The store may still accept points of known series. The message says whether a flush will free
  /// memory. Returns Busy and Unavailable in the same cases as Points::Append. Does no I/O.
  virtual Status MayAddSeries(uint64_t name_bytes) = 0;
  [[nodiscard]] virtual EmbeddedStats Stats() const = 0;
  virtual Maintenance& maintenance() = 0;
  /// Rejects new writes, stops the threads, writes and syncs the log, and releases the lock of the
  /// directory. Flushes memtables only with the durability kNone, because only then the points are
  /// not in the log. After Close, writes return Unavailable, and further calls of Close return ok.
  virtual Status Close() = 0;
};

}  // namespace hg
