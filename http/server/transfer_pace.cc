#include "http/server/transfer_pace.h"

#include <algorithm>

namespace hg::http {
namespace {

constexpr int64_t kDoublingsMax = 32;

}  // namespace

bool TransferPace::TooSlow(int64_t now_s, bool waiting, uint64_t moved_bytes) {
  if (waiting && was_waiting_) {
    waited_s_ += now_s - looked_s_;
    window_s_ += now_s - looked_s_;
  } else if (waited_s_ == 0) {
    window_moved_bytes_ = moved_bytes;
  }
  was_waiting_ = waiting;
  looked_s_ = now_s;
  if (window_s_ <= kSlowTransferS) return false;
  // The required amount doubles with the waiting time before this window. The window's own time
  // does not count, because the bytes of this window were sent before the limit could rise.
  const int64_t doublings = (waited_s_ - window_s_) / kSlowTransferDoublesS;
  const uint64_t wanted = least_bytes_ << std::min(doublings, kDoublingsMax);
  const bool slow = moved_bytes - window_moved_bytes_ < wanted;
  window_s_ = 0;
  window_moved_bytes_ = moved_bytes;
  return slow;
}

}  // namespace hg::http
