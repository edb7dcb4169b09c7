#pragma once
// The highest ids of a store on another machine, for statistics. A thread reads the ids in the
// background, so that statistics requests do not wait for the store.

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

/// Reads the highest ids in the background. Thread-safe. `names` must outlive the object.
class HighestIds {
 public:
  explicit HighestIds(Names& names, std::chrono::milliseconds interval = std::chrono::seconds(5))
      : names_(names), interval_(interval) {}
  /// Stops the background thread.
  ~HighestIds() { Stop(); }

  /// Reads the ids now, and then starts a thread that reads the ids again in each interval.
  void Start();
  /// Ends the background thread. Waits for a read in progress. Idempotent.
  void Stop();
  /// Returns the result of the last successful read of Names::HighestId. Returns nullopt if no read
  /// has succeeded yet.
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
