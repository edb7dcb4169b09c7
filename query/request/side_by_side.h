#pragma once
// Runs parts of one query on several threads of a shared pool.

#include <cstddef>
#include <cstdint>
#include <functional>

#include "storage/base/worker_pool.h"

namespace hg::query {

/// There are more parts than threads, so that no thread waits long for the last part.
inline constexpr size_t kPartsPerThread = 2;
/// All threads of a query share one request context, so each reports this many steps at once.
inline constexpr uint64_t kStepsAtOnce = 2048;

/// A function that works like RunSideBySide with a fixed pool and a fixed number of helpers.
using SideBySide = std::function<void(size_t count, const std::function<bool(size_t)>& task)>;

/// Calls task(0), task(1), … task(count − 1), each once, on the calling thread and on up to
/// `helpers` threads of the pool. If no pool thread is free, the calling thread runs all tasks.
/// Once a task has returned false or thrown, no further task is started. Returns when all started
/// tasks have ended, then rethrows the first exception.
void RunSideBySide(WorkerPool* pool, size_t helpers, size_t count,
                   const std::function<bool(size_t)>& task);

}  // namespace hg::query
