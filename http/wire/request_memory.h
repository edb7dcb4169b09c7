#pragma once
// What requests hold while they arrive and are read: bodies as sent and as unpacked, and documents
// made of them, which take up to a hundred times the body's size. All requests share one budget, so
// that whoever sends many, or lets them lie half sent, is refused before memory ends.

#include <atomic>
#include <cstdint>

#include "storage/base/status.h"

namespace hg::http {

/// The budget. Thread-safe. Outlives its shares.
class RequestMemory {
 public:
  class Share;
  class Room;

  /// 0 = no limit. One share may have half of it.
  explicit RequestMemory(uint64_t bytes_max) : bytes_max_(bytes_max) {}

  [[nodiscard]] uint64_t taken() const { return taken_.load(std::memory_order_relaxed); }

 private:
  /// Ok, or nothing is taken. Of two that ask at once one gets what is there for one.
  bool Grant(uint64_t bytes);

  const uint64_t bytes_max_;
  std::atomic<uint64_t> taken_{0};
};

/// What one request, or one step of it, holds. One thread at a time.
class RequestMemory::Share {
 public:
  /// The first `free_bytes` are not asked for.
  Share(RequestMemory& memory, uint64_t free_bytes)
      : memory_(memory), free_bytes_(free_bytes), granted_(free_bytes) {}
  ~Share() { GiveAll(); }
  Share(const Share&) = delete;
  Share& operator=(const Share&) = delete;

  /// To be asked before the memory is taken. False: it is not to be, and refusal() says why.
  bool Take(uint64_t bytes) {
    held_ += bytes;
    return held_ <= granted_ || Ask(bytes);
  }
  /// Holds so many at least.
  bool Cover(uint64_t bytes) { return bytes <= held_ || Take(bytes - held_); }
  /// What was taken is free again, for this share; for others with GiveAll.
  void Give(uint64_t bytes) { held_ -= bytes; }
  void GiveAll();
  [[nodiscard]] uint64_t held() const { return held_; }

  /// Ok until something was refused. LimitExceeded: more than one request may have; Busy: the
  /// others have the rest. Who gave the share answers with it, so that not every user of a document
  /// has to.
  [[nodiscard]] const Status& refusal() const { return refusal_; }

  /// The share that this thread's work is done for; nullptr: nobody counts.
  static Share* Current() { return current_; }
  /// Makes one that for as long as this lives.
  class Used {
   public:
    explicit Used(Share* share) : outer_(current_) { current_ = share; }
    ~Used() { current_ = outer_; }
    Used(const Used&) = delete;
    Used& operator=(const Used&) = delete;

   private:
    Share* const outer_;
  };

 private:
  bool Ask(uint64_t bytes);

  inline static thread_local Share* current_ = nullptr;

  RequestMemory& memory_;
  const uint64_t free_bytes_;
  uint64_t held_ = 0;
  uint64_t granted_;  // free_bytes_ and what the budget gave
  Status refusal_;
};

/// What one buffer takes of this thread's share, if there is one: given back with it, unless it is
/// to outlive this.
class RequestMemory::Room {
 public:
  Room() = default;
  ~Room() {
    if (share_ != nullptr) share_->Give(bytes_);
  }
  Room(const Room&) = delete;
  Room& operator=(const Room&) = delete;

  /// To be asked before the buffer has so many bytes; what it had is still there meanwhile. As the
  /// share refuses it.
  Status Grow(uint64_t bytes);
  /// The share holds it on.
  void Keep() { bytes_ = 0; }

 private:
  Share* const share_ = Share::Current();
  uint64_t bytes_ = 0;
};

}  // namespace hg::http
