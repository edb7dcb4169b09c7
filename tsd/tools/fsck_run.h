#pragma once
// Walks rows of the data table and checks them, with repairs if asked (spec cli.md §7).

#include <mutex>
#include <ostream>
#include <vector>

#include "storage/base/status.h"
#include "tsd/session.h"
#include "tsd/tools/fsck_row.h"
#include "tsd/tools/query_words.h"

namespace hg::tsd {

/// One run. What is wrong with a row, and progress, go to `log` as it is found.
class Fsck {
 public:
  /// Both references outlive the object; the session is open.
  Fsck(Session& session, FsckOptions options, int64_t now_s, std::ostream& log)
      : session_(session), options_(options), now_s_(now_s), log_(log) {}

  /// Rows that the queries read, query after query, one worker a salt bucket.
  Status RunQueries(const WordQueries& queries, int threads);
  /// Every row: one worker a salt bucket; unsalted, the metrics' ids split evenly into `threads`
  /// ranges.
  Status RunFullScan(int threads);

  /// Of the run so far. Repairs are counted once they are stored.
  [[nodiscard]] const FsckCounts& counts() const { return counts_; }
  /// Errors that the exit status tells of. OpenTSDB's worker ends at a row of global annotations,
  /// so what stands behind one in a worker's range is found, repaired and reported here but leaves
  /// the status as it is there (recorded: scenario fsck-clean).
  [[nodiscard]] uint64_t errors_in_status() const { return errors_in_status_; }

 private:
  class Worker;
  enum class KeyKind { kGood, kGlobal, kBad, kOrphan };

  /// Runs a worker for each scan, `threads` at a time; the first failure is given.
  Status RunWorkers(const std::vector<ScanSpec>& scans, const Selection* selection, int threads);
  [[nodiscard]] Result<KeyKind> CheckKey(ByteView key);
  void Log(ByteView key, const std::vector<std::string>& findings);
  /// Adds what a worker found in its last batch, and tells progress each kProgressRows rows.
  void Add(const FsckCounts& counts, uint64_t errors_in_status);

  Session& session_;
  const FsckOptions options_;
  const int64_t now_s_;
  std::mutex mutex_;  // guards the rest
  std::ostream& log_;
  FsckCounts counts_;
  uint64_t errors_in_status_ = 0;
};

}  // namespace hg::tsd
