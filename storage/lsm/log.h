#pragma once
// The write-ahead log: one stream of records over numbered, preallocated, recycled files (FORMAT.md
// "Log"; engine.md §5). Add buffers, Commit makes durable; the two are apart so that no lock is
// held across I/O.

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
  bool write_on_commit = true;  // false: the background thread writes, at least once a second
  bool sync_on_commit = false;  // acks wait for fdatasync
  int sync_interval_ms = 1000;  // background fdatasync
  int retry_ms = 1000;          // after a failed write, until it is tried again
};

/// Where the stream goes on. Everything before is durable.
struct LogStart {
  uint64_t file_number = 1;
  LogPosition position = 0;
  std::vector<uint64_t> old_files;  // numbers of files that are still needed, rising
};

/// Thread-safe. After a failed write, such as on a full disk, every call fails with that error
/// until the same bytes were written after all: the log tries again by itself. What was refused
/// meanwhile may be there then, as after any failure. After a failed sync nobody knows what the
/// disk holds: every call fails until the store is reopened. A want of memory while writing or
/// syncing is such a failure, too; Add, Commit and Release may throw it, and have done nothing then
/// that the next call does not find in order.
class Log {
 public:
  /// Must not throw: there is nobody left to tell.
  using Done = std::function<void(Status)>;

  /// `files` outlives the log. No I/O before the first write.
  Log(FileSystem& files, LogOptions options, LogStart start);
  ~Log();  // closes
  /// Writes and syncs what was added; waiting callbacks get Unavailable if that fails. No I/O after
  /// it: later calls fail. Idempotent, one caller at a time.
  Status Close();

  /// Copies a record to the buffer; the position behind it. Call in the order of sequences. No I/O.
  LogPosition Add(uint8_t kind, uint64_t sequence, ByteView body, uint32_t body_crc);
  /// The next record begins a new file: its number, and the position there.
  struct Switch {
    uint64_t file_number;
    LogPosition position;
  };
  Switch SwitchFile();

  /// Reaches the configured level for all up to `position`, then calls done once: here, or on
  /// another thread.
  void Commit(LogPosition position, Done done);
  /// Blocks until everything up to `position` survives a power cut.
  Status WaitSynced(LogPosition position);
  /// Blocks until it is in the files.
  Status WaitWritten(LogPosition position);
  [[nodiscard]] LogPosition End() const;
  [[nodiscard]] Status Failure() const;
  /// Whether it failed for good: of what was not synced nobody knows what the disk holds.
  [[nodiscard]] bool NeedsReopening() const;
  /// Up to where everything survives a power cut.
  [[nodiscard]] LogPosition Synced() const;

  /// Files with smaller numbers are no longer needed: recycled or removed.
  void Release(uint64_t file_number);

 private:
  struct Segment {
    uint64_t file_number;
    LogPosition start;
    bool begins_file;
    Bytes bytes;
  };
  struct Waiter {
    LogPosition position;
    Done done;
    Status status;
  };
  // Lists: what is moved from one to another needs no memory, so that a want of it cannot stand
  // between a waiter and its answer.
  using Waiters = std::list<Waiter>;
  using Segments = std::list<Segment>;

  void BackgroundLoop();
  void WritePending(std::unique_lock<std::mutex>& lock);
  void WriteAgain(std::unique_lock<std::mutex>& lock);
  Status WriteSegments(Segments* segments) noexcept;
  Status WriteSegment(Segment* segment);
  Result<std::shared_ptr<File>> BeginFile(uint64_t number);
  Status SyncFiles(bool folder, const std::vector<std::shared_ptr<File>>& files) noexcept;
  void SyncOnce(std::unique_lock<std::mutex>& lock);
  /// Of a write, whose bytes are pending again: it may recover.
  void Fail(const Status& status, bool may_recover) noexcept;
  static void TakeReached(Waiters* waiters, LogPosition reached, Waiters* ready);
  void TakeAllFailed(Waiters* ready);
  static void Run(Waiters* ready);

  FileSystem& files_;
  const LogOptions options_;
  const Status no_memory_ = Status::Unavailable("no memory");  // made while there is some

  // Only of whoever has set writing_.
  std::shared_ptr<File> file_;
  uint64_t file_offset_ = 0;

  mutable std::mutex mutex_;
  // Guarded by mutex_.
  std::condition_variable changed_;  // positions, writing_, failure_
  // What the background thread is asked for; of its own, since that thread would otherwise be woken
  // by each commit, which costs small requests a tenth of their time.
  std::condition_variable wanted_;
  Segments pending_;
  Bytes spare_;                  // a written buffer kept for its capacity
  uint64_t next_file_number_;    // of the file that records are added to
  uint64_t next_file_used_ = 0;  // bytes added to it; 0 = its header is yet to come
  LogPosition end_;
  LogPosition written_;
  LogPosition synced_;
  bool writing_ = false;
  bool syncing_ = false;
  bool write_wanted_ = false;
  bool sync_wanted_ = false;
  bool stop_ = false;
  Status failure_;
  bool may_recover_ = false;  // failure_ is of a write
  Waiters write_waiters_;
  Waiters sync_waiters_;
  std::vector<std::shared_ptr<File>> unsynced_;
  bool folder_dirty_ = false;          // names changed since the last sync
  std::vector<std::string> recycled_;  // paths free to be renamed
  std::deque<uint64_t> live_;          // numbers of files on disk, rising

  std::thread background_;
};

}  // namespace hg::lsm
