#pragma once
// An open store of the program: a cell store and a point store that have the same lifetime. The
// program does not know which engine it uses. tsd/open_backend.cc and tests/support/model_tsdb.cc
// choose the engine.

#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>

#include "storage/base/latency.h"
#include "storage/base/status.h"
#include "storage/maintenance.h"
#include "storage/points/points.h"
#include "storage/points/watched_points.h"
#include "storage/store.h"
#include "tsd/config.h"

namespace hg::tsd {

/// A function that receives one number for /api/stats. Its arguments are the name without "tsd.",
/// the tags in the form "k=v k=v", and the value.
using StatVisitor =
    std::function<void(const std::string& name, const std::string& tags, int64_t value)>;

/// A function that receives one latency histogram for /metrics. Its arguments are the histogram,
/// its name, and its tags in the form "k=v k=v".
using LatencyVisitor =
    std::function<void(const std::string& name, const std::string& tags, const LatencyHistogram&)>;

/// An open store. The cell store and the point store are thread-safe.
class Backend {
 public:
  virtual ~Backend() = default;

  virtual Store& cells() = 0;
  virtual Points& points() = 0;
  /// Returns whether the engine stores points instead of cells. In this case, row compaction also
  /// writes points instead of cells (compaction/row_compactor.h).
  [[nodiscard]] virtual bool native_points() const { return false; }
  /// Returns whether the store is on another machine. If it is, Points::Append blocks, so network
  /// loops must not call Points::Append.
  [[nodiscard]] virtual bool remote() const { return false; }
  /// Returns whether the store belongs to a daemon on this machine. If it does, this process does
  /// no background work for the store, because the daemon does this work.
  [[nodiscard]] virtual bool beside_daemon() const { return false; }
  /// Sets a listener. An engine that stores points as cells calls the listener for each row to
  /// which points were written, so that the row can be compacted when its hour is over. `key` is
  /// the row key, and `base` is the base time in seconds. Other engines ignore the listener. Call
  /// this function at most once, before the first write.
  virtual void ListenForWrittenRows(std::function<void(ByteView key, uint32_t base)> listener) {
    (void)listener;
  }
  /// Returns a counter for the memory, in bytes, of the names that the process keeps outside the
  /// store: cached names and the entries of MetricLimits. The process updates this counter, and the
  /// store counts this memory towards its memory limit (EmbeddedOptions::name_bytes). If the memory
  /// is full, the store rejects new names (MayAddSeries). nullptr: the store does not limit names.
  [[nodiscard]] virtual std::shared_ptr<std::atomic<uint64_t>> name_bytes() { return nullptr; }
  /// Returns OK if new names that need `name_bytes` bytes of memory may get ids now. Otherwise,
  /// returns the errors of Embedded::MayAddSeries. Call this function before you assign ids.
  /// Thread-safe.
  virtual Status MayAddSeries(uint64_t name_bytes) { return (void)name_bytes, Status(); }
  /// Returns the engine's interface for watching changes of old rows. nullptr: the engine cannot
  /// report these changes, because other processes may also change rows.
  virtual WatchedPoints* watched() { return nullptr; }
  /// CollectStats passes statistics of the engine to `visit`, and CollectLatencies passes its
  /// latency histograms to `visit`. Both functions are thread-safe.
  virtual void CollectStats(const StatVisitor& visit) { (void)visit; }
  virtual void CollectLatencies(const LatencyVisitor& visit) { (void)visit; }
  /// Returns the last failure of background work, such as a flush. Returns OK if there was no
  /// failure. Thread-safe.
  virtual Status Health() { return {}; }
  /// Returns the functions for backup, check and repair. Returns nullptr if the store has no files
  /// of its own.
  virtual Maintenance* maintenance() { return nullptr; }
  /// Deletes all rows of a table of a remote store in one call to that store. The families,
  /// attributes and regions of the table stay. Unsupported: the store has no such call; instead,
  /// drop the table and create it again (http/api/admin.h).
  virtual Status TruncateTable(const std::string& table) {
    return Status::Unsupported("table '" + table + "' cannot be truncated in one call");
  }
  /// Closes the store cleanly; all acknowledged data is kept. Call this function once, when nothing
  /// uses the store any more.
  virtual Status Close() = 0;
  /// Returns whether acknowledged writes wait in a spool until the store accepts them. In this
  /// case, rows that were reported to the listener (ListenForWrittenRows) may be incomplete.
  /// Thread-safe.
  [[nodiscard]] virtual bool WritesWait() { return false; }
};

/// The purpose for which a process opens the store.
enum class StoreUse : uint8_t {
  // The process is a daemon. The store works as with kWork. In addition, writes may wait in the
  // spool (storage/hbase/spool.h), and the store removes series that have no rows left.
  kServe,
  kWork,  // the process automatically flushes, merges and splits
  kLook,  // the process changes files of the store only when a caller requests it
};

/// A function that opens the configured store. Unless the use is kLook, the store then has all
/// tables of tsd/tables.h. `words` describe this process to other processes that find the data
/// directory in use. Busy: another process uses the data directory; the error has its process id
/// and words.
using BackendOpener = std::function<Result<std::unique_ptr<Backend>>(
    const Config&, const std::string& words, StoreUse use)>;

}  // namespace hg::tsd
