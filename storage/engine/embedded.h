#pragma once
// The embedded store: one data directory with a cell store and a point store
// (storage/engine/README.md). The daemon and the tools open it with Embedded::Open.

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
  std::string path = "data";  // created if missing
  KeyLayout layout;
  Durability durability = Durability::kLogged;
  int sync_interval_ms = 1000;  // interval of the background fdatasync with kLogged
  uint64_t memory_limit_bytes = uint64_t{1} << 30;  // tsd.memory.limit
  double memory_share = 0.4;  // share of the limit for unflushed memory, names and series
  double cache_share = 0.15;  // share for cached blocks; memory_share + cache_share is at most 0.8
  uint64_t log_max_bytes = uint64_t{512} << 20;  // size of the unflushed log that triggers a flush
  uint64_t log_file_bytes = uint64_t{64} << 20;  // size of one log file
  // A memtable that is this old is flushed. Some flushes start up to a tenth of this time later.
  int64_t flush_age_ms = 3'600'000;
  /// While a region has merge.parts_blocking parts or more, a flush is postponed, for at most this
  /// time in milliseconds.
  int64_t flush_put_off_max_ms = 90'000;
  /// Whether background threads flush, merge and split. If false, this happens only on request, so
  /// that a tool can read a store without changing its files.
  bool background = true;
  region::MergePolicy merge;
  region::SplitPolicy split;
  uint64_t open_files_max = UINT64_MAX;  // number of files that the process may open
  int64_t check_interval_ms = 60'000;    // interval of the checks for due merges and splits
  /// Interval of the searches for series that have no rows any more. The first search follows after
  /// check_interval_ms. 0 = no searches.
  int64_t sweep_interval_ms = 3'600'000;
  /// The value of tsd.storage.enable_compaction: whether the cell store may show the points of an
  /// old row as one compacted cell.
  bool enable_compaction = true;
  StoreObservers observers;
  /// Memory in bytes of the names that the process caches outside the store (uid/name_cache.h). The
  /// names count against memory_share, as series do. Null: there are no such names.
  std::shared_ptr<const std::atomic<uint64_t>> name_bytes;
  /// A text for processes that find the directory locked, such as "127.0.0.1:4242".
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
  uint64_t memory_bytes = 0;        // memory that is not flushed to files yet
  uint64_t memory_limit_bytes = 0;  // above it, Append returns Busy
  uint64_t registry_bytes = 0;
  uint64_t name_bytes = 0;         // names that the process keeps outside the store
  uint64_t file_memory_bytes = 0;  // block indexes and filters of all open files
  uint64_t refused_series = 0;  // new series and names that were rejected because memory was short
  /// Whether series, names and indexes of files need so much memory that new names are rejected and
  /// a flush would not help.
  bool series_full = false;
  uint64_t file_count = 0;
  uint64_t file_bytes = 0;
  uint64_t log_bytes = 0;  // size of the log whose records are not flushed to files yet
  uint64_t flushes = 0;
  uint64_t merges = 0;
  uint64_t flushed_bytes = 0;     // bytes of files written by flushes
  uint64_t merge_read_bytes = 0;  // bytes of files read by merges
  uint64_t merged_bytes = 0;      // bytes of files written by merges
  uint64_t expired_parts = 0;  // parts removed without reading them, because their TTL had expired
  uint64_t dropped_parts = 0;  // parts that Points::DropFiles removed without reading them
  uint64_t splits = 0;
  uint64_t cache_bytes = 0;  // this and the next three members describe the block cache
  uint64_t cache_hits = 0;
  uint64_t cache_misses = 0;
  uint64_t cache_evicted = 0;
  uint64_t blocks_read = 0;        // blocks read from files on disk
  uint64_t skipped_by_bloom = 0;   // file accesses that Bloom filters made unnecessary
  uint64_t forgotten_bytes = 0;    // bytes of merged files that were dropped from the page cache
  uint64_t skipped_by_time = 0;    // file accesses avoided because the file holds other times
  uint64_t regions = 0;            // number of regions of all tables
  uint64_t regions_unmerged = 0;   // regions whose last merge failed
  uint64_t replayed_records = 0;   // log records that were replayed when the store was opened
  uint64_t observer_failures = 0;  // exceptions that observers threw
  std::string background_error;    // error of the last failed flush or merge; "" = none
};

/// Thread-safe after Open. Exactly one table of the options must have points = true. points() reads
/// and writes that table.
class Embedded {
 public:
  virtual ~Embedded() = default;  // the destructor closes the store

  /// Opens the store, or creates it in an empty directory. Busy: another process uses the
  /// directory; the error message contains that process's lock_note. InvalidArgument: the directory
  /// was created with another layout; the message names the width. Corruption: the message names
  /// file and offset. `files` and `clock` must outlive the object.
  static Result<std::unique_ptr<Embedded>> Open(const EmbeddedOptions& options,
                                                FileSystem& files = PosixFileSystem(),
                                                const Clock& clock = SystemClock());

  virtual Store& cells() = 0;
  virtual Points& points() = 0;
  /// Returns the same points as points(), with the functions that register change listeners.
  virtual WatchedPoints& watched() = 0;
  /// Checks whether a new series whose new names need `name_bytes` of memory may be registered now.
  /// Call this function before any of these names gets an id, so that a rejected point leaves no
  /// name behind. Exhausted: there is no memory for the series, but known series are accepted; the
  /// message says whether a flush will free memory. Busy and Unavailable: as for Points::Append.
  /// Never blocks.
  virtual Status MayAddSeries(uint64_t name_bytes) = 0;
  [[nodiscard]] virtual EmbeddedStats Stats() const = 0;
  virtual Maintenance& maintenance() = 0;
  /// Rejects new writes, stops the threads, writes and syncs the log, and releases the lock.
  /// Flushes memtables only with the durability kNone, because only then the points are not in the
  /// log. Later calls of other functions return Unavailable. Idempotent.
  virtual Status Close() = 0;
};

}  // namespace hg
