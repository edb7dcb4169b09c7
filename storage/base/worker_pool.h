#pragma once
// Threads for work that may block: handlers, points that need names resolved, parts of queries.

#include <condition_variable>
#include <deque>
#include <functional>
#include <list>
#include <mutex>
#include <thread>

namespace hg {

/// Thread-safe.
class WorkerPool {
 public:
  /// A job's place among the threads of the pool; lives while the job runs.
  class Turn {
   public:
    explicit Turn(WorkerPool& pool) : pool_(pool) {}
    Turn(const Turn&) = delete;
    Turn& operator=(const Turn&) = delete;

    /// The job takes long, or waits for somebody: another thread does what comes next, and this one
    /// ends with the job. Any thread; calls after the first do nothing, nor does the first one when
    /// kGivenWayMax jobs have done so already.
    void GiveWay();

   private:
    friend class WorkerPool;
    WorkerPool& pool_;
    bool gave_way_ = false;  // guarded by pool_.mutex_
  };
  using Job = std::function<void(Turn&)>;

  static constexpr size_t kGivenWayMax = 512;

  /// `queue_max`: jobs waiting; more are refused.
  WorkerPool(int threads, size_t queue_max);
  /// Joins.
  ~WorkerPool();

  /// False: the queue is full or the pool is stopping; the job was not taken.
  bool Post(Job job);

  /// Takes no more jobs, finishes those that it has, and ends the threads. Idempotent.
  void Join();

 private:
  void Run();
  void StartThread();  // with mutex_ held
  void EndThread();    // with mutex_ held; moves this thread to ended_
  void JoinEndedThreads();

  const size_t queue_max_;
  std::mutex mutex_;
  std::condition_variable wake_;
  std::deque<Job> queue_;           // guarded by mutex_
  bool stopping_ = false;           // guarded by mutex_
  size_t given_way_ = 0;            // guarded by mutex_: jobs that run beside the pool's width
  std::list<std::thread> threads_;  // guarded by mutex_
  std::list<std::thread> ended_;    // guarded by mutex_: at their end, to be joined
};

}  // namespace hg
