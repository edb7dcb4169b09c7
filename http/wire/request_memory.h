#pragma once
// The memory of requests while they are received and parsed: bodies as sent and unpacked, and
// parsed documents. A parsed document may take a hundred times the size of the body. All requests
// share one budget, so that many or incomplete requests are refused before memory runs out.

#include <atomic>
#include <cstdint>

#include "storage/base/status.h"

namespace hg::http {

/// The budget. Thread-safe. Must outlive its shares.
class RequestMemory {
 public:
  class Share;
  class Room;

  /// `bytes_max`: the size of the budget; 0 = no limit. One share may take at most half of the
  /// budget.
  explicit RequestMemory(uint64_t bytes_max) : bytes_max_(bytes_max) {}

  [[nodiscard]] uint64_t taken() const { return taken_.load(std::memory_order_relaxed); }

 private:
  /// If the budget has enough bytes left, takes them and returns true. Otherwise takes nothing and
  /// returns false. If two concurrent calls compete for the last memory, one of them gets it.
  bool Grant(uint64_t bytes);

  const uint64_t bytes_max_;
  std::atomic<uint64_t> taken_{0};
};

/// The memory of one request, or of one step of its processing. Parsers have an argument of this
/// type, where nullptr means that nothing is charged. One thread at a time.
class RequestMemory::Share {
 public:
  /// `free_bytes`: this many bytes are not charged to the budget.
  Share(RequestMemory& memory, uint64_t free_bytes)
      : memory_(memory), free_bytes_(free_bytes), granted_(free_bytes) {}
  ~Share() { GiveAll(); }
  Share(const Share&) = delete;
  Share& operator=(const Share&) = delete;

  /// Charges memory. Call it before the allocation. If it returns false, do not allocate; refusal()
  /// has the reason.
  bool Take(uint64_t bytes) {
    held_ += bytes;
    return held_ <= granted_ || Ask(bytes);
  }
  /// Charges more memory if the share holds less than `bytes` in all. Returns false like Take.
  bool Cover(uint64_t bytes) { return bytes <= held_ || Take(bytes - held_); }
  /// Give returns bytes to this share, which can use them again. GiveAll returns all bytes to the
  /// budget.
  void Give(uint64_t bytes) { held_ -= bytes; }
  void GiveAll();
  [[nodiscard]] uint64_t held() const { return held_; }

  /// The error of the last Take that was refused; OK if there was none. LimitExceeded: the request
  /// needs more than one request may take. Busy: other requests use too much memory. The owner of
  /// the share sends this error to the client, so parsers need not pass it on.
  [[nodiscard]] const Status& refusal() const { return refusal_; }

 private:
  bool Ask(uint64_t bytes);

  RequestMemory& memory_;
  const uint64_t free_bytes_;
  uint64_t held_ = 0;
  uint64_t granted_;  // free_bytes_ plus bytes from the budget
  Status refusal_;
};

/// Charges the memory of one growing buffer to a share. The destructor gives the memory back unless
/// Keep was called.
class RequestMemory::Room {
 public:
  /// The share must outlive the object. nullptr: nothing is charged.
  explicit Room(Share* share) : share_(share) {}
  ~Room() {
    if (share_ != nullptr) share_->Give(bytes_);
  }
  Room(const Room&) = delete;
  Room& operator=(const Room&) = delete;

  /// Call before the buffer grows to `bytes`. First charges the new size in addition to the old
  /// one, because both buffers exist during the copy. Then gives the old size back. If the share
  /// refuses the memory, returns its refusal().
  Status Grow(uint64_t bytes);
  /// Leaves the bytes charged to the share when the object is destroyed.
  void Keep() { bytes_ = 0; }

 private:
  Share* const share_;
  uint64_t bytes_ = 0;
};

}  // namespace hg::http
