#pragma once
// Parts of one query on several threads of a shared pool.

#include <cstddef>
#include <functional>

#include "storage/base/worker_pool.h"

namespace hg::query {

/// RunSideBySide on threads that somebody has chosen.
using SideBySide = std::function<void(size_t count, const std::function<bool(size_t)>& task)>;

/// Calls task(0), task(1), … task(count − 1), each once, on this thread and on up to `helpers`
/// threads of the pool, as far as those are free: with none of them free this thread does it all.
/// Begins no more once a task has returned false or thrown. Returns when all that were begun have
/// ended, then throws what the first one threw.
void RunSideBySide(WorkerPool* pool, size_t helpers, size_t count,
                   const std::function<bool(size_t)>& task);

}  // namespace hg::query
