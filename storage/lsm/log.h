#pragma once
// The write-ahead log is one stream of records in numbered files, which are preallocated and
// recycled (FORMAT.md "Log"). Log::Add buffers records, and Log::Commit makes them durable. Add and
// Commit are separate functions, so that a caller can add a record while it holds a lock, and wait
// for I/O without the lock.

#include <condition_variable>
#include <cstdint>
#include <deque>
#include <functional>
#include <list>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include "storage/base/file.h"
#include "storage/base/status.h"
#include "storage/lsm/log_format.h"

namespace hg::lsm {

struct LogOptions {
  std::string folder;
  uint64_t file_bytes = uint64_t{64} << 20;
  // Whether Commit writes records to the file. If false, the sync thread writes records at least
  // once per second.
  bool write_on_commit = true;
  bool sync_on_commit = false;  // whether Commit calls `done` only after fdatasync
  int sync_interval_ms = 1000;  // interval of fdatasync calls of the sync thread, in ms
  int retry_ms = 1000;          // interval of retries after a failed write, in ms
  /// A function that durably records that these log files must exist. The log calls it on its
  /// sync thread. At the time of the call, the files, their names and their first records are
  /// durable, but no record in the files is reported as synced. If the function fails, threads that
  /// wait for this sync get the failure, and the log calls the function again at the next sync. The
  /// function may be empty.
  std::function<Status(const std::list<LogFile>&)> name_files = {};
};

/// The place where the log continues. All records before this position are durable.
struct LogStart {
  uint64_t file_number = 1;
  LogPosition position = 0;
  std::vector<uint64_t> old_files;  // numbers of older files that are still needed; ascending
};

/// The write-ahead log. Thread-safe. A thread in Commit writes its records and the records of other
/// waiting threads, but only a few times in a row. After that, the log's writer thread continues
/// the writing. The log's sync thread calls fdatasync.
///
/// After a failed write, for example on a full disk, Commit, WaitSynced and WaitWritten fail with
/// the error of the write until the log has written the same bytes. The log retries the write by
/// itself. After any failure, the records of failed calls may still be written to the log later.
///
/// After a failed sync, the state of the disk is unknown, and the same calls fail until the store
/// is reopened. Running out of memory counts as a failed write or a failed sync. Add, Commit and
/// Release may throw std::bad_alloc. Then Add and Commit have changed nothing, Release may have
/// left unneeded files on disk, and the log stays usable.
class Log {
 public:
  /// A function that the log calls with the result of a commit. It must not throw, because no
  /// caller could handle the exception.
  using Done = std::function<void(Status)>;

  /// Creates a log that continues at `start`. The log does no I/O until the first write. `files`
  /// must outlive the log.
  Log(FileSystem& files, LogOptions options, LogStart start);
  ~Log();  // the destructor calls Close
  /// Writes and syncs all added records, and joins the threads. If the write or the sync fails,
  /// Close returns the error, and waiting callbacks get Unavailable. After Close, the log does no
  /// I/O, and commits fail. Idempotent. Only one thread at a time may call Close.
  Status Close();

  /// Copies a record to the buffer and returns the log position after it. Does no I/O. Records need
  /// ascending sequence numbers, a `kind` other than 0, and `body_crc` = crc32c::Value(body).
  LogPosition Add(uint8_t kind, uint64_t sequence, ByteView body, uint32_t body_crc);
  /// The result of SwitchFile: the number of the file in which the next record begins, and the
  /// position of this record. SwitchFile makes the next record begin a new file. It does no I/O.
  struct Switch {
    uint64_t file_number;
    LogPosition position;
  };
  Switch SwitchFile();

  /// Makes all records up to `position` (at most End()) durable at the configured level. Calls
  /// `done` once, on this thread or on another thread, possibly before Commit returns.
  void Commit(LogPosition position, Done done);
  /// Blocks until all records up to `position` survive a power failure, or the log has failed.
  Status WaitSynced(LogPosition position);
  /// Blocks until all records up to `position` are written to the files, or the log has failed.
  Status WaitWritten(LogPosition position);
  [[nodiscard]] LogPosition End() const;  // returns the position after the last added record
  [[nodiscard]] Status Failure() const;   // returns the error with which commits fail now, or ok
  /// Returns whether the log failed permanently, because it is unknown which unsynced records are
  /// on disk. After a permanent failure, the store must be reopened.
  [[nodiscard]] bool NeedsReopening() const;
  /// Returns the position up to which all records survive a power failure.
  [[nodiscard]] LogPosition Synced() const;

