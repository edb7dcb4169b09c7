#pragma once
// Whether a client takes its reply, or sends its request, fast enough: a reply that waits keeps its
// handler, and there are only so many threads for handlers; a request under way keeps memory.

#include <cstdint>

namespace hg::http {

/// What a client must move of what waits for it, in each kSlowTransferS of such waiting; twice as
/// much after each kSlowTransferDoublesS. So whoever wants to keep a handler for another ten
/// minutes has to read twice as fast, while a slow line has its ten minutes for a megabyte or two,
/// and an hour for hundreds.
constexpr uint64_t kSlowReplyBytes = 256 * 1024;
/// Of requests; one that is smaller has the time for all of it.
constexpr uint64_t kSlowRequestBytes = 64 * 1024;
constexpr int64_t kSlowTransferS = 60;
constexpr int64_t kSlowTransferDoublesS = 600;

/// Of one direction of a connection. One thread at a time.
class TransferPace {
 public:
  /// least_bytes: in each kSlowTransferS, at first.
  explicit TransferPace(uint64_t least_bytes) : least_bytes_(least_bytes) {}

  /// To be asked every second or so. waiting: some of the transfer waits for the client. moved:
  /// bytes that the client has taken, or sent, since the connection began. True: too slowly, the
  /// connection should end.
  bool TooSlow(int64_t now_s, bool waiting, uint64_t moved_bytes);

  /// The transfer is over; what follows is another's.
  void End() { *this = TransferPace(least_bytes_); }

 private:
  uint64_t least_bytes_;
  // Time counts only from one look that found it waiting to the next that does.
  bool was_waiting_ = false;
  int64_t looked_s_ = 0;
  int64_t waited_s_ = 0;             // in all
  int64_t window_s_ = 0;             // since the client was last found fast enough
  uint64_t window_moved_bytes_ = 0;  // when that was
};

}  // namespace hg::http
