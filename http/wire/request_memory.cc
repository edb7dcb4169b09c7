#include "http/wire/request_memory.h"

#include <algorithm>
#include <string>
#include <utility>

namespace hg::http {
namespace {

/// Each time a share takes bytes from the budget, it takes as many as it already has, but at most
/// this number. So small allocations rarely access the budget.
constexpr uint64_t kStepBytes = 256 * 1024;

std::string Megabytes(uint64_t bytes) { return std::to_string(bytes >> 20) + " MB"; }

}  // namespace

bool RequestMemory::Grant(uint64_t bytes) {
  uint64_t taken = taken_.load(std::memory_order_relaxed);
  while (bytes_max_ == 0 || taken + bytes <= bytes_max_) {
    if (taken_.compare_exchange_weak(taken, taken + bytes, std::memory_order_relaxed)) return true;
  }
  return false;
}

bool RequestMemory::Share::Ask(uint64_t bytes) {
  const uint64_t all = memory_.bytes_max_, one = all / 2;
  if (all != 0 && held_ - free_bytes_ > one) {
    refusal_ = Status::LimitExceeded(
        "The request takes more than the " + Megabytes(one) +
        " of memory that one may take to be read (a sixteenth of tsd.memory.limit, or three times "
        "tsd.http.request.max_chunk, but at most a quarter of tsd.memory.limit)");
    held_ -= bytes;
    return false;
  }
  uint64_t more = held_ - granted_;
  const uint64_t most = all != 0 ? free_bytes_ + one - granted_ : UINT64_MAX;
  const uint64_t stepped = std::max(more, std::min({granted_, kStepBytes, most}));
  if (memory_.Grant(stepped)) {
    more = stepped;
  } else if (!memory_.Grant(more)) {
    refusal_ = Status::Busy("Other requests hold the " + Megabytes(all) +
                            " of memory in which requests are read (an eighth of "
                            "tsd.memory.limit, or six times tsd.http.request.max_chunk, but at "
                            "most half of tsd.memory.limit); please try again");
    held_ -= bytes;
    return false;
  }
  granted_ += more;
  return true;
}

void RequestMemory::Share::GiveAll() {
  if (granted_ != free_bytes_)
    memory_.taken_.fetch_sub(granted_ - free_bytes_, std::memory_order_relaxed);
  granted_ = free_bytes_;
  held_ = 0;
}

Status RequestMemory::Room::Grow(uint64_t bytes) {
  if (share_ == nullptr || bytes <= bytes_) return {};
  if (!share_->Take(bytes)) return share_->refusal();
  share_->Give(std::exchange(bytes_, bytes));
  return {};
}

Status RequestMemory::Room::Cover(uint64_t bytes) {
  if (share_ == nullptr || bytes <= bytes_) return {};
  if (!share_->Take(bytes - bytes_)) return share_->refusal();
  bytes_ = bytes;
  return {};
}

}  // namespace hg::http
