#pragma once
// The highest ids of a store on another machine, for statistics: read by a thread of its own, so
// that whoever shows them waits for nobody.

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

/// Thread-safe. `names` outlives it.
class HighestIds {
 public:
  explicit HighestIds(Names& names, std::chrono::milliseconds interval = std::chrono::seconds(5))
      : names_(names), interval_(interval) {}
  /// Stops.
  ~HighestIds() { Stop(); }

  /// Reads them, and from then on again and again on a thread of its own.
  void Start();
  /// Ends that thread: waits for what it is reading. Idempotent.
  void Stop();
  /// Names::HighestId as it was read last; none if it never could be.
  [[nodiscard]] std::optional<int64_t> Of(UidKind kind) const;

 private:
  void Read();
  void Work();

  Names& names_;
  const std::chrono::milliseconds interval_;
  std::array<std::atomic<int64_t>, 3> read_ = {-1, -1, -1};  // by kind; < 0: never

  std::mutex mutex_;
  std::condition_variable changed_;
  bool stopping_ = false;  // guarded by mutex_
  std::thread worker_;
};

}  // namespace hg::uid
