#pragma once
// The limits of a request: how long it may run, how much memory it may use, whether its client
// still waits for the response, and whether it may wait for a disk or a lock. The HTTP layer makes
// one context for each request (query/request/running_request.h) and passes it to functions as an
// argument. Every loop whose length depends on a request or on stored data must report its work.

#include <algorithm>
#include <atomic>
#include <cstdint>

#include "storage/base/status.h"

namespace hg {

/// The limits of one request. Thread-safe.
class RequestContext {
 public:
  virtual ~RequestContext() = default;

  /// Reports `steps` of work. One step costs about as much as reading or merging one point. More
  /// expensive work counts as several steps. The call is cheap, because it reads the clock only
  /// once in many steps. If the request has done much work, the call may block until other large
  /// requests have ended. If the call fails, the caller must stop and return the error.
  virtual Status Step(uint64_t steps) = 0;

  /// Checks the limits of the request now. Call this function before or after a single piece of
  /// work that takes milliseconds. If the check fails, the caller must stop and return the error.
  virtual Status Check() { return Step(0); }

  /// Reports that `bytes` of memory are about to be allocated. A negative number reports freed
  /// memory, and never fails. The call may block as Step does. If the call fails, the caller must
  /// not allocate the memory. The caller must stop and return the error.
  virtual Status Charge(int64_t bytes) = 0;

  /// Ends the request, because the store needs memory that the request keeps in use. Returns true
  /// if the request will end: Check then returns an error, and Step returns an error when it checks
  /// the limits the next time. Returns false if the request cannot end early. Any thread may call
  /// this function. It does not wait.
  virtual bool GiveUp() { return false; }

  /// Call this function before work that takes long or that waits, for example for a disk. MayWait
  /// returns ok unless the request is tried on an event loop. On an event loop, MayWait returns
  /// Busy, and refused() returns true from then on. The caller must stop and return the error. The
  /// request then runs again on a pool thread, and all results of the first attempt are discarded.
  /// The first attempt must therefore not change anything that others can see, except caches and
  /// counters.
  Status MayWait() {
    if (!on_loop_) return {};
    refused_.store(true, std::memory_order_relaxed);
    return Status::Busy("This has to wait, and may not wait here");
  }
  /// Returns whether the request is tried on an event loop, where MayWait returns Busy.
  [[nodiscard]] bool on_loop() const { return on_loop_; }
  /// Returns whether MayWait has returned Busy.
  [[nodiscard]] bool refused() const { return refused_.load(std::memory_order_relaxed); }

  /// Returns a context without limits, for tools and background threads.
  static RequestContext& Unlimited();

 protected:
  /// Makes MayWait return Busy from now on. Call this function before another thread uses the
  /// object.
  void StayOnLoop() { on_loop_ = true; }

 private:
  bool on_loop_ = false;
  std::atomic<bool> refused_{false};
};

inline RequestContext& RequestContext::Unlimited() {
  class AllowsEverything final : public RequestContext {
    Status Step(uint64_t) override { return {}; }
    Status Charge(int64_t) override { return {}; }
  };
  static AllowsEverything context;
  return context;
}

/// Counts the memory that one object holds and charges it to a context in large pieces, so that
/// small changes do not touch shared counters. The destructor reports all of the memory as freed.
/// Not thread-safe.
class MemoryTally {
 public:
  /// If `watch` is nullptr, the tally only counts memory. `watch` must outlive the tally.
  explicit MemoryTally(RequestContext* watch) : watch_(watch) {}
  MemoryTally(const MemoryTally&) = delete;
  MemoryTally& operator=(const MemoryTally&) = delete;
  ~MemoryTally() {
    if (watch_ != nullptr && charged_ > 0) (void)watch_->Charge(-charged_);
  }

  /// Counts `bytes` more bytes. Returns the same errors as RequestContext::Charge.
  Status Add(int64_t bytes) {
    held_ += bytes;
    if (watch_ == nullptr) return {};
    if (held_ > charged_) {
      const int64_t more = std::max(held_ - charged_, kPieceBytes);
      if (Status refused = watch_->Charge(more); !refused.ok()) {
        held_ -= bytes;
        return refused;
      }
      charged_ += more;
    } else if (charged_ - held_ > kSpareBytesMax) {
      const int64_t less = charged_ - held_ - kPieceBytes;
      (void)watch_->Charge(-less);
      charged_ -= less;
    }
    return {};
  }
  void Remove(int64_t bytes) { (void)Add(-bytes); }

  /// Calls RequestContext::Step, if the tally has a context.
  Status Step(uint64_t steps) { return watch_ != nullptr ? watch_->Step(steps) : Status(); }

  [[nodiscard]] int64_t held() const { return held_; }
  /// Returns the context to which memory is charged, or nullptr if the tally only counts.
  [[nodiscard]] RequestContext* context() const { return watch_; }

 private:
  static constexpr int64_t kPieceBytes = 64 << 10;
  static constexpr int64_t kSpareBytesMax = 256 << 10;

  RequestContext* const watch_;
  int64_t held_ = 0;
  int64_t charged_ = 0;
};

}  // namespace hg
