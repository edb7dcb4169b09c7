#include "http/reply_pace.h"

#include <algorithm>

namespace hg::http {
namespace {

constexpr int64_t kDoublingsMax = 32;

}  // namespace

bool ReplyPace::TooSlow(int64_t now_s, bool waiting, uint64_t taken_bytes) {
  if (waiting && was_waiting_) {
    waited_s_ += now_s - looked_s_;
    window_s_ += now_s - looked_s_;
  } else if (waited_s_ == 0) {
    window_taken_bytes_ = taken_bytes;
  }
  was_waiting_ = waiting;
  looked_s_ = now_s;
  if (window_s_ <= kSlowReplyS) return false;
  // Of the time before this window: a reply is not asked for more in hindsight.
  const int64_t doublings = (waited_s_ - window_s_) / kSlowReplyDoublesS;
  const uint64_t wanted = kSlowReplyBytes << std::min(doublings, kDoublingsMax);
  const bool slow = taken_bytes - window_taken_bytes_ < wanted;
  window_s_ = 0;
  window_taken_bytes_ = taken_bytes;
  return slow;
}

}  // namespace hg::http
