#pragma once
// Runs parts of one query on several threads of a shared pool.

#include <cstddef>
#include <cstdint>
#include <functional>

#include "storage/base/worker_pool.h"

namespace hg::query {

/// The number of parts per thread into which work is divided. There are more parts than threads, so
/// that no thread has to wait long for the last part of another thread.
inline constexpr size_t kPartsPerThread = 2;
/// The number of steps that a thread collects before it charges them. All threads of a query share
/// one request context, so they should use it rarely.
inline constexpr uint64_t kStepsAtOnce = 2048;

/// A function that calls RunSideBySide with a fixed pool and a fixed number of helper threads.
using SideBySide = std::function<void(size_t count, const std::function<bool(size_t)>& task)>;

/// Calls task(0), task(1), … task(count − 1), each once. The tasks run on the calling thread and on
/// up to `helpers` threads of the pool. If no thread of the pool is free, the calling thread runs
/// all tasks. After a task has returned false or thrown an exception, no further task is started.
/// The function returns when all started tasks have ended. If tasks have thrown exceptions, it
/// rethrows the first one.
void RunSideBySide(WorkerPool* pool, size_t helpers, size_t count,
                   const std::function<bool(size_t)>& task);

}  // namespace hg::query
