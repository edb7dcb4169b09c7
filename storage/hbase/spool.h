#pragma once
// A spool for writes while HBase is unreachable: a bounded log on the local disk. Its records are
// replayed in order when HBase is back (ARCHITECTURE.md "Over HBase").
//
// The spool "holds" from the first write that it takes until it is empty again. While it holds,
// every write of its tables is appended to it, so no write overtakes an older one. Before it stops
// holding, it durably records that nothing is left. Because of that, an old record can never be
// replayed over a newer write that went to HBase directly. After the process was killed, the spool
// may replay records that HBase already has. It then also replays all later records, in the same
// order.
//
// Rows that HBase rejects permanently do not block later ones: they are set aside as text. If HBase
// rejects some rows of a call temporarily, only these are sent again, in smaller and smaller
// batches, until the rejected row is known. All later writes wait, including writes to other
// regions. Writes of other rows could be sent without changing the order of writes within a row.
// But the log is freed from its front, so the writes of a skipped row would have to be kept
// elsewhere, and after a kill it would not be known which writes are newer. Writes are still
// acknowledged until the spool is full. hbase.spool.stuck and a log line tell operators that a
// region rejects writes.
//
// After a failed sync, or after an allocation failure, everything not known to be on disk is
// written again, to new files. The new files are synced before they replace the old ones, and then
// the log continues. Until then writes are rejected. Writes acknowledged before they were in a file
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
  /// A function that writes the rows of a record and returns a status for each. Blocks. The spool
  /// calls it again with the rows that failed. If a row fails as Unavailable or Busy, the function
  /// must not write a later row with the same key.
  using Send = std::function<std::vector<Status>(const SpoolRecord&)>;

  /// Opens the spool. If it contains writes, it holds from the start. Busy: another process uses
  /// the folder. Corruption: a file is damaged; the error message names it. `files` and `clock`
  /// must outlive the spool.
  static Result<std::unique_ptr<Spool>> Open(FileSystem& files, SpoolOptions options,
                                             const Clock& clock);
  /// Returns whether the folder has waiting writes, or damaged files that may have had some.
  /// Changes nothing. Works even while another process uses the folder.
  static Result<bool> Waits(FileSystem& files, const std::string& folder);
  /// Calls Stop.
  ~Spool();

  /// Starts the replay thread.
  void Start(Send send);
  /// Ends the replay thread and writes accepted records to disk. Later writes get Unavailable.
  /// Idempotent.
  Status Stop();

  /// Returns whether writes to the table go to the spool while HBase is unreachable.
  [[nodiscard]] bool Takes(const std::string& table) const;
  /// Returns whether writes must go to the spool now, because older writes wait in it.
  [[nodiscard]] bool holding() const;
  /// Adds a write to the spool. Blocks until the write is in the log at the durability of the
  /// options. The spool holds from this call on. Busy: the spool is full. Unavailable: the disk of
  /// the spool fails, and it is unknown whether the write is kept. Once the disk works again, the
  /// caller may repeat the write.
  Status Hold(SpoolRecord record);
  /// Returns ok, or the error that Hold would return now for a small write. Changes nothing and
  /// does not block.
  [[nodiscard]] Status Room() const;
  /// Blocks until all accepted writes survive a power failure.
  Status Sync();

  [[nodiscard]] SpoolStats Stats() const;

 private:
  /// The content of the file REPLAYED: the first log file that is not replayed completely, and the
  /// position at which it begins.
  struct Mark {
    uint64_t file_number = 1;
    lsm::LogPosition position = 0;   // position at which that file begins
    uint64_t sequence = 0;           // sequence number of the last record before it
    std::vector<lsm::LogFile> logs;  // log files that must exist, from file_number on; ascending
  };

  Spool(FileSystem& files, SpoolOptions options, const Clock& clock);
  Status Recover();
  /// Returns Busy if `bytes` more bytes would exceed the spool's maximum size. The caller must hold
  /// mutex_.
  [[nodiscard]] Status RoomFor(uint64_t bytes) const;
  /// Reads the records that were not replayed, and opens a log that continues after them.
  Status OpenLog();
  /// Opens a new log in place of a log that failed permanently. Does nothing if the log has not
  /// failed.
  Status RebuildLog();
  [[nodiscard]] std::shared_ptr<lsm::Log> CurrentLog() const;
  Result<Mark> ReadMark() const;
  [[nodiscard]] Mark CurrentMark() const;
  /// Changes the mark (the content of the file REPLAYED) and makes it durable. After a failure the
  /// mark is as before.
  Status ChangeMark(const std::function<void(Mark*)>& change);

  void ReplayLoop();
  /// Replays all writes that the spool has accepted so far. If no write was added in the meantime,
  /// the spool then stops holding.
  Status ReplayTaken();
  /// A file of the log. FilesBefore returns the log files with numbers below `number`, beginning
  /// with the file of the mark, without files that have no records.
  struct LogFile {
    std::string path;
    uint64_t number;
    lsm::LogPosition start;
  };
  Result<std::vector<LogFile>> FilesBefore(uint64_t number) const;
  /// Replays a log file. It must have records up to the position `end`; otherwise returns
  /// Corruption and sends nothing.
  Status ReplayFile(const LogFile& file, lsm::LogPosition end);
  /// Sends a record until HBase has accepted or permanently rejected each row. Then records that
  /// all writes before `end` are replayed. Unavailable: the spool is stopping.
  Status SendPatiently(SpoolRecord record, lsm::LogPosition end);
  /// Sends up to `*count` of the remaining rows once. Removes finished rows from `left`, adds
  /// rejected rows to `refused`, and sets `*count` for the next attempt. Returns ok, or the reason
  /// why rows remain.
  Status SendSome(const SpoolRecord& of, std::vector<RowMutation>* left, size_t* count,
                  std::vector<RefusedRow>* refused);
  /// Returns whether to stop sending a row that HBase rejected with this status.
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

  // Guards the mark. It is held while the file REPLAYED is written, because the replay thread and
  // the log's thread both change the mark.
  mutable Mutex mark_mutex_;
  Mark mark_ GUARDED_BY(mark_mutex_);

  // For each table and status: the time since which rows of the table are rejected with this
  // status. Only the replay thread uses it once that thread runs. Set only while holding_ is set.
  std::map<std::pair<std::string, StatusCode>, int64_t> refused_since_ms_;

  mutable std::mutex mutex_;
  std::condition_variable changed_;
  // The following members are guarded by mutex_.
  std::shared_ptr<lsm::Log> log_;  // shared, because threads that wait for a failed log keep it
  bool log_failed_ = false;        // whether a write was rejected because log_ failed
  bool holding_ = false;
  bool stopping_ = false;
  uint64_t sequence_ = 0;          // sequence number of the last record that was accepted
  lsm::LogPosition replayed_ = 0;  // everything before this position is in HBase
  // The members bytes, times and failure are not kept here; they are computed when the statistics
  // are read.
  SpoolStats stats_;
  Status failure_;  // failure of the last attempt to replay
  // The time since which HBase rejects the first row; 0: HBase does not reject it.
  int64_t stuck_since_ms_ = 0;
  int64_t oldest_ms_ = 0;      // time of the oldest waiting write; valid while the spool holds
  int64_t rate_since_ms_ = 0;  // start of the interval for the replay rate
  uint64_t rate_rows_ = 0;

  std::thread replayer_;
};

}  // namespace hg::hbase
