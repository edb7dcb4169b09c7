#pragma once
// A mutex for clang's thread-safety check. A member marked GUARDED_BY(mutex) may be used only while
// the mutex is locked. The check is -Wthread-safety, whose warnings are errors in the clang build
// of this project.

#include <mutex>

#if defined(__clang__)
#define HG_THREAD_ANNOTATION(x) __attribute__((x))
#else
#define HG_THREAD_ANNOTATION(x)
#endif

#define GUARDED_BY(mutex) HG_THREAD_ANNOTATION(guarded_by(mutex))
/// Marks a function whose caller must hold the mutex.
#define REQUIRES(mutex) HG_THREAD_ANNOTATION(requires_capability(mutex))

namespace hg {

/// A std::mutex with the annotations that GUARDED_BY needs.
class HG_THREAD_ANNOTATION(capability("mutex")) Mutex {
 public:
  void Lock() HG_THREAD_ANNOTATION(acquire_capability()) { mutex_.lock(); }
  void Unlock() HG_THREAD_ANNOTATION(release_capability()) { mutex_.unlock(); }
  /// Tells clang that the caller holds the mutex. Use AssertHeld in callbacks, where clang cannot
  /// know that the mutex is held. AssertHeld checks nothing at run time.
  void AssertHeld() const HG_THREAD_ANNOTATION(assert_capability(this)) {}

 private:
  std::mutex mutex_;
};

/// Locks a Mutex in the constructor and unlocks it in the destructor.
class HG_THREAD_ANNOTATION(scoped_lockable) MutexLock {
 public:
  explicit MutexLock(Mutex& mutex) HG_THREAD_ANNOTATION(acquire_capability(mutex)) : mutex_(mutex) {
    mutex_.Lock();
  }
  MutexLock(const MutexLock&) = delete;
  MutexLock& operator=(const MutexLock&) = delete;
  ~MutexLock() HG_THREAD_ANNOTATION(release_capability()) { mutex_.Unlock(); }

 private:
  Mutex& mutex_;
};

}  // namespace hg
