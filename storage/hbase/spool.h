#pragma once
// A spool for writes while HBase is unreachable: a bounded log on the local disk. Its records are
// replayed in order when HBase is back (ARCHITECTURE.md "Over HBase").
//
// The spool "holds" from the first write that it takes until it is empty again. While it holds,
// every write of its tables is appended to it, so no write overtakes an older one. Before it stops
// holding, it durably records that nothing is left. So records that were replayed completely are
// never replayed over newer writes. After a kill it may replay records that HBase already has,
// together with everything after them, in the same order.
//
// Rows that HBase rejects permanently do not block later ones: they are set aside as text. If HBase
// rejects some rows of a call temporarily, only these are sent again, in smaller and smaller
// batches, until the rejected row is known. All later writes wait, also those of other regions. The
// order of writes per row would not require this. But the log is freed from its front, so skipping
// a row would mean keeping its writes elsewhere and knowing after a kill which writes are newer.
// Writes are still acknowledged until the spool is full. hbase.spool.stuck and a log line tell
// operators about the region.
//
// After a failed sync, or after an allocation failure, everything not known to be on disk is
// written again, to new files. These are synced before they replace the old ones, and then the log
// continues. Until then writes are rejected. Writes acknowledged before they were in a file
// (SpoolOptions::write_on_commit) are lost then, as after a kill.
//
// Files in the folder: the log (storage/lsm/FORMAT.md "Log"; bodies in spool_record.h), REPLAYED
// (the first log file that counts), LOCK, and REFUSED-<position in the log> (rows set aside,
// spool_refused.h).

#include <condition_variable>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "storage/base/clock.h"
#include "storage/base/file.h"
#include "storage/base/thread_annotations.h"
#include "storage/hbase/hbase_stats.h"
#include "storage/hbase/options.h"
#include "storage/hbase/spool_record.h"
#include "storage/hbase/spool_refused.h"
#include "storage/lsm/log.h"

namespace hg::hbase {

/// Thread-safe.
class Spool {
 public:
  /// Writes the rows of a record and returns a status for each. Blocks. Called again with the rows
  /// that failed. If a row fails as Unavailable or Busy, no later row with its key may be written.
  using Send = std::function<std::vector<Status>(const SpoolRecord&)>;

  /// Opens the spool, which holds at once if any writes are left. Busy: another process uses the
  /// folder. Corruption: a file is damaged; the message names it. `files` and `clock` must outlive
  /// it.
  static Result<std::unique_ptr<Spool>> Open(FileSystem& files, SpoolOptions options,
                                             const Clock& clock);
  /// Whether the folder has waiting writes, or damaged files that may have held some. Changes
  /// nothing, and works while another process uses the folder.
  static Result<bool> Waits(FileSystem& files, const std::string& folder);
  /// Calls Stop.
  ~Spool();

  /// Starts the replay thread.
  void Start(Send send);
  /// Ends the replay thread and writes accepted records to disk. Later writes get Unavailable.
  /// Idempotent.
  Status Stop();

  /// Whether writes to the table come here while HBase is unreachable.
  [[nodiscard]] bool Takes(const std::string& table) const;
  /// Whether writes must come here, because older ones wait.
  [[nodiscard]] bool holding() const;
  /// Takes a write. Blocks until the log has it at the level of the options. The spool holds from
  /// this call on. Busy: the spool is full. Unavailable: its disk fails, and it is unknown whether
  /// the write is kept. Once the disk works again, the same write is accepted.
  Status Hold(SpoolRecord record);
  /// Whether Hold would accept a small write now; the errors are those of Hold. Changes nothing and
  /// does not block.
  [[nodiscard]] Status Room() const;
  /// Blocks until all accepted writes survive a power failure.
  Status Sync();

  [[nodiscard]] SpoolStats Stats() const;

 private:
  /// The content of the file REPLAYED: the first log file that is not replayed completely, and
  /// where it begins.
  struct Mark {
    uint64_t file_number = 1;
    lsm::LogPosition position = 0;   // position at which that file begins
    uint64_t sequence = 0;           // sequence number of the last record before it
    std::vector<lsm::LogFile> logs;  // from file_number on, those that must exist; ascending
  };

