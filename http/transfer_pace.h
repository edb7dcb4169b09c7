#pragma once
// Detects clients that take a reply or send a request too slowly. A waiting reply keeps one of few
// handler threads; an unfinished request keeps memory.

#include <cstdint>

namespace hg::http {

/// Bytes that a client must take in each kSlowTransferS seconds while a reply waits for it. The
/// amount doubles after each kSlowTransferDoublesS seconds. A slow client thus has ten minutes for
/// one or two megabytes and an hour for hundreds, but cannot keep a handler for ever.
constexpr uint64_t kSlowReplyBytes = 256 * 1024;
/// As kSlowReplyBytes, for requests. A smaller request has one such period for all of it.
constexpr uint64_t kSlowRequestBytes = 64 * 1024;
constexpr int64_t kSlowTransferS = 60;
constexpr int64_t kSlowTransferDoublesS = 600;

/// The pace of one direction of a connection. One thread at a time.
class TransferPace {
 public:
  /// least_bytes: required bytes in each kSlowTransferS at first.
  explicit TransferPace(uint64_t least_bytes) : least_bytes_(least_bytes) {}

  /// Call about once a second. waiting: some of the transfer waits for the client. moved_bytes:
  /// bytes that the client has taken, or sent, since the connection began. True: the client is too
  /// slow, and the connection should end.
  bool TooSlow(int64_t now_s, bool waiting, uint64_t moved_bytes);

  /// The transfer has ended; the next one starts afresh.
  void End() { *this = TransferPace(least_bytes_); }

 private:
  uint64_t least_bytes_;
  // Only time between two consecutive calls with `waiting` counts.
  bool was_waiting_ = false;
  int64_t looked_s_ = 0;
  int64_t waited_s_ = 0;             // total waiting time
  int64_t window_s_ = 0;             // waiting time since the last successful check
  uint64_t window_moved_bytes_ = 0;  // moved_bytes at the last successful check
};

}  // namespace hg::http
