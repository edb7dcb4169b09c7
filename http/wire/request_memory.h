#pragma once
// The memory of requests while they are received and parsed: bodies before and after decompression,
// and parsed documents, which may need a hundred times as much memory as the body. All requests
// share one budget, so too many requests are rejected before memory runs out.

#include <atomic>
#include <cstdint>

#include "storage/base/status.h"

namespace hg::http {

/// The budget. Thread-safe. The object must outlive its shares.
class RequestMemory {
 public:
  class Share;
  class Room;

  /// `bytes_max` is the size of the budget; 0 = no limit. One share may take at most half of the
  /// budget.
  explicit RequestMemory(uint64_t bytes_max) : bytes_max_(bytes_max) {}

  [[nodiscard]] uint64_t taken() const { return taken_.load(std::memory_order_relaxed); }

 private:
  /// If the budget has enough bytes left, takes them and returns true. Otherwise takes nothing and
  /// returns false. If two concurrent calls compete for the last memory, only one of them gets it.
  bool Grant(uint64_t bytes);

  const uint64_t bytes_max_;
  std::atomic<uint64_t> taken_{0};
};

/// The memory of one request, or of one step of its processing. Parsers have an argument of this
/// type; if it is nullptr, nothing is charged. Use on one thread at a time.
class RequestMemory::Share {
 public:
  /// The first `free_bytes` bytes are not charged to the budget.
  Share(RequestMemory& memory, uint64_t free_bytes)
      : memory_(memory), free_bytes_(free_bytes), granted_(free_bytes) {}
  ~Share() { GiveAll(); }
  Share(const Share&) = delete;
  Share& operator=(const Share&) = delete;

  /// Charges memory. Call this function before the allocation. If it returns false, do not
  /// allocate; refusal() returns the reason.
  bool Take(uint64_t bytes) {
    held_ += bytes;
    return held_ <= granted_ || Ask(bytes);
  }
  /// If the share has fewer than `bytes` bytes in total, charges the difference. Fails like Take.
  bool Cover(uint64_t bytes) { return bytes <= held_ || Take(bytes - held_); }
  /// Give returns bytes to this share, which can then use them again. GiveAll returns all bytes of
  /// the share to the budget.
  void Give(uint64_t bytes) { held_ -= bytes; }
  void GiveAll();
  [[nodiscard]] uint64_t held() const { return held_; }

  /// Returns the error of the last Take that failed; OK if there was none. LimitExceeded: the
  /// request needs more memory than one request may take. Busy: other requests use too much memory.
  /// The owner of the share sends this error to the client, so parsers need not pass it on.
  [[nodiscard]] const Status& refusal() const { return refusal_; }

 private:
  bool Ask(uint64_t bytes);

  RequestMemory& memory_;
  const uint64_t free_bytes_;
  uint64_t held_ = 0;
  uint64_t granted_;  // free_bytes_ plus bytes from the budget
  Status refusal_;
};

/// Charges the memory of one growing buffer to a share. The destructor returns the memory to the
/// share, unless Keep was called.
class RequestMemory::Room {
 public:
  /// The share must outlive the object. If it is nullptr, nothing is charged.
  explicit Room(Share* share) : share_(share) {}
  ~Room() {
    if (share_ != nullptr) share_->Give(bytes_);
  }
  Room(const Room&) = delete;
  Room& operator=(const Room&) = delete;

  /// Call this function before the buffer grows to `bytes`. The function first charges the new size
  /// in addition to the old size, because both buffers exist during the copy. Then it releases the
  /// old size. If the share has too little memory, returns its refusal().
  Status Grow(uint64_t bytes);
  /// After this call, the bytes stay charged to the share when the object is destroyed.
  void Keep() { bytes_ = 0; }

 private:
  Share* const share_;
  uint64_t bytes_ = 0;
};

}  // namespace hg::http
