#include "query/request/side_by_side.h"

#include <algorithm>
#include <atomic>
#include <condition_variable>
#include <exception>
#include <memory>
#include <mutex>
#include <utility>

namespace hg::query {
namespace {

/// The state that the caller shares with the helpers. A helper that starts after the caller has
/// returned accesses only this object.
struct Work {
  const std::function<bool(size_t)>* task = nullptr;
  size_t count = 0;
  std::atomic<size_t> next{0};
  std::atomic<bool> failed{false};

  std::mutex mutex;
  std::condition_variable ended;
  bool closed = false;        // guarded by mutex; the caller no longer waits for new helpers
  size_t helping = 0;         // guarded by mutex
  std::exception_ptr thrown;  // guarded by mutex; the first exception of a task

  void Do() {
    try {
      for (size_t i = next++; i < count && !failed; i = next++) {
        if (!(*task)(i)) failed = true;
      }
    } catch (...) {
      failed = true;
      std::lock_guard lock(mutex);
      if (thrown == nullptr) thrown = std::current_exception();
    }
  }

  void Help() {
    {
      std::lock_guard lock(mutex);
      if (closed) return;
      ++helping;
    }
    Do();
    {
      std::lock_guard lock(mutex);
      --helping;
    }
    ended.notify_all();
  }
};

}  // namespace

void RunSideBySide(WorkerPool* pool, size_t helpers, size_t count,
                   const std::function<bool(size_t)>& task) {
  if (count == 0) return;
  auto work = std::make_shared<Work>();
  work->task = &task;
  work->count = count;
  for (size_t i = 0; i < std::min(helpers, count - 1); ++i) {
    try {
      if (!pool->Post([work](WorkerPool::Turn&) { work->Help(); })) break;
    } catch (const std::exception&) {
      // There is no memory to post another helper. The helpers that were posted refer to this stack
      // frame, so the exception must not end the function: the code below waits for them.
      break;
    }
  }
  work->Do();
  std::unique_lock lock(work->mutex);
  work->closed = true;
  work->ended.wait(lock, [&] { return work->helping == 0; });
  if (work->thrown != nullptr) {
    // The exception is moved out of `work`, because a late helper may be the last owner of `work`,
    // but the thread that handles the exception must free it.
    std::exception_ptr thrown = std::exchange(work->thrown, nullptr);
    std::rethrow_exception(std::move(thrown));
  }
}

}  // namespace hg::query
