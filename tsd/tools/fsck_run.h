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

/// One run of fsck. It writes findings and progress to the given stream immediately.
class Fsck {
 public:
  /// Both references must outlive the object. The session must be open.
  Fsck(Session& session, FsckOptions options, int64_t now_s, std::ostream& log)
      : session_(session), options_(options), now_s_(now_s), log_(log) {}

  /// Checks the rows that the queries read, one query after the other. Each query has one worker
  /// per salt bucket.
  Status RunQueries(const WordQueries& queries, int threads);
  /// Checks all rows. With salt there is one worker per salt bucket. Without salt, the metric ids
  /// are divided evenly into `threads` ranges.
  Status RunFullScan(int threads);

  /// Returns the counts so far. A repair is counted once it is stored.
  [[nodiscard]] const FsckCounts& counts() const { return counts_; }
  /// Returns the number of errors that determine the exit code. OpenTSDB's worker stops at a row of
  /// global annotations. fsck finds, repairs and reports errors after such a row in a worker's
  /// range, too, but these do not change the exit code (recorded: scenario fsck-clean).
  [[nodiscard]] uint64_t errors_in_status() const { return errors_in_status_; }

 private:
  class Worker;
  enum class KeyKind { kGood, kGlobal, kBad, kOrphan };

  /// Runs one worker for each scan, at most `threads` at a time. Returns the first failure.
  Status RunWorkers(const std::vector<ScanSpec>& scans, const Selection* selection, int threads);
  [[nodiscard]] Result<KeyKind> CheckKey(ByteView key);
  void Log(ByteView key, const std::vector<std::string>& findings);
  /// Adds the counts of one batch of a worker, and logs progress every kProgressRows rows.
  void Add(const FsckCounts& counts, uint64_t errors_in_status);

  Session& session_;
  const FsckOptions options_;
  const int64_t now_s_;
  std::mutex mutex_;  // guards the following members
  std::ostream& log_;
  FsckCounts counts_;
  uint64_t errors_in_status_ = 0;
};

}  // namespace hg::tsd
