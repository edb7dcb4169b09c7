#include "storage/base/worker_pool.h"

#include <algorithm>

#include "storage/base/invariant.h"
#include "storage/base/survive.h"

namespace hg {

WorkerPool::WorkerPool(int threads, size_t queue_max) : queue_max_(queue_max) {
  std::lock_guard lock(mutex_);
  for (int i = 0; i < std::max(threads, 1); ++i) StartThread();
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
  threads_.emplace_back([this] { Run(); });
}

void WorkerPool::EndThread() {
  const auto self = std::find_if(threads_.begin(), threads_.end(), [](const std::thread& thread) {
    return thread.get_id() == std::this_thread::get_id();
  });
  // If the thread is not in the list, Join has already taken it.
  if (self != threads_.end()) ended_.splice(ended_.end(), threads_, self);
}

void WorkerPool::JoinEndedThreads() {
  std::list<std::thread> ended;
  {
    std::lock_guard lock(mutex_);
    ended.splice(ended.end(), ended_);
  }
  for (std::thread& thread : ended) thread.join();
}

bool WorkerPool::Turn::GiveWay() {
  {
    std::lock_guard lock(pool_.mutex_);
    if (gave_way_) return true;
    if (pool_.given_way_ == kGivenWayMax) return false;
    // If no thread can be started, the job continues on its thread as before.
    if (!Survive([this] { pool_.StartThread(); }).ok()) return false;
    gave_way_ = true;
    ++pool_.given_way_;
  }
  pool_.JoinEndedThreads();
  return true;
}

void WorkerPool::Run() {
  for (;;) {
    Job job;
    {
      std::unique_lock lock(mutex_);
      wake_.wait(lock, [this] { return stopping_ || !queue_.empty(); });
      if (queue_.empty()) return;
      job = std::move(queue_.front());
      queue_.pop_front();
    }
    Turn turn(*this);
    (void)Survive([&] { job(turn); });
    job = nullptr;
    std::lock_guard lock(mutex_);
    INVARIANT(given_way_ <= kGivenWayMax && queue_.size() <= queue_max_);
    if (!turn.gave_way_) continue;
    INVARIANT(given_way_ > 0);
    --given_way_;
    EndThread();
    return;
  }
}

}  // namespace hg
