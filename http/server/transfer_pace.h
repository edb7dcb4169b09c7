#pragma once
// Detects clients that take a reply or send a request too slowly. While a client does not take its
// reply, the reply occupies one of few handler threads. While a request is incomplete, it occupies
// memory.

#include <cstdint>

namespace hg::http {

/// Bytes that a client must take in each kSlowTransferS seconds while a reply waits for it. The
/// amount doubles after each kSlowTransferDoublesS seconds. A slow client thus has ten minutes for
/// one or two megabytes and an hour for hundreds, but cannot keep a handler for ever.
constexpr uint64_t kSlowReplyBytes = 256 * 1024;
/// Like kSlowReplyBytes, for the bytes of a request that a client must send. A request that is
/// smaller than this amount must arrive within one period.
constexpr uint64_t kSlowRequestBytes = 64 * 1024;
constexpr int64_t kSlowTransferS = 60;
constexpr int64_t kSlowTransferDoublesS = 600;

/// The pace of one direction of a connection. One thread at a time.
class TransferPace {
 public:
  /// `least_bytes`: bytes that must move in each kSlowTransferS at first.
  explicit TransferPace(uint64_t least_bytes) : least_bytes_(least_bytes) {}

  /// Call about once a second. `waiting`: the server waits for the client to take or send bytes.
  /// `moved_bytes`: bytes that the client has taken, or sent, since the connection began. Returns
  /// true if the client is too slow, so that the connection should be closed.
  bool TooSlow(int64_t now_s, bool waiting, uint64_t moved_bytes);

  /// Ends the measurement of a transfer. The next transfer starts with the full allowance.
  void End() { *this = TransferPace(least_bytes_); }

 private:
  uint64_t least_bytes_;
  // True if `waiting` was true in the previous call of TooSlow. Only the time between two
  // consecutive calls with `waiting` counts.
  bool was_waiting_ = false;
  int64_t looked_s_ = 0;
  int64_t waited_s_ = 0;             // total waiting time
  int64_t window_s_ = 0;             // waiting time since the last successful check
  uint64_t window_moved_bytes_ = 0;  // moved_bytes at the last successful check
};

}  // namespace hg::http
