#pragma once
// The memory of requests while they are received and parsed: bodies as sent and unpacked, and
// parsed documents. A document may take a hundred times the body's size. All requests share one
// budget, so that many or incomplete requests are refused before memory runs out.

#include <atomic>
#include <cstdint>

#include "storage/base/status.h"

namespace hg::http {

/// The budget. Thread-safe. Must outlive its shares.
class RequestMemory {
 public:
  class Share;
  class Room;

  /// bytes_max: 0 = no limit. One share may take half of it.
  explicit RequestMemory(uint64_t bytes_max) : bytes_max_(bytes_max) {}

  [[nodiscard]] uint64_t taken() const { return taken_.load(std::memory_order_relaxed); }

 private:
  /// Takes the bytes and returns true, or takes nothing and returns false. If two concurrent calls
  /// compete for the last memory, one of them gets it.
  bool Grant(uint64_t bytes);

  const uint64_t bytes_max_;
  std::atomic<uint64_t> taken_{0};
};

/// The memory of one request, or of one step of it. Parsers get it as an argument: nullptr means
/// that nothing is charged. One thread at a time.
class RequestMemory::Share {
 public:
  /// The first `free_bytes` are not taken from the budget.
  Share(RequestMemory& memory, uint64_t free_bytes)
      : memory_(memory), free_bytes_(free_bytes), granted_(free_bytes) {}
  ~Share() { GiveAll(); }
  Share(const Share&) = delete;
  Share& operator=(const Share&) = delete;

  /// Charges memory; call before the allocation. False: do not allocate; refusal() gives the
  /// reason.
  bool Take(uint64_t bytes) {
    held_ += bytes;
    return held_ <= granted_ || Ask(bytes);
  }
  /// Makes the share hold at least `bytes`.
  bool Cover(uint64_t bytes) { return bytes <= held_ || Take(bytes - held_); }
  /// Returns bytes to this share for reuse. Only GiveAll returns them to the budget.
  void Give(uint64_t bytes) { held_ -= bytes; }
  void GiveAll();
  [[nodiscard]] uint64_t held() const { return held_; }

  /// OK until something was refused. LimitExceeded: more than one request may take. Busy: other
  /// requests hold the rest. The owner of the share answers the request with it, so that parsers
  /// need not pass it on.
  [[nodiscard]] const Status& refusal() const { return refusal_; }

 private:
  bool Ask(uint64_t bytes);

  RequestMemory& memory_;
  const uint64_t free_bytes_;
  uint64_t held_ = 0;
  uint64_t granted_;  // free_bytes_ plus bytes from the budget
  Status refusal_;
};

/// The memory of one buffer, taken from a share. The destructor gives it back unless Keep was
/// called.
class RequestMemory::Room {
 public:
  /// The share must outlive the object. nullptr: nothing is charged.
  explicit Room(Share* share) : share_(share) {}
  ~Room() {
    if (share_ != nullptr) share_->Give(bytes_);
  }
  Room(const Room&) = delete;
  Room& operator=(const Room&) = delete;

  /// Call before the buffer grows to `bytes`. Charges the old and the new size together, because
  /// both exist during the copy; then gives the old one back. Returns the share's refusal if there
  /// is not enough.
  Status Grow(uint64_t bytes);
  /// Leaves the bytes charged to the share.
  void Keep() { bytes_ = 0; }

 private:
  Share* const share_;
  uint64_t bytes_ = 0;
};

}  // namespace hg::http
