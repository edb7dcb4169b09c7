#include "uid/highest_ids.h"

#include "storage/base/survive.h"

namespace hg::uid {

void HighestIds::Start() {
  Read();
  worker_ = std::thread([this] { Work(); });
}

void HighestIds::Stop() {
  {
    const std::lock_guard lock(mutex_);
    stopping_ = true;
    changed_.notify_all();
  }
  if (worker_.joinable()) worker_.join();
}

std::optional<int64_t> HighestIds::Of(UidKind kind) const {
  const int64_t read = read_[static_cast<size_t>(kind)];
  return read < 0 ? std::nullopt : std::optional(read);
}

void HighestIds::Read() {
  for (const UidKind kind : kUidKinds) {
    const Result<int64_t> highest = Survive([&] { return names_.HighestId(kind); });
    if (highest.ok()) read_[static_cast<size_t>(kind)] = *highest;
  }
}

void HighestIds::Work() {
  std::unique_lock lock(mutex_);
  while (!changed_.wait_for(lock, interval_, [this] { return stopping_; })) {
    lock.unlock();
    Read();
    lock.lock();
  }
}

}  // namespace hg::uid
