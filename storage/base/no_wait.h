#pragma once
// Work that is tried where nobody may wait, on a loop that serves many: what would have to wait is
// refused, and the whole work is done again where waiting is allowed.

#include <atomic>

#include "storage/base/status.h"

namespace hg {

/// While one is alive, its thread does not wait: where it would (a block is not in memory, the work
/// grows large), MayWait refuses. Whatever such work gave then is worth nothing, so it changes
/// nothing that others see but counters of caches. Scopes may nest; the innermost counts. One
/// thread, but for refused().
class NoWait {
 public:
  NoWait() : outer_(current_) { current_ = this; }
  ~NoWait() { current_ = outer_; }
  NoWait(const NoWait&) = delete;
  NoWait& operator=(const NoWait&) = delete;

  /// Ok outside of a scope. In one: Busy, and the scope is refused.
  static Status MayWait() {
    if (current_ == nullptr) return {};
    current_->refused_.store(true, std::memory_order_relaxed);
    return Status::Busy("This has to wait, and may not wait here");
  }
  /// The same as a question: true in a scope, which is refused then.
  static bool Refuse() { return !MayWait().ok(); }

  /// Something in it would have waited.
  [[nodiscard]] bool refused() const { return refused_.load(std::memory_order_relaxed); }

  /// Of this thread; nullptr: none.
  static NoWait* Current() { return current_; }

  /// Another thread helps: what it does stands under the scope `of`, which outlives this; nullptr:
  /// under none.
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
