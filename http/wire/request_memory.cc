#include "http/wire/request_memory.h"

#include <algorithm>
#include <string>

namespace hg::http {
namespace {

/// Asked for at once, so that a document's values do not ask one by one.
constexpr uint64_t kStepBytes = 256 * 1024;

std::string Megabytes(uint64_t bytes) { return std::to_string(bytes >> 20) + " MB"; }

}  // namespace

bool RequestMemory::Share::Ask(uint64_t bytes) {
  const uint64_t all = memory_.bytes_max_, one = all / 2;
  if (all != 0 && held_ - free_bytes_ > one) {
    refusal_ = Status::LimitExceeded(
        "The request takes more than the " + Megabytes(one) +
        " of memory that one may take to be read (a sixteenth of tsd.memory.limit, or three times "
        "tsd.http.request.max_chunk)");
    held_ -= bytes;
    return false;
  }
  uint64_t more = held_ - granted_;
  const uint64_t stepped = std::max(more, kStepBytes);
  const auto take = [this, all](uint64_t wanted) {
    if (memory_.taken_.fetch_add(wanted, std::memory_order_relaxed) + wanted <= all || all == 0)
      return true;
    memory_.taken_.fetch_sub(wanted, std::memory_order_relaxed);
    return false;
  };
  if (take(stepped)) {
    more = stepped;
  } else if (!take(more)) {
    refusal_ = Status::Busy("Other requests hold the " + Megabytes(all) +
                            " of memory in which requests are read (an eighth of "
                            "tsd.memory.limit); please try again");
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

}  // namespace hg::http
