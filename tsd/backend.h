#pragma once
// A store as opened by the program: the cell store and the point store with one lifetime. The
// program does not know which engine it uses. tsd/open_backend.cc and tests/support/model_tsdb.cc
// choose one.

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

/// Receives one number for /api/stats: the name without "tsd.", tags in the form "k=v k=v", and the
/// value.
using StatVisitor =
    std::function<void(const std::string& name, const std::string& tags, int64_t value)>;

/// Receives a latency histogram for /metrics, with name and tags in the same form.
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
  /// Returns whether the store is on another machine. Points::Append then blocks, so network loops
  /// must not call it.
  [[nodiscard]] virtual bool remote() const { return false; }
  /// Returns whether this is the store of a daemon on this machine. If it is, the process does no
  /// background work for the store, because the daemon does it.
  [[nodiscard]] virtual bool beside_daemon() const { return false; }
  /// Sets a listener that is called for each row that gets points, if the engine stores points as
  /// cells. Such rows may be compacted once their hour is over. Other engines ignore it. Call it at
  /// most once, before the first write.
  virtual void ListenForWrittenRows(std::function<void(ByteView key, uint32_t base)> listener) {
    (void)listener;
  }
  /// Returns the counter for the bytes of names that the process holds outside of the store; the
  /// process keeps it up to date. The store rejects new names while memory is short
  /// (EmbeddedOptions::name_bytes). nullptr: the store does not limit names.
  [[nodiscard]] virtual std::shared_ptr<std::atomic<uint64_t>> name_bytes() { return nullptr; }
  /// Returns ok if names with this memory size may get ids now. Errors are those of
  /// Embedded::MayAddSeries. Called before ids are assigned. Thread-safe.
  virtual Status MayAddSeries(uint64_t name_bytes) { return (void)name_bytes, Status(); }
  /// Returns the engine's interface for changes of old rows. nullptr: the engine has none, because
  /// other processes may change rows, too.
  virtual WatchedPoints* watched() { return nullptr; }
  /// Statistics of the engine. Both functions are thread-safe.
  virtual void CollectStats(const StatVisitor& visit) { (void)visit; }
  virtual void CollectLatencies(const LatencyVisitor& visit) { (void)visit; }
  /// Returns the last failure of background work, such as a flush, or ok. Thread-safe.
  virtual Status Health() { return {}; }
  /// Returns the functions for backup, check and repair; nullptr if the store has no files.
  virtual Maintenance* maintenance() { return nullptr; }
  /// Deletes all rows of a table of a remote store in one call of that store, and keeps families,
  /// attributes and regions. Unsupported: the store has no such call; drop the table and create it
  /// again (http/api/admin.h).
  virtual Status TruncateTable(const std::string& table) {
    return Status::Unsupported("table '" + table + "' cannot be truncated in one call");
  }
  /// Closes the store cleanly: all acknowledged data is kept. Call it once, when nothing uses the
  /// store any more.
  virtual Status Close() = 0;
  /// Returns whether acknowledged writes wait in a spool until the store accepts them. Rows
  /// reported to the listener may then be incomplete. Thread-safe.
  [[nodiscard]] virtual bool WritesWait() { return false; }
};

/// The purpose for which a process opens the store.
enum class StoreUse : uint8_t {
  kServe,  // by the daemon: like kWork, and writes may wait in the spool
  kWork,   // flushes, merges and splits automatically
  kLook,   // changes its files only on explicit request
};

/// Opens the store that the settings name, with all tables of tsd/tables.h. `words` describe this
/// process to other processes that find the data directory in use. Busy: another process uses the
/// data directory. The message has the id of that process and its words.
using BackendOpener = std::function<Result<std::unique_ptr<Backend>>(
    const Config&, const std::string& words, StoreUse use)>;

}  // namespace hg::tsd
