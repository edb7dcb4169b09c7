#pragma once
// A store as the program opens it: both doors (design.md §1) with one life. The program itself
// cannot tell which engine is behind it; main.cc and tests/support/model_tsdb.cc each bring one.

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

/// Receives one number for /api/stats: name without "tsd.", tags as "k=v k=v", value.
using StatVisitor =
    std::function<void(const std::string& name, const std::string& tags, int64_t value)>;

/// Receives how long something took so far, for /metrics; name and tags alike.
using LatencyVisitor =
    std::function<void(const std::string& name, const std::string& tags, const LatencyHistogram&)>;

/// Owns an open store. The doors are thread-safe.
class Backend {
 public:
  virtual ~Backend() = default;

  virtual Store& cells() = 0;
  virtual Points& points() = 0;
  /// Points are held natively: rows are folded into points, not into cells (compaction/row_fold.h).
  [[nodiscard]] virtual bool native_points() const { return false; }
  /// It is on another machine: Points::Append waits for it, which no network loop may.
  [[nodiscard]] virtual bool remote() const { return false; }
  /// It is the store of a daemon on this machine, which goes on with its own work.
  [[nodiscard]] virtual bool beside_daemon() const { return false; }
  /// Rows of points are cells, which the listener may fold once their hour is over: it is told of
  /// each that points were put into. Other engines ignore it. At most once, before the first write.
  virtual void ListenForWrittenRows(std::function<void(ByteView key, uint32_t base)> listener) {
    (void)listener;
  }
  /// Its engine, if that tells of changes to old rows; nullptr: others may change them, too.
  virtual WatchedPoints* watched() { return nullptr; }
  /// The engine's own numbers. Thread-safe, both.
  virtual void CollectStats(const StatVisitor& visit) { (void)visit; }
  virtual void CollectLatencies(const LatencyVisitor& visit) { (void)visit; }
  /// The last failure of work behind the scenes, such as a flush; ok if there was none.
  /// Thread-safe.
  virtual Status Health() { return {}; }
  /// Copies and checks; nullptr where there are no files.
  virtual Maintenance* maintenance() { return nullptr; }
  /// Clean stop: all that was acknowledged is kept. Call once, when nobody uses the doors any more.
  virtual Status Close() = 0;
  /// Whether writes that it acknowledged are kept elsewhere until the store can take them: then
  /// rows that the listener was told of are not all there yet. Thread-safe.
  [[nodiscard]] virtual bool WritesWait() { return false; }
};

/// What a store is opened for.
enum class StoreUse : uint8_t {
  kServe,  // by the daemon: as kWork, and writes may be kept until the store can take them
  kWork,   // it flushes, merges and divides by itself
  kLook,   // its files stay as they are, but for what is asked of it
};

/// Opens the store that the settings name, with all tables of tsd/tables.h. `words` tell others
/// what this process is. Busy: the data directory is in use; the message says by which process and
/// shows its words.
using BackendOpener = std::function<Result<std::unique_ptr<Backend>>(
    const Config&, const std::string& words, StoreUse use)>;

}  // namespace hg::tsd
