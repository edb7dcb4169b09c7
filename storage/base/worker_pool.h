#pragma once
// Threads for work that may block: HTTP handlers, the naming of points of new series, and parts of
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
  /// A running job calls the pool through this object, which exists while the job runs.
  class Turn {
   public:
    explicit Turn(WorkerPool& pool) : pool_(pool) {}
    Turn(const Turn&) = delete;
    Turn& operator=(const Turn&) = delete;

    /// A job calls this if it takes long or waits for something. The pool then starts another
    /// thread for the next jobs, and the thread of this job ends when the job ends. Any thread may
    /// call it. Later calls do nothing. The first call does nothing either if kGivenWayMax running
    /// jobs have already called it.
    void GiveWay();

   private:
    friend class WorkerPool;
    WorkerPool& pool_;
    bool gave_way_ = false;  // guarded by pool_.mutex_
  };
  using Job = std::function<void(Turn&)>;

  static constexpr size_t kGivenWayMax = 512;

  /// `queue_max`: maximum number of waiting jobs. Post refuses more.
  WorkerPool(int threads, size_t queue_max);
  /// Calls Join.
  ~WorkerPool();

  /// Adds a job to the queue. Returns false without accepting it if the queue is full or the pool
  /// is stopping.
  bool Post(Job job);

  /// Stops accepting jobs, finishes the accepted ones and ends the threads. Idempotent.
  void Join();

 private:
  void Run();
  void StartThread();  // the caller holds mutex_
  void EndThread();    // the caller holds mutex_; moves this thread to ended_
  void JoinEndedThreads();

  const size_t queue_max_;
  std::mutex mutex_;
  std::condition_variable wake_;
  std::deque<Job> queue_;           // guarded by mutex_
  bool stopping_ = false;           // guarded by mutex_
  size_t given_way_ = 0;            // guarded by mutex_; number of running jobs that called GiveWay
  std::list<std::thread> threads_;  // guarded by mutex_
  std::list<std::thread> ended_;    // guarded by mutex_; threads that are ending and must be joined
};

}  // namespace hg
