#pragma once
// The embedded store: one data directory behind both doors (engine.md). The daemon and the tools
// open it here.

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

/// What an acknowledgement promises (spec region-store.md §11.4).
enum class Durability : unsigned char {
  kNone,      // points are in memory until a flush; ids, names and new series are still logged
  kBuffered,  // written to the log within 1 s
  kLogged,    // in the log file before the ack: survives a killed process
  kSynced,    // fdatasync before the ack: survives a power cut
};

struct EmbeddedOptions {
  std::string path = "data";  // created when missing
  KeyLayout layout;
  Durability durability = Durability::kLogged;
  int sync_interval_ms = 1000;                      // background fdatasync of `logged`
  uint64_t memory_limit_bytes = uint64_t{1} << 30;  // tsd.memory.limit
  double memory_share = 0.4;  // of the limit: unflushed memory, names and series
  double cache_share = 0.15;  // of the limit: blocks of files; both together at most 0.8
  uint64_t log_max_bytes = uint64_t{512} << 20;  // unflushed log at which memory is flushed
  uint64_t log_file_bytes = uint64_t{64} << 20;  // one log file
  int64_t flush_age_ms = 3'600'000;  // memory older than this is flushed, at most a tenth later
  /// A flush waits so long for merges where a region has merge.runs_blocking runs.
  int64_t flush_put_off_max_ms = 90'000;
  /// Flushes, merges and splits on own threads. Off: only when asked, so that a tool which looks at
  /// a store leaves its files as they are.
  bool background = true;
  region::MergePolicy merge;
  region::SplitPolicy split;
  int64_t check_interval_ms = 60'000;  // merges and splits are looked for, flush or not
  bool enable_compaction =
      true;  // tsd.storage.enable_compaction: how old clean rows are rendered (engine.md §8)
  StoreObservers observers;
  std::string lock_note;  // shown to whoever finds the directory locked, such as "127.0.0.1:4242"
  /// Tables that must exist after Open; created if missing. Default: OpenTSDB's four.
  std::vector<TableDescriptor> tables = DefaultTables();

  /// tsdb (family t, points), tsdb-uid (id, name), tsdb-meta (name), tsdb-tree (t).
  static std::vector<TableDescriptor> DefaultTables(const std::string& data = "tsdb",
                                                    const std::string& uid = "tsdb-uid",
                                                    const std::string& meta = "tsdb-meta",
                                                    const std::string& tree = "tsdb-tree");
};

struct EmbeddedStats {
  uint64_t series = 0;
  uint64_t memory_bytes = 0;        // unflushed
  uint64_t memory_limit_bytes = 0;  // at which Append answers Busy
  uint64_t registry_bytes = 0;
  uint64_t file_count = 0;
  uint64_t file_bytes = 0;
  uint64_t log_bytes = 0;  // unflushed log
  uint64_t flushes = 0;
  uint64_t merges = 0;
  uint64_t flushed_bytes = 0;     // of the files that flushes wrote
  uint64_t merge_read_bytes = 0;  // of the files that merges read, and
  uint64_t merged_bytes = 0;      // wrote
  uint64_t expired_runs = 0;      // dropped unread, everything in them past its TTL
  uint64_t dropped_runs = 0;      // likewise by Points::DropFiles
  uint64_t splits = 0;
  uint64_t cache_bytes = 0;  // of the block cache, as the next ones
  uint64_t cache_hits = 0;
  uint64_t cache_misses = 0;
  uint64_t cache_evicted = 0;
  uint64_t blocks_read = 0;        // of files, from the disk
  uint64_t skipped_by_bloom = 0;   // looks into a file that a get was spared
  uint64_t forgotten_bytes = 0;    // of files that merges took out of the page cache
  uint64_t skipped_by_time = 0;    // that a reader was spared: the file holds other times
  uint64_t regions = 0;            // of all tables
  uint64_t regions_unmerged = 0;   // whose last merge failed
  uint64_t replayed_records = 0;   // at Open
  uint64_t observer_failures = 0;  // what observers threw
  std::string background_error;    // a failure of a flush, or of a region's merge; "" = none
};

/// Thread-safe after Open. Exactly one table of the options has points = true; it is the one behind
/// points().
class Embedded {
 public:
  virtual ~Embedded() = default;  // closes

  /// Busy: the directory is in use (which process and its note). InvalidArgument: the layout
  /// differs from the one the directory was created with (which width). Corruption: file and
  /// offset. `files` and `clock` outlive the object.
  static Result<std::unique_ptr<Embedded>> Open(const EmbeddedOptions& options,
                                                FileSystem& files = PosixFileSystem(),
                                                const Clock& clock = SystemClock());

  virtual Store& cells() = 0;
  virtual Points& points() = 0;
  /// The engine behind both doors.
  virtual WatchedPoints& watched() = 0;
  [[nodiscard]] virtual EmbeddedStats Stats() const = 0;
  virtual Maintenance& maintenance() = 0;
  /// Refuses writers, stops the threads, writes and syncs the log, releases the lock. Memory is
  /// flushed only where the log does not hold it (kNone). Later calls answer Unavailable.
  /// Idempotent.
  virtual Status Close() = 0;
};

}  // namespace hg
