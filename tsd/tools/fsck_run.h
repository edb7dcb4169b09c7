#pragma once
// Checks the rows of the data table, and repairs them on request (opentsdb-tools.md §7).

#include <mutex>
#include <ostream>
#include <vector>

#include "storage/base/status.h"
#include "tsd/session.h"
#include "tsd/tools/fsck_row.h"
#include "tsd/tools/query_words.h"

namespace hg::tsd {

/// One run of fsck. It writes findings and progress to the given stream at once.
class Fsck {
 public:
  /// Both references must outlive the object. The session must be open.
  Fsck(Session& session, FsckOptions options, int64_t now_s, std::ostream& log)
      : session_(session), options_(options), now_s_(now_s), log_(log) {}

  /// Checks the rows that the queries select, one query after another. Each query has one worker
  /// for each salt bucket.
  Status RunQueries(const WordQueries& queries, int threads);
  /// Checks all rows. If row keys have a salt, there is one worker for each salt bucket. Without
  /// salt, the range of metric ids is divided evenly into `threads` ranges, each with one worker.
  Status RunFullScan(int threads);

  /// Returns the counters so far. A repair is counted after it was stored.
  [[nodiscard]] const FsckCounts& counts() const { return counts_; }
  /// Returns the number of errors that determine the exit code. OpenTSDB's worker stops at a row of
  /// global annotations. Hourglass's fsck also finds, repairs and reports errors after such a row
  /// in the range of a worker, but these errors do not change the exit code (recorded: scenario
  /// fsck-clean).
  [[nodiscard]] uint64_t errors_in_status() const { return errors_in_status_; }

 private:
  class Worker;
  enum class KeyKind { kGood, kGlobal, kBad, kOrphan };

  /// Runs one worker for each scan, at most `threads` workers at a time. Returns the first failure.
  Status RunWorkers(const std::vector<ScanSpec>& scans, const Selection* selection, int threads);
  [[nodiscard]] Result<KeyKind> CheckKey(ByteView key);
  void Log(ByteView key, const std::vector<std::string>& findings);
  /// Adds the counters of one batch of a worker, and logs the progress every kProgressRows rows.
  void Add(const FsckCounts& counts, uint64_t errors_in_status);

  Session& session_;
  const FsckOptions options_;
  const int64_t now_s_;
  std::mutex mutex_;  // The mutex guards the following members.
  std::ostream& log_;
  FsckCounts counts_;
  uint64_t errors_in_status_ = 0;
};

}  // namespace hg::tsd
