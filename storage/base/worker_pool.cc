#include "storage/base/worker_pool.h"

#include <algorithm>

#include "storage/base/invariant.h"
#include "storage/base/survive.h"

namespace hg {

WorkerPool::WorkerPool(int threads, size_t queue_max)
    : running_max_(static_cast<size_t>(std::max(threads, 1))), queue_max_(queue_max) {
  std::lock_guard lock(mutex_);
  while (idle_ < running_max_) StartThread();
}

WorkerPool::~WorkerPool() { Join(); }

bool WorkerPool::Post(Job job) {
  {
    std::lock_guard lock(mutex_);
    if (stopping_ || queue_.size() >= queue_max_) return false;
    queue_.push_back(std::move(job));
  }
  wake_.notify_one();
  return true;
}

void WorkerPool::Join() {
  {
    std::lock_guard lock(mutex_);
    stopping_ = true;
  }
  wake_.notify_all();
  // The loop is needed because a running job may still start a thread to replace its own.
  for (;;) {
    std::list<std::thread> threads;
    {
      std::lock_guard lock(mutex_);
      threads.splice(threads.end(), threads_);
      threads.splice(threads.end(), ended_);
    }
    if (threads.empty()) return;
    for (std::thread& thread : threads) thread.join();
  }
}

void WorkerPool::StartThread() {
  threads_.emplace_back([this] {
    while (RunNextJob()) {
    }
  });
  ++idle_;
}

void WorkerPool::EndThread() {
  const auto self = std::find_if(threads_.begin(), threads_.end(), [](const std::thread& thread) {
    return thread.get_id() == std::this_thread::get_id();
  });
  // If the thread is not in the list, Join has already taken it.
  if (self != threads_.end()) ended_.splice(ended_.end(), threads_, self);
}

bool WorkerPool::Turn::GiveWay() {
  std::list<std::thread> ended;
  {
    std::lock_guard lock(pool_.mutex_);
    if (gave_way_) return true;
    if (pool_.given_way_ == kGivenWayMax) return false;
    // If no thread can be started, the job continues on its thread as before.
    const bool too_few = pool_.idle_ + pool_.running_ <= pool_.running_max_;
    if (too_few && !Survive([this] { pool_.StartThread(); }).ok()) return false;
    gave_way_ = true;
    ++pool_.given_way_;
    --pool_.running_;
    ended.splice(ended.end(), pool_.ended_);
  }
  pool_.wake_.notify_one();
  for (std::thread& thread : ended) thread.join();
  return true;
}

bool WorkerPool::RunNextJob() {
  Job job;
  {
    std::unique_lock lock(mutex_);
    wake_.wait(lock, [this] { return queue_.empty() ? stopping_ : running_ < running_max_; });
    INVARIANT(idle_ > 0);
    --idle_;
    if (queue_.empty()) return false;
    job = std::move(queue_.front());
    queue_.pop_front();
    ++running_;
    // This was the last job of a pool that is stopping: the idle threads wake up and end.
    if (stopping_ && queue_.empty()) wake_.notify_all();
  }
  Turn turn(*this);
  (void)Survive([&] { job(turn); });
  job = nullptr;
  std::lock_guard lock(mutex_);
  INVARIANT(given_way_ <= kGivenWayMax && running_ <= running_max_ && queue_.size() <= queue_max_);
  size_t& running = turn.gave_way_ ? given_way_ : running_;
  INVARIANT(running > 0);
  --running;
  if (turn.gave_way_ && idle_ + running_ >= 2 * running_max_) {
    EndThread();
    return false;
  }
  ++idle_;
  return true;
}

}  // namespace hg
