#pragma once
// The memory of requests while they are received and parsed. It includes bodies before and after
// decompression, and parsed documents, which may need a hundred times as much memory as the body.
// All requests share one budget, so the server rejects requests before memory is exhausted.

#include <atomic>
#include <cstdint>

#include "storage/base/status.h"

namespace hg::http {

/// The memory budget of requests. The object is thread-safe, and must outlive its shares.
class RequestMemory {
 public:
  class Share;
  class Room;

  /// `bytes_max` is the size of the budget; 0 = no limit. One share may take at most half of the
  /// budget.
  explicit RequestMemory(uint64_t bytes_max) : bytes_max_(bytes_max) {}

  [[nodiscard]] uint64_t taken() const { return taken_.load(std::memory_order_relaxed); }
  /// Returns whether more than three quarters of the budget are taken.
  [[nodiscard]] bool scarce() const { return bytes_max_ != 0 && taken() > bytes_max_ / 4 * 3; }

 private:
  /// Takes `bytes` from the budget and returns true. If the budget has not enough bytes left, takes
  /// nothing and returns false. If two concurrent calls need the last bytes of the budget, only one
  /// of them gets these bytes.
  bool Grant(uint64_t bytes);

  const uint64_t bytes_max_;
  std::atomic<uint64_t> taken_{0};
};

/// The memory of one request, or of one step in the processing of a request. Parsers have an
/// argument of the type Share*; if it is nullptr, they charge nothing. Only one thread at a time
/// may use a share.
class RequestMemory::Share {
 public:
  /// The first `free_bytes` bytes of this share are not charged to the budget.
  Share(RequestMemory& memory, uint64_t free_bytes)
      : memory_(memory), free_bytes_(free_bytes), granted_(free_bytes) {}
  ~Share() { GiveAll(); }
  Share(const Share&) = delete;
  Share& operator=(const Share&) = delete;

  /// Charges memory to the share and returns true. Call this function before you allocate the
  /// memory. If the function returns false, do not allocate; refusal() returns the reason.
  bool Take(uint64_t bytes) {
    held_ += bytes;
    return held_ <= granted_ || Ask(bytes);
  }
  /// If fewer than `bytes` bytes are charged to the share, calls Take for the missing bytes and
  /// returns its result. Otherwise returns true.
  bool Cover(uint64_t bytes) { return bytes <= held_ || Take(bytes - held_); }
  /// Give returns bytes to this share, so that the share can use them again. GiveAll returns all
  /// bytes of the share to the budget.
  void Give(uint64_t bytes) { held_ -= bytes; }
  void GiveAll();
  [[nodiscard]] uint64_t held() const { return held_; }

  /// Returns the error of the last Take that failed, or OK if no Take has failed. LimitExceeded:
  /// the request needs more memory than one request may take. Busy: other requests use too much
  /// memory. The owner of the share sends this error to the client, so parsers need not return it.
  [[nodiscard]] const Status& refusal() const { return refusal_; }

 private:
  bool Ask(uint64_t bytes);

  RequestMemory& memory_;
  const uint64_t free_bytes_;
  uint64_t held_ = 0;
  uint64_t granted_;  // free_bytes_ plus the bytes taken from the budget
  Status refusal_;
};

/// Charges the memory of one growing buffer to a share. The destructor gives the memory back to the
/// share, unless Keep was called.
class RequestMemory::Room {
 public:
  /// The share must outlive the object. If `share` is nullptr, the object charges nothing.
  explicit Room(Share* share) : share_(share) {}
  ~Room() {
    if (share_ != nullptr) share_->Give(bytes_);
  }
  Room(const Room&) = delete;
  Room& operator=(const Room&) = delete;

  /// Charges the memory for a buffer that grows to `bytes`. Call this function before the buffer
  /// grows. The function first charges the new size in addition to the old size, because both
  /// buffers exist while the contents are copied. Then it gives the old size back. If the share has
  /// not enough memory, the function returns refusal() of the share.
  Status Grow(uint64_t bytes);
  /// Charges the memory for several buffers that together grow to `bytes` and are not copied when
  /// they grow. If they need less than before, the memory stays charged. If the share has not
  /// enough memory, the function returns refusal() of the share.
  Status Cover(uint64_t bytes);
  /// Leaves the memory charged to the share when this object is destroyed.
  void Keep() { bytes_ = 0; }

 private:
  Share* const share_;
  uint64_t bytes_ = 0;
};

}  // namespace hg::http
