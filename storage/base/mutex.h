#pragma once
// Classes for clang's thread-safety check, in addition to Mutex and MutexLock
// (thread_annotations.h): an adopted lock, a condition variable, and a mutex with many readers.

#include <condition_variable>
#include <shared_mutex>

#include "storage/base/thread_annotations.h"

/// Marks a function that locks the mutex, so its caller must not hold it.
#define EXCLUDES(mutex) HG_THREAD_ANNOTATION(locks_excluded(mutex))
/// Marks a function that returns true if it has locked the mutex. The caller then holds the mutex.
#define TRY_ACQUIRE(mutex) HG_THREAD_ANNOTATION(try_acquire_capability(true, mutex))

namespace hg {

/// Owns a lock of a Mutex that the caller has already locked. The destructor unlocks the Mutex.
class HG_THREAD_ANNOTATION(scoped_lockable) AdoptedLock {
 public:
  explicit AdoptedLock(Mutex& mutex) REQUIRES(mutex) : mutex_(mutex) {}
  AdoptedLock(const AdoptedLock&) = delete;
  AdoptedLock& operator=(const AdoptedLock&) = delete;
  ~AdoptedLock() HG_THREAD_ANNOTATION(release_capability()) { mutex_.Unlock(); }

 private:
  Mutex& mutex_;
};

/// A condition variable. A thread that waits must hold the Mutex. Wait calls the function `done`
/// while the Mutex is held. `done` must call AssertHeld first if it uses guarded members, and
/// `done` must not throw.
class CondVar {
 public:
  template <typename Done>
  void Wait(Mutex& mutex, const Done& done) REQUIRES(mutex) {
    Held held{mutex};
    changed_.wait(held, done);
  }
  /// Waits as Wait does, but at most for `time`. After this time, WaitFor returns even if `done`
  /// still returns false.
  template <typename Duration, typename Done>
  void WaitFor(Mutex& mutex, Duration time, const Done& done) REQUIRES(mutex) {
    Held held{mutex};
    changed_.wait_for(held, time, done);
  }
  void NotifyAll() { changed_.notify_all(); }

 private:
  // A lock for std::condition_variable_any, which requires these functions.
  struct Held {
    void lock() HG_THREAD_ANNOTATION(no_thread_safety_analysis) { mutex.Lock(); }
    void unlock() HG_THREAD_ANNOTATION(no_thread_safety_analysis) { mutex.Unlock(); }
    Mutex& mutex;
  };

  std::condition_variable_any changed_;
};

/// A std::shared_mutex that can protect members marked with GUARDED_BY.
class HG_THREAD_ANNOTATION(capability("mutex")) SharedMutex {
 public:
  void Lock() HG_THREAD_ANNOTATION(acquire_capability()) { mutex_.lock(); }
  void Unlock() HG_THREAD_ANNOTATION(release_capability()) { mutex_.unlock(); }
  void LockShared() HG_THREAD_ANNOTATION(acquire_shared_capability()) { mutex_.lock_shared(); }
  void UnlockShared() HG_THREAD_ANNOTATION(release_shared_capability()) { mutex_.unlock_shared(); }

 private:
  std::shared_mutex mutex_;
};

/// Locks a SharedMutex for writing in the constructor and unlocks it in the destructor.
class HG_THREAD_ANNOTATION(scoped_lockable) WriterLock {
 public:
  explicit WriterLock(SharedMutex& mutex) HG_THREAD_ANNOTATION(acquire_capability(mutex))
      : mutex_(mutex) {
    mutex_.Lock();
  }
  WriterLock(const WriterLock&) = delete;
  WriterLock& operator=(const WriterLock&) = delete;
  ~WriterLock() HG_THREAD_ANNOTATION(release_capability()) { mutex_.Unlock(); }

 private:
  SharedMutex& mutex_;
};

/// Locks a SharedMutex for reading in the constructor and unlocks it in the destructor.
class HG_THREAD_ANNOTATION(scoped_lockable) ReaderLock {
 public:
  explicit ReaderLock(SharedMutex& mutex) HG_THREAD_ANNOTATION(acquire_shared_capability(mutex))
      : mutex_(mutex) {
    mutex_.LockShared();
  }
  ReaderLock(const ReaderLock&) = delete;
  ReaderLock& operator=(const ReaderLock&) = delete;
  ~ReaderLock() HG_THREAD_ANNOTATION(release_capability()) { mutex_.UnlockShared(); }

 private:
  SharedMutex& mutex_;
};

}  // namespace hg
