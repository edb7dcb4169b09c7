#pragma once
// Threads for work that may block: handlers, and points that need names resolved.

#include <condition_variable>
#include <deque>
#include <functional>
#include <mutex>
#include <thread>
#include <vector>

namespace hg::http {

/// Thread-safe.
class WorkerPool {
 public:
  /// `queue_max`: jobs waiting; more are refused.
  WorkerPool(int threads, size_t queue_max);
  /// Joins.
  ~WorkerPool();

  /// False: the queue is full or the pool is stopping; the job was not taken.
  bool Post(std::function<void()> job);

  /// Takes no more jobs, finishes those that it has, and ends the threads. Idempotent.
  void Join();

 private:
  void Run();

  const size_t queue_max_;
  std::mutex mutex_;
  std::condition_variable wake_;
  std::deque<std::function<void()>> queue_;
  bool stopping_ = false;
  std::vector<std::thread> threads_;
};

}  // namespace hg::http
