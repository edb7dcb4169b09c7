#include "http/request/turn_watch.h"

#include <cstdio>
#include <cstdlib>
#include <ctime>

#include "storage/model/utf8.h"

namespace hg::http {
namespace {

constexpr int64_t kNsPerMs = 1'000'000;
constexpr int64_t kLineIntervalNs = 10'000 * kNsPerMs;
constexpr size_t kPathBytesMax = 200;

}  // namespace

int64_t ThreadCpuNs() {
  timespec time{};
  ::clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
  return int64_t{time.tv_sec} * 1'000'000'000 + time.tv_nsec;
}

TurnWatch::TurnWatch(Measure measure, Services& services, CpuClock cpu, Fail fail)
    : measure_(measure),
      services_(services),
      cpu_ns_max_(services.options.turn_cpu_ms_max * kNsPerMs),
      reads_cpu_(measure == Measure::kCpuTime || cpu_ns_max_ > 0),
      cpu_(cpu),
      fail_(std::move(fail)) {}

void TurnWatch::Abort(const std::string& message) {
  std::fprintf(stderr, "%s\n", message.c_str());
  std::abort();
}

void TurnWatch::Report(const Times& took, const std::string& doing) {
  if (cpu_ns_max_ > 0 && took.cpu_ns > cpu_ns_max_) {
    fail_("A turn of an event loop took " + std::to_string(took.cpu_ns / kNsPerMs) +
          " ms of CPU time for " + doing + "; at most " + std::to_string(cpu_ns_max_ / kNsPerMs) +
          " ms are allowed (HOURGLASS_TURN_CPU_MS_MAX)");
  }
  const int64_t stall_ns = measure_ == Measure::kWallTime ? took.wall_ns : took.cpu_ns;
  if (stall_ns <= kStallNs) return;
  services_.counters.loop_stalls.fetch_add(1, std::memory_order_relaxed);
  services_.counters.loop_stall_ms.fetch_add(static_cast<uint64_t>(stall_ns / kNsPerMs),
                                             std::memory_order_relaxed);
  Tell(took, doing);
}

void TurnWatch::Tell(const Times& took, const std::string& doing) {
  const int64_t now_ns = services_.clock.MonotonicNs();
  if (!services_.warn || now_ns < next_line_ns_) {
    ++untold_;
    return;
  }
  const bool wall = measure_ == Measure::kWallTime;
  std::string text = "an event loop was busy for " +
                     std::to_string((wall ? took.wall_ns : took.cpu_ns) / kNsPerMs) +
                     (wall ? " ms with " : " ms of CPU time with ") + doing +
                     "; its other clients waited";
  ReplaceInvalidUtf8(&text);
  if (untold_ > 0) text += " (and " + std::to_string(untold_) + " more times since the last line)";
  services_.warn(text);
  next_line_ns_ = now_ns + kLineIntervalNs;
  untold_ = 0;
}

void SetEndpointText(std::string_view method, std::string_view target, std::string* text) {
  const std::string_view path = target.substr(0, target.find('?'));
  text->assign(method);
  text->push_back(' ');
  text->append(path.substr(0, kPathBytesMax));
}

}  // namespace hg::http
