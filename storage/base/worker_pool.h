#pragma once
// Threads for work that may block, such as HTTP handlers, the look-up of the names of points, and
// parts of queries.

#include <condition_variable>
#include <deque>
#include <functional>
#include <list>
#include <mutex>
#include <thread>

namespace hg {

/// Runs jobs on threads of its own. Thread-safe.
///
/// While jobs that gave way are running, the pool may have more threads than it started with. When
/// these jobs have ended, it keeps at most twice as many threads as it started with. The kept
/// threads run later jobs, so a job that gives way rarely has to start a thread, and what a thread
/// keeps between jobs (thread_local variables, such as parsers with their buffers) is rarely built
/// again.
class WorkerPool {
 public:
  /// A running job uses its Turn to call the pool. The Turn exists while the job runs.
  class Turn {
   public:
    explicit Turn(WorkerPool& pool) : pool_(pool) {}
    Turn(const Turn&) = delete;
    Turn& operator=(const Turn&) = delete;

    /// A job calls GiveWay if the job takes long or waits for something. Another thread of the pool
    /// then takes the next jobs. If too few are left, the pool starts one. Any thread may call
    /// GiveWay. Only the first call for a job has an effect, and only if fewer than kGivenWayMax
    /// running jobs have already called GiveWay. Returns whether this call or an earlier one has
    /// had an effect.
    bool GiveWay();

   private:
    friend class WorkerPool;
    WorkerPool& pool_;
    bool gave_way_ = false;  // guarded by pool_.mutex_
  };
  using Job = std::function<void(Turn&)>;

  static constexpr size_t kGivenWayMax = 512;

  /// `threads` is the maximum number of jobs that run at the same time, not counting jobs that gave
  /// way. `queue_max` is the maximum number of waiting jobs. When `queue_max` jobs are waiting,
  /// Post rejects further jobs.
  WorkerPool(int threads, size_t queue_max);
  /// The destructor calls Join.
  ~WorkerPool();

  /// Adds a job to the queue. If the queue is full or the pool is stopping, Post rejects the job
  /// and returns false.
  bool Post(Job job);

  /// Stops accepting jobs, waits for the accepted jobs and ends the threads. Idempotent.
  void Join();

 private:
  bool RunNextJob();   // returns false: the thread must end
  void StartThread();  // the caller must hold mutex_
  void EndThread();    // the caller must hold mutex_; moves this thread to ended_

  const size_t running_max_;
  const size_t queue_max_;
  std::mutex mutex_;
  std::condition_variable wake_;
  std::deque<Job> queue_;           // guarded by mutex_
  bool stopping_ = false;           // guarded by mutex_
  size_t given_way_ = 0;            // guarded by mutex_; number of running jobs that called GiveWay
  size_t running_ = 0;              // guarded by mutex_; number of the other running jobs
  size_t idle_ = 0;                 // guarded by mutex_; number of threads without a job
  std::list<std::thread> threads_;  // guarded by mutex_
  std::list<std::thread> ended_;    // guarded by mutex_; ending threads, which must be joined
};

}  // namespace hg
