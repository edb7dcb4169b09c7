#pragma once
// Keeps work between two calls of one handler. NoWait stops the first call, on an event loop
// (storage/base/no_wait.h). The second call, on a pool thread, continues with the kept work.

#include <memory>
#include <utility>

namespace hg::http {

/// While a LeftWork exists, handlers on its thread store their work in `place`, and take from there
/// the work that an earlier call stored. All calls must be for one request. Each handler knows the
/// type of its Work.
class LeftWork {
 public:
  struct Work {
    virtual ~Work() = default;
  };

  /// `place` must outlive the object. One thread at a time.
  explicit LeftWork(std::unique_ptr<Work>* place) : outer_(current_) { current_ = place; }
  ~LeftWork() { current_ = outer_; }
  LeftWork(const LeftWork&) = delete;
  LeftWork& operator=(const LeftWork&) = delete;

  /// Stores the work if a LeftWork exists on this thread; otherwise discards it.
  static void Leave(std::unique_ptr<Work> work) {
    if (current_ != nullptr) *current_ = std::move(work);
  }
  /// The stored work; nullptr if there is none.
  static std::unique_ptr<Work> Take() {
    return current_ != nullptr ? std::move(*current_) : nullptr;
  }

 private:
  inline static thread_local std::unique_ptr<Work>* current_ = nullptr;

  std::unique_ptr<Work>* const outer_;
};

}  // namespace hg::http