  Spool(FileSystem& files, SpoolOptions options, const Clock& clock);
  Status Recover();
  /// Returns Busy if the spool would exceed its maximum size with this many more bytes. Requires
  /// mutex_.
  [[nodiscard]] Status RoomFor(uint64_t bytes) const;
  /// Reads the remaining records and opens a log that continues after them.
  Status OpenLog();
  /// Opens a new log in place of one that failed permanently. Otherwise does nothing.
  Status RebuildLog();
  [[nodiscard]] std::shared_ptr<lsm::Log> CurrentLog() const;
  Result<Mark> ReadMark() const;
  [[nodiscard]] Mark CurrentMark() const;
  /// Applies the change and makes the result durable. After a failure the mark is as before.
  Status ChangeMark(const std::function<void(Mark*)>& change);

  void ReplayLoop();
  /// Replays what was taken so far. Stops holding if nothing was added meanwhile.
  Status ReplayTaken();
  /// Returns the log files with smaller numbers, from the mark on. Files without records are left
  /// out.
  struct LogFile {
    std::string path;
    uint64_t number;
    lsm::LogPosition start;
  };
  Result<std::vector<LogFile>> FilesBefore(uint64_t number) const;
  /// Replays a file whose records must reach `end`. Corruption: they do not, and nothing was sent.
  Status ReplayFile(const LogFile& file, lsm::LogPosition end);
  /// Sends a record until HBase has accepted or permanently rejected each row. Then everything
  /// before `end` is done. Unavailable: the spool is stopping.
  Status SendPatiently(SpoolRecord record, lsm::LogPosition end);
  /// Sends up to `*count` of the remaining rows once. Removes finished rows from `left`, adds
  /// rejected rows to `refused`, and sets `*count` for the next attempt. Returns why some of them
  /// remain.
  Status SendSome(const SpoolRecord& of, std::vector<RowMutation>* left, size_t* count,
                  std::vector<RefusedRow>* refused);
  /// Whether a row rejected with this status is not sent again.
  bool GivesUp(const std::string& table, const Status& refused);
  Status SetAside(const SpoolRecord& record, const std::vector<RefusedRow>& rows,
                  lsm::LogPosition end);
  /// Waits before the next attempt, and rebuilds the log if necessary. Returns false if the spool
  /// is stopping.
  bool WaitBeforeRetry(const Status& why);

  FileSystem& files_;
  const SpoolOptions options_;
  const Clock& clock_;
  std::unique_ptr<FileLock> lock_;
  Send send_;  // set before the thread starts

  // Held while the file REPLAYED is written. The replay thread and the log's thread change the
  // mark.
  mutable Mutex mark_mutex_;
  Mark mark_ GUARDED_BY(mark_mutex_);

  // Used only by the replay thread once it runs. Filled only while holding_ is set.
  std::map<std::pair<std::string, StatusCode>, int64_t> refused_since_ms_;

  mutable std::mutex mutex_;
  std::condition_variable changed_;
  // The following members are guarded by mutex_.
  std::shared_ptr<lsm::Log> log_;  // shared, because threads that wait for a failed log keep it
  bool log_failed_ = false;        // a write was rejected because log_ failed
  bool holding_ = false;
  bool stopping_ = false;
  uint64_t sequence_ = 0;          // sequence number of the last record taken
  lsm::LogPosition replayed_ = 0;  // everything before this position is in HBase
  // Without bytes, times and failure, which are computed when somebody reads the statistics.
  SpoolStats stats_;
  Status failure_;              // failure of the last attempt to replay
  int64_t stuck_since_ms_ = 0;  // since when HBase rejects the first row; 0: it does not
  int64_t oldest_ms_ = 0;       // time of the oldest remaining write, while the spool holds
  int64_t rate_since_ms_ = 0;   // start of the interval for the replay rate
  uint64_t rate_rows_ = 0;

  std::thread replayer_;
};

}  // namespace hg::hbase
