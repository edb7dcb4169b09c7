#pragma once
// The reading part of the command `cell`: runs gets, scans and aggregates, and prints their
// results.

#include <chrono>
#include <functional>
#include <ostream>
#include <string>

#include "storage/base/thread_annotations.h"
#include "storage/store.h"
#include "tsd/tools/cell_request.h"

namespace hg::tsd {

struct Invocation;

/// Reports at intervals how many rows were read. The object is thread-safe.
class RowProgress {
 public:
  /// Calls `line` with the text of each report. Calls of `line` never overlap.
  RowProgress(std::chrono::milliseconds interval, std::function<void(const std::string&)> line)
      : interval_(interval), line_(std::move(line)) {}
  /// Writes a report to the error output of a command every 5 seconds.
  explicit RowProgress(Invocation& call);
  void Count(uint64_t rows);

 private:
  const std::chrono::milliseconds interval_;
  const std::function<void(const std::string&)> line_;
  Mutex mutex_;
  uint64_t rows_ GUARDED_BY(mutex_) = 0;
  std::chrono::steady_clock::time_point next_ GUARDED_BY(mutex_) =
      std::chrono::steady_clock::now() + interval_;
};

/// Runs a verb of `cell` that reads, and prints the result. An aggregate without a limit reads up
/// to kRegionThreadsMax regions at the same time. LimitExceeded: a sum needs more than 64 bits. The
/// call may block.
Status ReadCells(Store& store, CellRequest request, RowProgress* progress, std::ostream& out);

}  // namespace hg::tsd
