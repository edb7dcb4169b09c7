#pragma once
// What a handler that was given up on a loop (storage/base/no_wait.h) has done already, for itself
// when it is called again on the pool.

#include <memory>
#include <utility>

namespace hg::http {

/// While one is alive, handlers of one request on its thread leave their work in `place`, and find
/// there what they left before. Each knows its own kind.
class LeftWork {
 public:
  struct Work {
    virtual ~Work() = default;
  };

  /// `place` outlives it; one thread at a time.
  explicit LeftWork(std::unique_ptr<Work>* place) : outer_(current_) { current_ = place; }
  ~LeftWork() { current_ = outer_; }
  LeftWork(const LeftWork&) = delete;
  LeftWork& operator=(const LeftWork&) = delete;

  /// Leaves it, if anybody will come again.
  static void Leave(std::unique_ptr<Work> work) {
    if (current_ != nullptr) *current_ = std::move(work);
  }
  /// What was left; nullptr: nothing.
  static std::unique_ptr<Work> Take() {
    return current_ != nullptr ? std::move(*current_) : nullptr;
  }

 private:
  inline static thread_local std::unique_ptr<Work>* current_ = nullptr;

  std::unique_ptr<Work>* const outer_;
};

}  // namespace hg::http
