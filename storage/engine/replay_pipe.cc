#include "storage/engine/replay_pipe.h"

#include <system_error>
#include <utility>

#include "storage/base/invariant.h"

namespace hg::engine {
namespace {

// Number of records per batch, and maximum number of waiting batches per shard. All waiting batches
// together take a few megabytes. A typical client writes about ten consecutive records to one
// shard, then continues with the next shard.
constexpr size_t kBatchRecords = 8;
constexpr size_t kWaitingMax = 32;

}  // namespace

ReplayItem& ReplayPipe::Shard::Next() {
  INVARIANT(filled_ < kBatchRecords && filled_ <= batch_.size());
  if (batch_.size() == filled_) batch_.emplace_back();
  return batch_[filled_];
}

void ReplayPipe::Shard::Add(const Apply& apply) {
  INVARIANT(filled_ < batch_.size());  // Next was called before
  if (++filled_ == kBatchRecords) HandOver(apply);
}

void ReplayPipe::Shard::HandOver(const Apply& apply) {
  if (filled_ == 0) return;
  batch_.resize(std::exchange(filled_, 0));
  if (!thread_.joinable()) {
    try {
      thread_ = std::thread([this, &apply] { ApplyAll(apply); });
    } catch (const std::system_error&) {  // no thread is available now
      for (const ReplayItem& item : batch_) apply(item);
      return;
    }
  }
  std::unique_lock lock(mutex_);
  INVARIANT(!end_);
  changed_.wait(lock, [this] { return waiting_.size() < kWaitingMax; });
  waiting_.push_back(std::move(batch_));
  batch_ = {};
  if (!spare_.empty()) {
    batch_ = std::move(spare_.back());
    spare_.pop_back();
  }
  changed_.notify_all();
}

void ReplayPipe::Shard::ApplyAll(const Apply& apply) {
  std::unique_lock lock(mutex_);
  for (;;) {
    changed_.wait(lock, [this] { return end_ || !waiting_.empty(); });
    if (waiting_.empty()) return;
    Batch batch = std::move(waiting_.front());
    waiting_.pop_front();
    changed_.notify_all();
    lock.unlock();
    INVARIANT(!batch.empty() && batch.size() <= kBatchRecords);
    for (const ReplayItem& item : batch) apply(item);
    lock.lock();
    spare_.push_back(std::move(batch));
  }
}

void ReplayPipe::Shard::End(const Apply& apply) {
  HandOver(apply);
  std::lock_guard lock(mutex_);
  end_ = true;
  changed_.notify_all();
}

void ReplayPipe::Shard::Join() {
  if (thread_.joinable()) thread_.join();
}

}  // namespace hg::engine
