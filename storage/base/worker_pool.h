#pragma once
// Threads for work that may block: HTTP handlers, the look-up of names of points, and parts of
// queries.

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
  /// A running job uses this object to call the pool. The object exists while the job runs.
  class Turn {
   public:
    explicit Turn(WorkerPool& pool) : pool_(pool) {}
    Turn(const Turn&) = delete;
    Turn& operator=(const Turn&) = delete;

    /// A job calls this function if it takes long or waits for something. The pool then starts
    /// another thread for the next jobs, and the thread of this job ends when the job ends. Any
    /// thread may call it. Only the first call has an effect, and only if fewer than kGivenWayMax
    /// running jobs have already called it.
    void GiveWay();

   private:
    friend class WorkerPool;
    WorkerPool& pool_;
    bool gave_way_ = false;  // guarded by pool_.mutex_
  };
  using Job = std::function<void(Turn&)>;

  static constexpr size_t kGivenWayMax = 512;

  /// `queue_max` is the maximum number of waiting jobs. Post rejects further jobs.
  WorkerPool(int threads, size_t queue_max);
  /// Calls Join.
  ~WorkerPool();

  /// Adds a job to the queue. If the queue is full or the pool is stopping, does not accept the job
  /// and returns false.
  bool Post(Job job);

  /// Stops accepting jobs, waits for the accepted ones and ends the threads. Idempotent.
  void Join();

 private:
  void Run();
  void StartThread();  // the caller must hold mutex_
  void EndThread();    // the caller must hold mutex_; moves this thread to ended_
  void JoinEndedThreads();

  const size_t queue_max_;
  std::mutex mutex_;
  std::condition_variable wake_;
  std::deque<Job> queue_;           // guarded by mutex_
  bool stopping_ = false;           // guarded by mutex_
  size_t given_way_ = 0;            // guarded by mutex_; number of running jobs that called GiveWay
  std::list<std::thread> threads_;  // guarded by mutex_
  std::list<std::thread> ended_;    // guarded by mutex_; ending threads, which must be joined
};

}  // namespace hg
