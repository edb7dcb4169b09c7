#pragma once
// Readers that hold a version between calls, such as scanners of clients. The store releases the
// versions of idle readers, because files that were merged cannot be removed while a version
// contains them (region-store.md Q10).

#include <cstdint>
#include <mutex>
#include <set>

#include "storage/base/invariant.h"

namespace hg::engine {

class IdleReader {
 public:
  virtual ~IdleReader() = default;
  /// Releases the reader's version, unless the reader is in use or was used after `time_ms` (ms
  /// since 1970). Any thread may call this function. The function must not wait for a lock.
  virtual void ReleaseIfIdleSince(int64_t time_ms) = 0;
};

/// The readers that are registered with one engine. Thread-safe.
class IdleReaders {
 public:
  /// Registers a reader until it is destroyed. The destructor waits for a running ReleaseIdleSince.
  class Registration {
   public:
    Registration(IdleReaders& all, IdleReader* reader) : all_(all), reader_(reader) {
      std::lock_guard lock(all_.mutex_);
      INVARIANT(all_.readers_.insert(reader_).second);
    }
    Registration(const Registration&) = delete;
    Registration& operator=(const Registration&) = delete;
    ~Registration() {
      std::lock_guard lock(all_.mutex_);
      INVARIANT(all_.readers_.erase(reader_) == 1);
    }

   private:
    IdleReaders& all_;
    IdleReader* const reader_;
  };

  void ReleaseIdleSince(int64_t time_ms) {
    std::lock_guard lock(mutex_);
    for (IdleReader* reader : readers_) reader->ReleaseIfIdleSince(time_ms);
  }

 private:
  std::mutex mutex_;
  std::set<IdleReader*> readers_;  // guarded by mutex_
};

}  // namespace hg::engine
