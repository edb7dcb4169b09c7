#pragma once
// The state that the components of an engine share: the options, the file system, the clock, the
// observers, and whether the engine is open.

#include <algorithm>
#include <atomic>
#include <memory>

#include "storage/base/clock.h"
#include "storage/base/file.h"
#include "storage/base/status.h"
#include "storage/engine/embedded.h"
#include "storage/engine/region_loads.h"
#include "storage/points/observer.h"
#include "storage/points/render.h"

namespace hg::engine {

/// The shared state of one engine. Thread-safe. Only `closed` and the counters change. The engine
/// owns this object, which outlives the engine's other components.
class Environment {
 public:
  /// `files` and `clock` must outlive the object.
  Environment(const EmbeddedOptions& options, FileSystem& files, const Clock& clock)
      : options(options),
        files(files),
        clock(clock),
        observers(WithOwn(options.observers, work_counters)),
        memory_max(static_cast<uint64_t>(static_cast<double>(options.memory_limit_bytes) *
                                         options.memory_share)) {}

  [[nodiscard]] const KeyLayout& layout() const { return options.layout; }
  [[nodiscard]] points::RenderOptions render_options() const {
    const int64_t now_ms = clock.NowMs();
    return {now_ms / 1000, options.enable_compaction, now_ms};
  }
  [[nodiscard]] int64_t MonotonicMs() const { return clock.MonotonicNs() / 1'000'000; }
  /// Returns whether all unflushed data is in the log. If it is, closing the store does not wait
  /// for a flush.
  [[nodiscard]] bool memory_is_logged() const { return options.durability != Durability::kNone; }

  /// Marks the store as closed. Returns false if the store was already closed.
  bool Close() { return !closed_.exchange(true); }
  [[nodiscard]] bool closed() const { return closed_.load(std::memory_order_acquire); }
  /// Returns Unavailable if Close was called. Engine::Close first marks the store as closed and
  /// then takes Compactor::work_mutex_, Compactor::regions_mutex_ and Memstore::write_. If a thread
  /// that holds one of these locks gets ok, Engine::Close waits until the thread releases the lock.
  [[nodiscard]] Status CheckOpen() const {
    if (closed()) return Status::Unavailable("the store is closed");
    return {};
  }

  const EmbeddedOptions options;
  FileSystem& files;
  const Clock& clock;
  const std::shared_ptr<WorkCounters> work_counters = std::make_shared<WorkCounters>();
  const std::shared_ptr<RegionLoads> region_loads = std::make_shared<RegionLoads>();
  const ObserverChain observers;  // work_counters is one of the observers
  const uint64_t memory_max;      // limit for unflushed data, names and series, in bytes

 private:
  static StoreObservers WithOwn(StoreObservers observers, std::shared_ptr<StoreObserver> own) {
    observers.push_back(std::move(own));
    return observers;
  }

  std::atomic<bool> closed_{false};
};

}  // namespace hg::engine
