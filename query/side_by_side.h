#pragma once
// Runs parts of one query on several threads of a shared pool.

#include <cstddef>
#include <functional>

#include "storage/base/worker_pool.h"

namespace hg::query {

/// RunSideBySide with the pool and the number of helpers already chosen.
using SideBySide = std::function<void(size_t count, const std::function<bool(size_t)>& task)>;

/// Calls task(0), task(1), … task(count − 1), each once, on this thread and on up to `helpers`
/// threads of the pool. If no pool thread is free, this thread runs all tasks. Starts no more tasks
/// after one has returned false or thrown. Returns when all started tasks have ended, then rethrows
/// the first exception.
void RunSideBySide(WorkerPool* pool, size_t helpers, size_t count,
                   const std::function<bool(size_t)>& task);

}  // namespace hg::query
