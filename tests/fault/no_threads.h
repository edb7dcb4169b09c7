#pragma once
// Simulates a machine that cannot start more threads.

#include <pthread.h>

#include "storage/base/invariant.h"

namespace hg {

/// Makes std::thread fail to start threads as long as this object exists: it sets a stack size for
/// which there is no memory. Threads that are already running continue. At most one NoThreads
/// object may exist at a time.
class NoThreads {
 public:
  NoThreads() {
    INVARIANT(pthread_getattr_default_np(&usual_) == 0);
    pthread_attr_t huge;
    INVARIANT(pthread_getattr_default_np(&huge) == 0);
    INVARIANT(pthread_attr_setstacksize(&huge, size_t{1} << 60) == 0);
    INVARIANT(pthread_setattr_default_np(&huge) == 0);
    pthread_attr_destroy(&huge);
  }
  ~NoThreads() {
    pthread_setattr_default_np(&usual_);
    pthread_attr_destroy(&usual_);
  }
  NoThreads(const NoThreads&) = delete;
  NoThreads& operator=(const NoThreads&) = delete;

 private:
  pthread_attr_t usual_;
};

}  // namespace hg
