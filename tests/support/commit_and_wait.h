#pragma once

#include <future>
#include <memory>
#include <utility>

#include "storage/points/points.h"

namespace hg {

/// Commits all records up to `position` and waits for the result. Points::Commit alone may return
/// before it calls back, for example because another thread is just writing to the log.
inline Status CommitAndWait(Points& points, LogPosition position) {
  // Shared, because set_value may still run on another thread when get returns.
  const auto result = std::make_shared<std::promise<Status>>();
  points.Commit(position, [result](Status status) { result->set_value(std::move(status)); });
  return result->get_future().get();
}

}  // namespace hg
