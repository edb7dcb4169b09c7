#pragma once
// The spool stores writes while HBase is unreachable. It is a bounded log on the local disk. When
// HBase is reachable again, the spool replays the records of the log in order (ARCHITECTURE.md
// "Over HBase").
//
// The spool "holds" from the first write that it accepts until it is empty again. While the spool
// holds, the log takes all calls that only put or append cells of the spool's tables, so that none
// of these calls overtakes an older one. Appends with a TTL are an exception. DeleteRow fails
// meanwhile. All other writes go to HBase directly. Before the spool stops holding, it durably
// records that no write is left. Therefore, an old record can never be replayed over a newer put
// that went to HBase directly. After the process was killed, the spool may replay records that
// HBase already has. In this case, the spool also replays all later records, in the same order.
//
// Rows that HBase rejects permanently do not block later rows: the spool sets them aside as text.
// If HBase rejects some rows of a call temporarily, the spool sends only these rows again, in
// smaller and smaller batches, until it finds the rejected row. All later writes wait, including
// writes to other regions. Sending writes of other rows first would keep the order of writes within
// each row. But the log is freed from its front, so the writes of a skipped row would have to be
// kept elsewhere, and after a kill it would not be known which writes are newer. Writes are still
// acknowledged until the spool is full. hbase.spool.stuck and a log line tell operators that a
// region rejects writes.
//
// After a failed sync or an allocation failure, the spool writes all data that may not be on disk
// again, to new files. It syncs the new files, replaces the old files by them, and then continues
// the log. Until then, writes are rejected. Writes that were acknowledged before they were in a
// file (SpoolOptions::write_on_commit) are lost in this case, as after a kill.
//
// The folder of the spool has these files: the log (storage/lsm/FORMAT.md "Log"; bodies in
// spool_record.h), REPLAYED (the first log file that is still needed), LOCK, and REFUSED-<position
// in the log> (rows that were set aside, spool_refused.h).

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

/// The spool of one HBase store. Thread-safe.
class Spool {
 public:
  /// A function that writes the rows of a record to HBase and returns a status for each row. It
  /// blocks. The spool calls the function again with the rows that failed. If a row fails as
  /// Unavailable or Busy, the function must not write a later row with the same key.
  using Send = std::function<std::vector<Status>(const SpoolRecord&)>;

  /// Opens the spool. If the spool contains writes, it holds from the start. Returns Busy if
  /// another process uses the folder. Returns Corruption if a file is damaged; the error message
  /// names the file. `files` and `clock` must outlive the spool.
  static Result<std::unique_ptr<Spool>> Open(FileSystem& files, SpoolOptions options,
                                             const Clock& clock);
  /// Returns whether the folder has waiting writes, or damaged files that may have had waiting
  /// writes. Changes nothing. Works even while another process uses the folder.
  static Result<bool> Waits(FileSystem& files, const std::string& folder);
  /// The destructor calls Stop.
  ~Spool();

  /// Starts the replay thread.
  void Start(Send send);
  /// Ends the replay thread and writes accepted records to disk. Writes after Stop get Unavailable.
  /// Idempotent.
  Status Stop();

  /// Returns whether writes to the table go to the spool while HBase is unreachable.
  [[nodiscard]] bool Takes(const std::string& table) const;
  /// Returns whether writes must go to the spool now, because older writes wait in the spool.
  [[nodiscard]] bool holding() const;
  /// Adds a write to the spool. Blocks until the write is in the log with the durability that the
  /// options require. The spool holds from this call on. Returns Busy if the spool is full. Returns
  /// Unavailable if the disk of the spool fails; it is then unknown whether the write is kept. Once
  /// the disk works again, the caller may repeat the write.
  Status Hold(SpoolRecord record);
  /// Returns ok, or the error that Hold would return now for a small write. Changes nothing and
  /// does not block.
  [[nodiscard]] Status Room() const;
  /// Blocks until all accepted writes survive a power failure.
  Status Sync();

  [[nodiscard]] SpoolStats Stats() const;

 private:
  /// The content of the file REPLAYED: the first log file that is not completely replayed, and the
  /// position at which this log file begins.
  struct Mark {
    uint64_t file_number = 1;
    lsm::LogPosition position = 0;   // position at which the log file file_number begins
    uint64_t sequence = 0;           // sequence number of the last record before `position`
    std::vector<lsm::LogFile> logs;  // log files that must exist, from file_number on; ascending
  };

