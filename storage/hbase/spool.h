#pragma once
// Writes that wait for HBase: a bounded log on this machine's disk, replayed in its order when
// HBase is back (ARCHITECTURE.md "Over HBase").
//
// From the first write that it takes until it is empty again it holds: every write of its tables
// goes to its end, so that no write overtakes an older one. Before it lets go, its folder says that
// nothing is left of it, and survives a power cut saying so: what was replayed once is never
// replayed over newer writes. A kill in between makes it replay what HBase has already, and
// everything that came behind it, in the same order.
//
// Rows that HBase refuses for good do not keep up what is behind them: they are set aside as text.
// Where it refuses some of a call for a while, only these are sent again, ever fewer, until the one
// row is known by name that it does not take; what is behind waits, of other regions, too. The
// order of a row's own writes would not ask for that. But the log is forgotten from its front: to
// go past a row, its writes would have to be kept elsewhere, and behind a kill it must be known
// which writes of the row that are in HBase, or further down in the log, are newer. Writes are
// acknowledged meanwhile, until the spool is full; hbase.spool.stuck and the log's line are for
// whoever can bring the region back.
//
// After a failed sync, and where memory was short meanwhile, what was not known to be on the disk
// is written once more, to files that are synced before they take the place of the old ones, and
// the log goes on behind it. Until then writes are refused. What was acknowledged before it was in
// a file (SpoolOptions::write_on_commit) is lost then, as with a kill.
//
// The folder: the log (storage/lsm/FORMAT.md "Log"; bodies in spool_record.h), REPLAYED (from which
// file on it counts), LOCK, and REFUSED-<position in the log> (what was set aside,
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
#include "storage/hbase/hbase_stats.h"
#include "storage/hbase/options.h"
#include "storage/hbase/spool_record.h"
#include "storage/hbase/spool_refused.h"
#include "storage/lsm/log.h"

namespace hg::hbase {

/// Thread-safe.
class Spool {
 public:
  /// Writes what a record holds; what became of each of its rows. Blocks. Called again with those
  /// that failed. Where a row fails as Unavailable or Busy no later one of its key may be written.
  using Send = std::function<std::vector<Status>(const SpoolRecord&)>;

  /// Holds from the start if anything is left. Busy: another process has the folder. Corruption: a
  /// file is damaged; the message names it. `files` and `clock` outlive it.
  static Result<std::unique_ptr<Spool>> Open(FileSystem& files, SpoolOptions options,
                                             const Clock& clock);
  /// Whether the folder has writes that wait, or damage where they were. Changes nothing; also
  /// where a process has the folder.
  static Result<bool> Waits(FileSystem& files, const std::string& folder);
  /// Stops.
  ~Spool();

  /// Starts to replay, on a thread of its own.
  void Start(Send send);
  /// Ends that thread, writes what was taken to the disk. Later writes are Unavailable. Idempotent.
  Status Stop();

  /// Whether writes to the table come here when HBase is away.
  [[nodiscard]] bool Takes(const std::string& table) const;
  /// Whether writes must come here.
  [[nodiscard]] bool holding() const;
  /// Takes a write. Blocks until the log has it at the options' level. From the call on it holds.
  /// Busy: it is full. Unavailable: its disk fails; whether the write is kept is not known. The
  /// same write is taken once the disk is mended.
  Status Hold(SpoolRecord record);
  /// Whether Hold would take some more, as its errors say. Changes nothing, waits for nothing.
  [[nodiscard]] Status Room() const;
  /// Blocks until everything taken survives a power cut.
  Status Sync();

  [[nodiscard]] SpoolStats Stats() const;

 private:
  /// What REPLAYED says.
  struct Mark {
    uint64_t file_number = 1;
    lsm::LogPosition position = 0;  // where that file begins
    uint64_t sequence = 0;          // of the last record before it
  };

  Spool(FileSystem& files, SpoolOptions options, const Clock& clock);
  Status Recover();
  /// Busy: so many bytes more are too many. With mutex_ held.
  [[nodiscard]] Status RoomFor(uint64_t bytes) const;
  /// Reads what is left, and makes a log that goes on behind it.
  Status OpenLog();
  /// A new log in place of one that failed for good; nothing where it did not.
  Status RebuildLog();
  [[nodiscard]] std::shared_ptr<lsm::Log> CurrentLog() const;
  Result<Mark> ReadMark() const;
  Status SaveMark(const Mark& mark);

  void ReplayLoop();
  /// Replays what was taken so far; lets go if nothing came meanwhile.
  Status ReplayTaken();
  /// Files of the log before one, from the mark on; those that no record came to are left out.
  struct LogFile {
    std::string path;
    uint64_t number;
    lsm::LogPosition start;
  };
  Result<std::vector<LogFile>> FilesBefore(uint64_t number) const;
  /// Of a file whose records must go on to `end`. Corruption: they do not; nothing was sent.
  Status ReplayFile(const LogFile& file, lsm::LogPosition end);
  /// Sends until HBase has each row or refuses it for good; then everything before `end` is done
  /// with. Unavailable: stop.
  Status SendPatiently(SpoolRecord record, lsm::LogPosition end);
  /// Sends up to `*count` rows from the front of those left, once. Takes out what is done, to
  /// `refused` what is given up; sets how many are sent the next time. Why some are left of them.
  Status SendSome(const SpoolRecord& of, std::vector<RowMutation>* left, size_t* count,
                  std::vector<RefusedRow>* refused);
  /// Whether a row that was refused so is not to be sent again.
  bool GivesUp(const std::string& table, const Status& refused);
  Status SetAside(const SpoolRecord& record, const std::vector<RefusedRow>& rows,
                  lsm::LogPosition end);
  /// Then the log is rebuilt, too, if it must be. False: stop.
  bool WaitBeforeRetry(const Status& why);

  FileSystem& files_;
  const SpoolOptions options_;
  const Clock& clock_;
  std::unique_ptr<FileLock> lock_;
  Send send_;  // set before the thread

  // Of the replaying thread, once it runs.
  Mark mark_;
  std::map<std::pair<std::string, StatusCode>, int64_t> refused_since_ms_;  // while it holds

  mutable std::mutex mutex_;
  std::condition_variable changed_;
  // Guarded by mutex_.
  std::shared_ptr<lsm::Log> log_;  // shared: who waits for one that failed keeps it
  bool log_failed_ = false;        // somebody was refused for it
  bool holding_ = false;
  bool stopping_ = false;
  uint64_t sequence_ = 0;          // of the last record taken
  lsm::LogPosition replayed_ = 0;  // everything before it is in HBase
  SpoolStats stats_;               // but for bytes, times and the failure
  Status failure_;                 // of the last try
  int64_t stuck_since_ms_ = 0;     // HBase refuses the row in front; 0: it does not
  int64_t oldest_ms_ = 0;          // of what is left, while it holds
  int64_t rate_since_ms_ = 0;      // the replay rate is that of the rows since
  uint64_t rate_rows_ = 0;

  std::thread replayer_;
};

}  // namespace hg::hbase
