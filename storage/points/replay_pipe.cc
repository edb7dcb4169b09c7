#include "storage/points/replay_pipe.h"

namespace hg::points {
namespace {

// Records handed over together, and how many such batches may wait: a megabyte or two.
constexpr size_t kBatchRecords = 8;
constexpr size_t kWaitingMax = 16;

}  // namespace

ReplayItem& ReplayPipe::Next() {
  if (batch_.size() == filled_) batch_.emplace_back();
  return batch_[filled_];
}

void ReplayPipe::Add() {
  if (++filled_ == kBatchRecords) HandOver();
}

void ReplayPipe::HandOver() {
  if (filled_ == 0) return;
  if (!thread_.joinable()) thread_ = std::thread([this] { ApplyAll(); });
  batch_.resize(filled_);
  filled_ = 0;
  std::unique_lock lock(mutex_);
  changed_.wait(lock, [this] { return waiting_.size() < kWaitingMax; });
  waiting_.push_back(std::move(batch_));
  batch_ = {};
  if (!spare_.empty()) {
    batch_ = std::move(spare_.back());
    spare_.pop_back();
  }
  changed_.notify_all();
}

void ReplayPipe::ApplyAll() {
  std::unique_lock lock(mutex_);
  for (;;) {
    changed_.wait(lock, [this] { return end_ || !waiting_.empty(); });
    if (waiting_.empty()) return;
    Batch batch = std::move(waiting_.front());
    waiting_.pop_front();
    changed_.notify_all();
    lock.unlock();
    for (const ReplayItem& item : batch) apply_(item);
    lock.lock();
    spare_.push_back(std::move(batch));
  }
}

void ReplayPipe::Finish() {
  HandOver();
  if (!thread_.joinable()) return;
  {
    std::lock_guard lock(mutex_);
    end_ = true;
    changed_.notify_all();
  }
  thread_.join();
}

}  // namespace hg::points
