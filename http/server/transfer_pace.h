#pragma once
// Detects clients that receive a reply or send a request too slowly. While a client does not
// receive its reply, the reply occupies one of the few threads for handlers. While a request is
// incomplete, it occupies memory.

#include <cstdint>

namespace hg::http {

/// Number of bytes that a client must receive in each kSlowTransferS seconds while a reply waits.
/// The amount doubles after each kSlowTransferDoublesS seconds. A slow client thus has ten minutes
/// for one or two megabytes and an hour for hundreds, but cannot block a handler for ever.
constexpr uint64_t kSlowReplyBytes = 256 * 1024;
/// Like kSlowReplyBytes, for the bytes of a request that a client must send. A request that is
/// smaller than this must arrive within one period.
constexpr uint64_t kSlowRequestBytes = 64 * 1024;
constexpr int64_t kSlowTransferS = 60;
constexpr int64_t kSlowTransferDoublesS = 600;

/// The pace of one direction of a connection. Use on one thread at a time.
class TransferPace {
 public:
  /// `least_bytes`: the bytes that must move in each of the first periods of kSlowTransferS.
  explicit TransferPace(uint64_t least_bytes) : least_bytes_(least_bytes) {}

  /// Call this function about once a second. `waiting`: whether the server waits for the client.
  /// `moved_bytes`: bytes that the client has received, or sent, since the connection began.
  /// Returns true if the client is too slow, so that the connection should be closed.
  bool TooSlow(int64_t now_s, bool waiting, uint64_t moved_bytes);

  /// Ends the measurement of a transfer. The next transfer starts with the full allowance.
  void End() { *this = TransferPace(least_bytes_); }

 private:
  uint64_t least_bytes_;
  // The argument `waiting` of the previous call of TooSlow. Only the time between two consecutive
  // calls in which `waiting` is true counts.
  bool was_waiting_ = false;
  int64_t looked_s_ = 0;
  int64_t waited_s_ = 0;             // total waiting time
  int64_t window_s_ = 0;             // waiting time since the last successful check
  uint64_t window_moved_bytes_ = 0;  // moved_bytes at the last successful check
};

}  // namespace hg::http
