#pragma once
// Caches the highest assigned id of each kind, for statistics. A thread reads the ids in the
// background, so that requests for statistics do not wait for a store on another machine.

#include <array>
#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <mutex>
#include <optional>
#include <thread>

#include "storage/model/uid_kind.h"
#include "uid/names.h"

namespace hg::uid {

/// Reads the highest assigned ids in the background, once per `interval`. Thread-safe. `names` must
/// outlive the object.
class HighestIds {
 public:
  explicit HighestIds(Names& names, std::chrono::milliseconds interval = std::chrono::seconds(5))
      : names_(names), interval_(interval) {}
  /// Stops the background thread.
  ~HighestIds() { Stop(); }

  /// Reads the ids, and then starts a thread that reads them again after each interval. Blocks on
  /// the store.
  void Start();
  /// Ends the background thread and waits until it has ended. May be called several times.
  void Stop();
  /// Returns the highest assigned id of a kind, as Names::HighestId returned it at the last
  /// successful read. Returns nullopt if no read has succeeded yet.
  [[nodiscard]] std::optional<int64_t> Of(UidKind kind) const;

 private:
  void Read();
  void Work();

  Names& names_;
  const std::chrono::milliseconds interval_;
  // The highest id of each kind. A negative number means that no id was read yet.
  std::array<std::atomic<int64_t>, 3> read_ = {-1, -1, -1};

  std::mutex mutex_;
  std::condition_variable changed_;
  bool stopping_ = false;  // guarded by mutex_
  std::thread worker_;
};

}  // namespace hg::uid