  /// Tells the log that files with numbers below `file_number` are no longer needed. The log
  /// recycles or removes these files.
  void Release(uint64_t file_number);

 private:
  struct Segment {
    LogFile file;  // first_sequence is the sequence number of the first record in this segment
    bool begins_file;
    Bytes bytes;
  };
  struct Waiter {
    LogPosition position;
    Done done;
    Status status;
  };
  // Waiting threads are stored in lists, because moving an element to another list allocates
  // nothing. Therefore waiting threads get their result even if no memory can be allocated.
  using Waiters = std::list<Waiter>;
  using Segments = std::list<Segment>;

  void BackgroundLoop();
  void WriterLoop();
  void WritePending(std::unique_lock<std::mutex>& lock);
  void WriteAgain(std::unique_lock<std::mutex>& lock);
  Status WriteSegments(Segments* segments) noexcept;
  Status WriteSegment(Segment* segment);
  Status BeginFile(uint64_t number);
  Status SyncFiles(Folder* folder, const std::vector<std::shared_ptr<File>>& files) noexcept;
  Status NameFiles(const std::list<LogFile>& files) noexcept;
  void SyncOnce(std::unique_lock<std::mutex>& lock);
  /// Stores a failure. If a write failed, its bytes are pending again, and the log may recover.
  void Fail(const Status& status, bool may_recover) noexcept;
  void RefuseSync(const Status& status, Waiters* ready) noexcept;
  static void TakeReached(Waiters* waiters, LogPosition reached, Waiters* ready);
  void TakeAllFailed(Waiters* ready);
  static void Run(Waiters* ready);

  FileSystem& files_;
  const LogOptions options_;
  const Status no_memory_ = Status::Unavailable("no memory");  // made while memory is available

  // Only the thread that has set writing_ uses the following members.
  std::shared_ptr<File> file_;
  uint64_t file_number_ = 0;  // number of file_
  uint64_t file_offset_ = 0;
  // The next log file while it is being created. The name of the file exists, but its header may
  // not be written yet. If a step of the creation fails, a retry continues with that step.
  uint64_t begun_number_ = 0;
  std::unique_ptr<File> begun_;  // null if the file is not open yet

  mutable std::mutex mutex_;
  // The following members are guarded by mutex_.
  std::condition_variable changed_;  // signals changes of positions, writing_ and failure_
  // The following two variables wake the background threads of the log. They are separate from
  // changed_, because waking these threads at every commit would make small requests about a tenth
  // slower.
  std::condition_variable wanted_;        // wakes the thread that syncs the log
  std::condition_variable write_wanted_;  // wakes the thread that writes the log
  Segments pending_;
  Bytes spare_;                // a buffer that was written; kept to reuse its memory
  uint64_t next_file_number_;  // number of the file that gets new records
  // The number of bytes added to the file next_file_number_. 0 means that the header of the file is
  // not added yet.
  uint64_t next_file_used_ = 0;
  uint64_t next_file_key_ = 0;  // LogFileHeader::key of this file
  LogPosition end_;             // end of the added records
  LogPosition written_;         // end of the records that are written to the files
  LogPosition synced_;          // end of the records that are durable
  bool writing_ = false;
  bool hand_over_ = false;  // whether the writer thread must write pending_
  bool sync_wanted_ = false;
  bool stop_ = false;
  Status failure_;
  // Whether failure_ is the failure of a write. The log may recover from such a failure.
  bool may_recover_ = false;
  // The number of syncs for which name_files failed, and the last of these failures. Only threads
  // that wait for these syncs get the failure.
  uint64_t refusals_ = 0;
  Status refused_;
  Waiters write_waiters_;
  Waiters sync_waiters_;
  std::vector<std::shared_ptr<File>> unsynced_;  // files with bytes that are not synced yet
  // The files whose first record is written, but which name_files has not recorded yet.
  std::list<LogFile> unnamed_;
  std::shared_ptr<Folder> folder_;     // opened with the first file and kept open
  bool folder_dirty_ = false;          // whether names changed since the last folder sync
  std::vector<std::string> recycled_;  // paths of files that may be reused
  std::deque<uint64_t> live_;          // numbers of the log files on disk; ascending

  std::thread background_;
  std::thread writer_;
};

}  // namespace hg::lsm