  Spool(FileSystem& files, SpoolOptions options, const Clock& clock);
  Status Recover();
  /// Returns Busy if `bytes` more bytes would exceed the maximum size of the spool. The caller must
  /// hold mutex_.
  [[nodiscard]] Status RoomFor(uint64_t bytes) const;
  /// Reads the records that were not replayed, and opens a log that continues after them.
  Status OpenLog();
  /// Opens a new log that replaces a log that failed permanently. Does nothing if the log has not
  /// failed.
  Status RebuildLog();
  [[nodiscard]] std::shared_ptr<lsm::Log> CurrentLog() const;
  Result<Mark> ReadMark() const;
  [[nodiscard]] Mark CurrentMark() const;
  /// Changes the mark (the content of the file REPLAYED) and makes the change durable. After a
  /// failure, the mark is unchanged.
  Status ChangeMark(const std::function<void(Mark*)>& change);

  void ReplayLoop();
  /// Replays all writes that the spool has accepted so far. If no write was added in the meantime,
  /// the spool then stops holding.
  Status ReplayTaken();
  /// A file of the log. FilesBefore returns the log files with numbers below `number`, beginning
  /// with the file of the mark. It leaves out files that have no records.
  struct LogFile {
    std::string path;
    uint64_t number;
    lsm::LogPosition start;
  };
  Result<std::vector<LogFile>> FilesBefore(uint64_t number) const;
  /// Replays a log file. The file must have records up to the position `end`. If it does not,
  /// returns Corruption and sends nothing.
  Status ReplayFile(const LogFile& file, lsm::LogPosition end);
  /// Sends a record until HBase has accepted or permanently rejected each row. Then records in the
  /// mark that all writes before `end` are replayed. Returns Unavailable if the spool is stopping.
  Status SendPatiently(SpoolRecord record, lsm::LogPosition end);
  /// Sends at most `*count` of the remaining rows, once. Removes finished rows from `left`, adds
  /// rejected rows to `refused`, and sets `*count` for the next attempt. Returns ok, or the reason
  /// why rows remain.
  Status SendSome(const SpoolRecord& of, std::vector<RowMutation>* left, size_t* count,
                  std::vector<RefusedRow>* refused);
  /// Returns whether the spool gives up a row that HBase rejected with this status.
  bool GivesUp(const std::string& table, const Status& refused);
  Status SetAside(const SpoolRecord& record, const std::vector<RefusedRow>& rows,
                  lsm::LogPosition end);
  /// Waits before the next attempt, and rebuilds the log if it has failed. Returns false if the
  /// spool is stopping.
  bool WaitBeforeRetry(const Status& why);

  FileSystem& files_;
  const SpoolOptions options_;
  const Clock& clock_;
  std::unique_ptr<FileLock> lock_;
  Send send_;  // set before the replay thread starts

  // Guards the mark. A thread holds this lock while it writes the file REPLAYED, because both the
  // replay thread and the thread of the log change the mark.
  mutable Mutex mark_mutex_;
  Mark mark_ GUARDED_BY(mark_mutex_);

  // Key: a table and a status. Value: the time since which HBase rejects rows of the table with
  // this status. Once the replay thread runs, only the replay thread uses this member. Entries
  // exist only while holding_ is true.
  std::map<std::pair<std::string, StatusCode>, int64_t> refused_since_ms_;

  mutable std::mutex mutex_;
  std::condition_variable changed_;
  // The following members are guarded by mutex_.
  std::shared_ptr<lsm::Log> log_;  // shared, because threads may wait for a log that failed
  bool log_failed_ = false;        // whether a write was rejected because log_ failed
  bool holding_ = false;
  bool stopping_ = false;
  uint64_t sequence_ = 0;          // sequence number of the last accepted record
  lsm::LogPosition replayed_ = 0;  // all writes before this position are in HBase
  // The members bytes, age_ms, stuck_ms and failure are not stored here. Stats computes them.
  SpoolStats stats_;
  Status failure_;  // failure of the last attempt to replay
  // The time since which HBase rejects the first waiting row. 0 means that HBase does not reject
  // it.
  int64_t stuck_since_ms_ = 0;
  int64_t oldest_ms_ = 0;      // time of the oldest waiting write; valid while the spool holds
  int64_t rate_since_ms_ = 0;  // start of the interval over which the replay rate is measured
  uint64_t rate_rows_ = 0;

  std::thread replayer_;
};

}  // namespace hg::hbase
