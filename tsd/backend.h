#pragma once
// An open store of the program: a cell store and a point store with the same lifetime. The program
// does not know which engine it uses. tsd/open_backend.cc and tests/support/model_tsdb.cc choose
// the engine.

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

/// A function that receives one number for /api/stats: the name without "tsd.", tags in the form
/// "k=v k=v", and the value.
using StatVisitor =
    std::function<void(const std::string& name, const std::string& tags, int64_t value)>;

/// A function that receives a latency histogram for /metrics, its name, and tags as "k=v k=v".
using LatencyVisitor =
    std::function<void(const std::string& name, const std::string& tags, const LatencyHistogram&)>;

/// Owns an open store. The cell store and the point store are thread-safe.
class Backend {
 public:
  virtual ~Backend() = default;

  virtual Store& cells() = 0;
  virtual Points& points() = 0;
  /// Returns whether points are stored natively. Row compaction then writes points, not cells
  /// (compaction/row_compactor.h).
  [[nodiscard]] virtual bool native_points() const { return false; }
  /// Returns whether the store is on another machine. If so, Points::Append blocks, and network
  /// loops must not call Points::Append.
  [[nodiscard]] virtual bool remote() const { return false; }
  /// Returns whether this is the store of a daemon on this machine. If so, this process does no
  /// background work for the store, because the daemon does this work.
  [[nodiscard]] virtual bool beside_daemon() const { return false; }
  /// Sets a listener. If the engine stores points as cells, it calls the listener for each row that
  /// gets points, so that such rows can be compacted once their hour is over. Other engines ignore
  /// the listener. Call this function at most once, before the first write.
  virtual void ListenForWrittenRows(std::function<void(ByteView key, uint32_t base)> listener) {
    (void)listener;
  }
  /// Returns the counter for the bytes of names that the process caches outside of the store. The
  /// process updates the counter. The store rejects new names while memory is short
  /// (EmbeddedOptions::name_bytes). nullptr: the store does not limit names.
  [[nodiscard]] virtual std::shared_ptr<std::atomic<uint64_t>> name_bytes() { return nullptr; }
  /// Returns ok if names with this memory size may get ids now. Errors are those of
  /// Embedded::MayAddSeries. The caller calls this function before it assigns ids. Thread-safe.
  virtual Status MayAddSeries(uint64_t name_bytes) { return (void)name_bytes, Status(); }
  /// Returns the engine's interface for changes of old rows. Returns nullptr if the engine has no
  /// such interface, because other processes may change rows, too.
  virtual WatchedPoints* watched() { return nullptr; }
  /// Reports statistics of the engine. This function and the next one are thread-safe.
  virtual void CollectStats(const StatVisitor& visit) { (void)visit; }
  virtual void CollectLatencies(const LatencyVisitor& visit) { (void)visit; }
  /// Returns the last failure of background work, such as a flush, or ok. Thread-safe.
  virtual Status Health() { return {}; }
  /// Returns the functions for backup, check and repair; nullptr if the store has no files.
  virtual Maintenance* maintenance() { return nullptr; }
  /// Deletes all rows of a table of a remote store in one call of that store. Families, attributes
  /// and regions stay. Unsupported: the store has no such call; drop the table and create it again
  /// (http/api/admin.h).
  virtual Status TruncateTable(const std::string& table) {
    return Status::Unsupported("table '" + table + "' cannot be truncated in one call");
  }
  /// Closes the store cleanly and keeps all acknowledged data. Call this function once, when
  /// nothing uses the store any more.
  virtual Status Close() = 0;
  /// Returns whether acknowledged writes wait in a spool until the store accepts them. If so, rows
  /// reported to the listener (ListenForWrittenRows) may be incomplete. Thread-safe.
  [[nodiscard]] virtual bool WritesWait() { return false; }
};

/// The purpose for which a process opens the store.
enum class StoreUse : uint8_t {
  // For the daemon: like kWork, but writes may wait in the spool, and series without rows are
  // forgotten.
  kServe,
  kWork,  // the process flushes, merges and splits automatically
  kLook,  // the process changes files of the store only on request
};

/// A function that opens the configured store, with all tables of tsd/tables.h. `words` describe
/// this process to other processes that find the data directory in use. Busy: another process uses
/// the data directory. The error message contains the id and the words of that process.
using BackendOpener = std::function<Result<std::unique_ptr<Backend>>(
    const Config&, const std::string& words, StoreUse use)>;

}  // namespace hg::tsd
