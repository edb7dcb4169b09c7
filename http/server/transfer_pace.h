#pragma once
// Detects clients that receive a reply or send a request too slowly. A reply that waits for its
// client occupies one of the few threads for handlers. An incomplete request occupies memory.

#include <cstdint>

namespace hg::http {

/// The number of bytes that a client must receive in each period of kSlowTransferS seconds while a
/// reply waits for the client. The number doubles after each kSlowTransferDoublesS seconds, so a
/// slow client cannot block a handler for ever. For a reply of 2 MiB, a client may need ten
/// minutes; for a reply of 150 MiB, it may need an hour.
constexpr uint64_t kSlowReplyBytes = 256 * 1024;
/// The number of bytes of a request that a client must send in each period of kSlowTransferS
/// seconds. This number doubles as kSlowReplyBytes does. A smaller request must arrive completely
/// within one period.
constexpr uint64_t kSlowRequestBytes = 64 * 1024;
constexpr int64_t kSlowTransferS = 60;
constexpr int64_t kSlowTransferDoublesS = 600;

/// The pace of one direction of a connection. Only one thread at a time may use the object.
class TransferPace {
 public:
  /// `least_bytes` is the number of bytes that must be transferred in each of the first periods of
  /// kSlowTransferS.
  explicit TransferPace(uint64_t least_bytes) : least_bytes_(least_bytes) {}

  /// Returns true if the client is too slow, so that the connection should be closed. Call this
  /// function about once a second. `waiting`: whether the server waits for the client.
  /// `moved_bytes`: the number of bytes that the client has received (or sent) since the connection
  /// began.
  bool TooSlow(int64_t now_s, bool waiting, uint64_t moved_bytes);

  /// Ends the measurement of a transfer. The next transfer starts again with the requirement of the
  /// first period.
  void End() { *this = TransferPace(least_bytes_); }

 private:
  uint64_t least_bytes_;
  // The argument `waiting` of the previous call of TooSlow. Time counts as waiting time only
  // between two consecutive calls in which `waiting` is true.
  bool was_waiting_ = false;
  int64_t looked_s_ = 0;
  int64_t waited_s_ = 0;             // total waiting time in seconds
  int64_t window_s_ = 0;             // waiting time in seconds since the last successful check
  uint64_t window_moved_bytes_ = 0;  // the argument moved_bytes at the last successful check
};

}  // namespace hg::http
