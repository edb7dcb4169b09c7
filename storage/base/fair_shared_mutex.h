#pragma once
// A shared mutex that does not let writers starve.

#include <pthread.h>

#include "storage/base/invariant.h"

namespace hg {

/// A shared mutex in which a waiting writer goes before readers that arrive after it. With
/// std::shared_mutex, a writer may have to wait as long as the locks of readers overlap. A thread
/// that holds the mutex must not lock it again, not even shared. The class works with
/// std::unique_lock and std::shared_lock.
class FairSharedMutex {
 public:
  FairSharedMutex() {
    pthread_rwlockattr_t kind;
    INVARIANT(::pthread_rwlockattr_init(&kind) == 0);
    INVARIANT(
        ::pthread_rwlockattr_setkind_np(&kind, PTHREAD_RWLOCK_PREFER_WRITER_NONRECURSIVE_NP) == 0);
    INVARIANT(::pthread_rwlock_init(&lock_, &kind) == 0);
    ::pthread_rwlockattr_destroy(&kind);
  }
  ~FairSharedMutex() { ::pthread_rwlock_destroy(&lock_); }
  FairSharedMutex(const FairSharedMutex&) = delete;
  FairSharedMutex& operator=(const FairSharedMutex&) = delete;

  void lock() { INVARIANT(::pthread_rwlock_wrlock(&lock_) == 0); }
  void unlock() { ::pthread_rwlock_unlock(&lock_); }
  void lock_shared() { INVARIANT(::pthread_rwlock_rdlock(&lock_) == 0); }
  bool try_lock_shared() { return ::pthread_rwlock_tryrdlock(&lock_) == 0; }
  void unlock_shared() { ::pthread_rwlock_unlock(&lock_); }

 private:
  pthread_rwlock_t lock_;
};

}  // namespace hg
