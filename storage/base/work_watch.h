#pragma once
// How long work is told to stop, and what it may hold: whoever it is done for may have gone, may be
// out of time, or may hold his share of memory already. Storage and query report to it; query/
// running_query implements it.

#include <algorithm>
#include <cstdint>

#include "storage/base/status.h"

namespace hg {

/// Thread-safe.
class WorkWatch {
 public:
  virtual ~WorkWatch() = default;

  /// `steps` more were done: a point read, merged or printed, or what costs as much. Cheap, mostly;
  /// now and then it may wait for its turn among other work. Not ok: stop, and return that.
  virtual Status Step(uint64_t steps) = 0;

  /// `bytes` are about to be taken, or (negative) were given back, which never fails. Not ok: do
  /// not take them, stop, and return that.
  virtual Status Charge(int64_t bytes) = 0;
};

/// What one object holds, charged to a watch in pieces, so that small amounts touch nothing shared.
/// Gives all back at its end. One thread at a time.
class MemoryTally {
 public:
  /// nullptr: counts only. The watch outlives the tally.
  explicit MemoryTally(WorkWatch* watch) : watch_(watch) {}
  MemoryTally(const MemoryTally&) = delete;
  MemoryTally& operator=(const MemoryTally&) = delete;
  ~MemoryTally() {
    if (watch_ != nullptr && charged_ > 0) (void)watch_->Charge(-charged_);
  }

  /// As WorkWatch::Charge.
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

  /// As WorkWatch::Step.
  Status Step(uint64_t steps) { return watch_ != nullptr ? watch_->Step(steps) : Status(); }

  [[nodiscard]] int64_t held() const { return held_; }

 private:
  static constexpr int64_t kPieceBytes = 64 << 10;
  static constexpr int64_t kSpareBytesMax = 256 << 10;

  WorkWatch* const watch_;
  int64_t held_ = 0;
  int64_t charged_ = 0;
};

}  // namespace hg
