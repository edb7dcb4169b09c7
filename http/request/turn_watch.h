#pragma once
// Measures the turns of an event loop. A turn is one callback that the event loop runs. All other
// clients of the event loop wait until the callback returns. Only http/server uses this file.

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <utility>

#include "http/request/services.h"
#include "storage/base/survive.h"

namespace hg::http {

/// Returns the CPU time of the calling thread in nanoseconds. The function makes a system call.
int64_t ThreadCpuNs();

/// Measures the turns of one event loop. Only the thread of that event loop may use the object.
class TurnWatch {
 public:
  /// The limit for a turn, in nanoseconds. A turn that takes longer counts as a stall.
  static constexpr int64_t kStallNs = 50'000'000;

  /// The kind of time that is compared with kStallNs.
  enum class Measure : uint8_t {
    // The elapsed time. Other clients of the event loop wait for this time, whether the thread
    // computes, waits for a disk or waits for a core.
    kWallTime,
    kCpuTime,  // the CPU time; for a thread that waits for the store on purpose
  };
  using CpuClock = int64_t (*)();
  using Fail = std::function<void(const std::string& message)>;

  /// Report counts stalls in `services.counters`, and logs them with `services.warn`. Report calls
  /// `fail` if a turn used more CPU time than Options::turn_cpu_ms_max. `services` must outlive the
  /// object.
  TurnWatch(Measure measure, Services& services, CpuClock cpu = ThreadCpuNs, Fail fail = Abort);

  /// Writes the message to standard error and ends the process.
  [[noreturn]] static void Abort(const std::string& message);

  struct Times {
    int64_t wall_ns = 0, cpu_ns = 0;
  };

  /// Returns the current times. The CPU clock needs a system call, so it is read only if its time
  /// is needed.
  [[nodiscard]] Times Now() const {
    return {services_.clock.MonotonicNs(), reads_cpu_ ? cpu_() : 0};
  }
  [[nodiscard]] bool IsLong(const Times& took) const {
    return (measure_ == Measure::kWallTime ? took.wall_ns : took.cpu_ns) > kStallNs ||
           (cpu_ns_max_ > 0 && took.cpu_ns > cpu_ns_max_);
  }
  /// Reports a turn for which IsLong is true. Counts and logs the turn if it is a stall. Calls the
  /// function `fail` of the constructor if the turn used more CPU time than allowed. `doing`
  /// describes the work of the turn for the message.
  void Report(const Times& took, const std::string& doing);

 private:
  void Tell(const Times& took, const std::string& doing);

  const Measure measure_;
  Services& services_;
  const int64_t cpu_ns_max_;  // maximum CPU time of a turn; 0 = no limit
  const bool reads_cpu_;
  const CpuClock cpu_;
  const Fail fail_;
  int64_t next_line_ns_ = INT64_MIN;  // monotonic time before which nothing is logged
  uint64_t untold_ = 0;               // number of stalls since the last log line
};

/// One turn. The turn begins when this object is constructed, and ends when it is destroyed. Turns
/// do not nest. `doing()` describes the work of the turn; it is called only after a long turn.
template <typename Doing>
class Turn {
 public:
  Turn(TurnWatch& watch, Doing doing)
      : watch_(watch), doing_(std::move(doing)), began_(watch.Now()) {}
  Turn(const Turn&) = delete;
  Turn& operator=(const Turn&) = delete;
  ~Turn() {
    const TurnWatch::Times now = watch_.Now();
    const TurnWatch::Times took = {now.wall_ns - began_.wall_ns, now.cpu_ns - began_.cpu_ns};
    // If there is no memory for the log line, the long turn is not reported.
    if (watch_.IsLong(took)) (void)Survive([&] { watch_.Report(took, doing_()); });
  }

 private:
  TurnWatch& watch_;
  const Doing doing_;
  const TurnWatch::Times began_;
};

/// Sets *text to the method and the path, such as "GET /api/query". The query string is left out,
/// because it may be long and may contain secrets.
void SetEndpointText(std::string_view method, std::string_view target, std::string* text);

}  // namespace hg::http
