#pragma once
// Lets a thread that serves many connections try work without blocking. Work that would have to
// wait is refused, and the caller repeats it on a thread that may wait.

#include <atomic>

#include "storage/base/status.h"

namespace hg {

/// While a NoWait is alive, its thread does not wait. MayWait refuses work that would wait, for
/// example if a block is not in memory or the work grows large. The result of refused work must be
/// thrown away, so such work may change nothing visible to others except cache counters. Scopes may
/// nest, and the innermost one counts. Only refused() may be called by other threads.
class NoWait {
 public:
  NoWait() : outer_(current_) { current_ = this; }
  ~NoWait() { current_ = outer_; }
  NoWait(const NoWait&) = delete;
  NoWait& operator=(const NoWait&) = delete;

  /// Outside of a scope: ok. In a scope: Busy, and the scope is marked as refused.
  static Status MayWait() {
    if (current_ == nullptr) return {};
    current_->refused_.store(true, std::memory_order_relaxed);
    return Status::Busy("This has to wait, and may not wait here");
  }
  /// Returns true if a NoWait is alive on this thread, and marks it as refused. Returns false
  /// otherwise.
  static bool Refuse() { return !MayWait().ok(); }

  /// Whether any work under this NoWait was refused because it would have waited.
  [[nodiscard]] bool refused() const { return refused_.load(std::memory_order_relaxed); }

  /// The innermost scope of this thread, or nullptr.
  static NoWait* Current() { return current_; }

  /// Lets another thread work under the NoWait `of`, which must outlive this object. nullptr means
  /// that the thread may wait.
  class Shared {
   public:
    explicit Shared(NoWait* of) : outer_(current_) { current_ = of; }
    ~Shared() { current_ = outer_; }
    Shared(const Shared&) = delete;
    Shared& operator=(const Shared&) = delete;

   private:
    NoWait* const outer_;
  };

 private:
  inline static thread_local NoWait* current_ = nullptr;

  NoWait* const outer_;
  std::atomic<bool> refused_{false};
};

}  // namespace hg
