#pragma once
// Whether the client of a reply takes it fast enough: while it does not, the reply's handler waits,
// and there are only so many threads for handlers.

#include <cstdint>

namespace hg::http {

/// What a client must take while its reply waits for it, in each kSlowReplyS of such waiting; twice
/// as much after each kSlowReplyDoublesS. So whoever wants to keep a handler for another ten
/// minutes has to read twice as fast, while a slow line has its ten minutes for a megabyte or two,
/// and an hour for hundreds.
constexpr uint64_t kSlowReplyBytes = 256 * 1024;
constexpr int64_t kSlowReplyS = 60;
constexpr int64_t kSlowReplyDoublesS = 600;

/// Of one connection. One thread at a time.
class ReplyPace {
 public:
  /// To be asked every second or so. waiting: some of the reply waits for the client. taken: bytes
  /// that the client has taken since the connection began. True: too slowly, the connection should
  /// end.
  bool TooSlow(int64_t now_s, bool waiting, uint64_t taken_bytes);

  /// The reply is over; what follows is another's.
  void End() { *this = ReplyPace(); }

 private:
  // Time counts only from one look that found it waiting to the next that does.
  bool was_waiting_ = false;
  int64_t looked_s_ = 0;
  int64_t waited_s_ = 0;             // in all
  int64_t window_s_ = 0;             // since the client was last found fast enough
  uint64_t window_taken_bytes_ = 0;  // when that was
};

}  // namespace hg::http
