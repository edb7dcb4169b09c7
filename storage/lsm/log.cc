#include "storage/lsm/log.h"

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <new>
#include <utility>

#include "storage/base/invariant.h"

namespace hg::lsm {
namespace {

constexpr size_t kRecycledMax = 4;
// `buffered` keeps at most this much in memory before a commit writes after all.
constexpr LogPosition kUnwrittenMax = 8 << 20;
constexpr int kWriteIntervalMaxMs = 1000;
// How often a thread writes what others have added meanwhile.
constexpr int kRoundsMax = 16;

}  // namespace

std::string LogFileName(uint64_t number) {
  char text[32];
  std::snprintf(text, sizeof text, "%012llu.log", static_cast<unsigned long long>(number));
  return text;
}

bool ParseLogFileName(const std::string& name, uint64_t* number) {
  if (name.size() < 5 || name.substr(name.size() - 4) != ".log") return false;
  *number = 0;
  for (size_t i = 0; i + 4 < name.size(); ++i) {
    if (name[i] < '0' || name[i] > '9') return false;
    *number = *number * 10 + static_cast<uint64_t>(name[i] - '0');
  }
  return true;
}

Log::Log(FileSystem& files, LogOptions options, LogStart start)
    : files_(files),
      options_(std::move(options)),
      next_file_number_(start.file_number),
      end_(start.position),
      written_(start.position),
      synced_(start.position),
      live_(start.old_files.begin(), start.old_files.end()),
      background_([this] { BackgroundLoop(); }) {}

Log::~Log() { (void)Close(); }

Status Log::Close() {
  std::unique_lock lock(mutex_);
  stop_ = true;
  wanted_.notify_all();
  if (background_.joinable()) {
    lock.unlock();
    background_.join();
    lock.lock();
  }
  changed_.wait(lock, [this] { return !writing_; });
  Status status = synced_ == end_ ? Status() : failure_;
  if (failure_.ok()) failure_ = Status::Unavailable("the log is closed");
  return status;
}

LogPosition Log::Add(uint8_t kind, uint64_t sequence, ByteView body, uint32_t body_crc) {
  INVARIANT(kind != 0 && body.size() < UINT32_MAX);
  std::lock_guard lock(mutex_);
  const size_t size = kLogRecordHeaderBytes + body.size();
  if (next_file_used_ > 0 && next_file_used_ + size > options_.file_bytes) {
    ++next_file_number_;
    next_file_used_ = 0;
  }
  const bool begins = next_file_used_ == 0;
  const bool fresh = begins || pending_.empty();
  // A want of memory leaves no half of a record: all of the room first.
  Bytes& room = fresh ? spare_ : pending_.back().bytes;
  if (fresh) room.clear();
  const size_t needed = room.size() + (begins ? kLogFileHeaderBytes : 0) + size;
  if (needed > room.capacity()) room.reserve(std::max(needed, 2 * room.capacity()));
  if (fresh) {
    pending_.push_back({next_file_number_, end_, begins, std::move(spare_)});
    spare_ = Bytes();
  }
  Bytes& out = pending_.back().bytes;
  if (begins) {
    char header[kLogFileHeaderBytes];
    EncodeLogFileHeader({next_file_number_, end_, synced_}, header);
    out.append(header, sizeof header);
    next_file_used_ = sizeof header;
  }
  char header[kLogRecordHeaderBytes];
  EncodeLogRecordHeader(next_file_number_,
                        {static_cast<uint32_t>(body.size()), body_crc, sequence, synced_, kind},
                        header);
  out.append(header, sizeof header);
  out.append(body);
  next_file_used_ += size;
  end_ += size;
  return end_;
}

Log::Switch Log::SwitchFile() {
  std::lock_guard lock(mutex_);
  if (next_file_used_ > 0) {
    ++next_file_number_;
    next_file_used_ = 0;
  }
  return {next_file_number_, end_};
}

void Log::Commit(LogPosition position, Done done) {
  std::unique_lock lock(mutex_);
  if (!failure_.ok()) {
    const Status failure = failure_;
    lock.unlock();
    done(failure);
    return;
  }
  if (options_.sync_on_commit) {
    if (position > synced_) {
      sync_waiters_.push_back({position, std::move(done), {}});
      sync_wanted_ = true;
      wanted_.notify_all();
      return;
    }
  } else if (options_.write_on_commit || end_ - written_ > kUnwrittenMax) {
    if (position > written_) {
      write_waiters_.push_back({position, std::move(done), {}});
      // Whoever is writing takes these bytes along, or sees to it that another one does.
      if (!writing_) WritePending(lock);
      return;
    }
  }
  lock.unlock();
  done({});
}

Status Log::WaitSynced(LogPosition position) {
  std::unique_lock lock(mutex_);
  while (failure_.ok() && synced_ < position) {
    sync_wanted_ = true;
    wanted_.notify_all();
    changed_.wait(lock);
  }
  return synced_ >= position ? Status() : failure_;
}

Status Log::WaitWritten(LogPosition position) {
  std::unique_lock lock(mutex_);
  while (failure_.ok() && written_ < position) {
    if (writing_) {
      changed_.wait(lock);
    } else {
      WritePending(lock);
      if (!lock.owns_lock()) lock.lock();
    }
  }
  return written_ >= position ? Status() : failure_;
}

LogPosition Log::End() const {
  std::lock_guard lock(mutex_);
  return end_;
}

Status Log::Failure() const {
  std::lock_guard lock(mutex_);
  return failure_;
}

bool Log::NeedsReopening() const {
  std::lock_guard lock(mutex_);
  return !failure_.ok() && !may_recover_;
}

LogPosition Log::Synced() const {
  std::lock_guard lock(mutex_);
  return synced_;
}

// Returns with the lock released. What others add meanwhile is written, too, but not without end:
// then the background thread takes over, unless a sync keeps it.
void Log::WritePending(std::unique_lock<std::mutex>& lock) {
  INVARIANT(!writing_);
  writing_ = true;
  Waiters ready;
  for (int round = 0; !pending_.empty() && failure_.ok(); ++round) {
    if (round >= kRoundsMax && !syncing_) {
      write_wanted_ = true;
      wanted_.notify_all();
      break;
    }
    Segments segments;
    segments.swap(pending_);
    const LogPosition target = end_;
    lock.unlock();
    Run(&ready);
    const Status status = WriteSegments(&segments);
    lock.lock();
    if (!status.ok()) {
      pending_.splice(pending_.begin(), segments);  // in front of what was added meanwhile
      Fail(status, true);
    } else if (failure_.ok()) {
      written_ = target;
      TakeReached(&write_waiters_, written_, &ready);
    }
    changed_.notify_all();
  }
  if (!failure_.ok()) TakeAllFailed(&ready);
  writing_ = false;
  changed_.notify_all();
  lock.unlock();
  Run(&ready);
}

// Takes those out that are written. A failure may be after a part of the bytes of the first one
// left: they are to be written to the same place again.
Status Log::WriteSegments(Segments* segments) noexcept try {
  while (!segments->empty()) {
    RETURN_IF_ERROR(WriteSegment(&segments->front()));
    Bytes& bytes = segments->front().bytes;
    {
      std::lock_guard lock(mutex_);
      if (bytes.capacity() > spare_.capacity()) {
        spare_ = std::move(bytes);
        spare_.clear();
      }
    }
    segments->pop_front();
  }
  return {};
} catch (const std::bad_alloc&) {
  return no_memory_;
}

// What failed, and what was added since. Everybody is refused until all of it is written. Returns
// with the lock held.
void Log::WriteAgain(std::unique_lock<std::mutex>& lock) {
  if (writing_ || !may_recover_) return;
  writing_ = true;
  Segments segments;
  segments.swap(pending_);
  const LogPosition target = end_;
  lock.unlock();
  const Status status = WriteSegments(&segments);
  lock.lock();
  if (!status.ok()) {
    pending_.splice(pending_.begin(), segments);
  } else if (may_recover_) {  // no sync has failed meanwhile
    failure_ = Status();
    may_recover_ = false;
    written_ = target;
  }
  writing_ = false;
  changed_.notify_all();
}

Status Log::WriteSegment(Segment* segment) {
  if (segment->begins_file) {
    ASSIGN_OR_RETURN(file_, BeginFile(segment->file_number));
    file_offset_ = 0;
    segment->begins_file = false;
  }
  RETURN_IF_ERROR(file_->WriteAt(file_offset_, segment->bytes));
  {
    std::lock_guard lock(mutex_);
    if (unsynced_.empty() || unsynced_.back() != file_) unsynced_.push_back(file_);
  }
  file_offset_ += segment->bytes.size();  // last: what broke off before is written here again
  return {};
}

Result<std::shared_ptr<File>> Log::BeginFile(uint64_t number) {
  const std::string path = options_.folder + "/" + LogFileName(number);
  std::string recycled;
  {
    std::lock_guard lock(mutex_);
    if (!recycled_.empty()) {
      recycled = std::move(recycled_.back());
      recycled_.pop_back();
    }
  }
  std::shared_ptr<File> file;
  if (!recycled.empty()) {
    RETURN_IF_ERROR(files_.Rename(recycled, path));
    ASSIGN_OR_RETURN(file, files_.Open(path, OpenMode::kReadWrite));
  } else {
    ASSIGN_OR_RETURN(file, files_.Open(path, OpenMode::kCreate));
    RETURN_IF_ERROR(file->Allocate(options_.file_bytes));
  }
  std::lock_guard lock(mutex_);
  live_.push_back(number);
  folder_dirty_ = true;
  return file;
}

void Log::BackgroundLoop() {
  using std::chrono::milliseconds;
  const auto interval = milliseconds(std::max(
      1, options_.write_on_commit ? options_.sync_interval_ms
                                  : std::min(options_.sync_interval_ms, kWriteIntervalMaxMs)));
  const auto retry = milliseconds(std::max(1, options_.retry_ms));
  using Clock = std::chrono::steady_clock;
  std::unique_lock lock(mutex_);
  for (auto next_sync = Clock::now() + interval; !stop_;) {
    if (may_recover_) {
      wanted_.wait_for(lock, retry, [this] { return stop_; });
      WriteAgain(lock);
      continue;
    }
    wanted_.wait_until(lock, next_sync,
                       [this] { return stop_ || sync_wanted_ || write_wanted_ || may_recover_; });
    const bool write = std::exchange(write_wanted_, false);
    if (write && !writing_ && !pending_.empty() && failure_.ok()) {
      WritePending(lock);
      lock.lock();
    }
    if (!stop_ && !sync_wanted_ && Clock::now() < next_sync) continue;
    sync_wanted_ = false;
    SyncOnce(lock);
    next_sync = Clock::now() + interval;
  }
  WriteAgain(lock);
  while (failure_.ok() && synced_ != end_) SyncOnce(lock);
  may_recover_ = false;
  if (synced_ != end_) {
    if (failure_.ok()) Fail(Status::Unavailable("the log is closed"), false);
    Waiters ready;
    TakeAllFailed(&ready);
    lock.unlock();
    Run(&ready);
  }
}

// Writes what is pending and syncs what is written. Another thread's writing may go on as long as
// others add: it is waited for only while there is nothing to sync. Returns with the lock held.
void Log::SyncOnce(std::unique_lock<std::mutex>& lock) {
  if (!writing_ && !pending_.empty() && failure_.ok()) {
    WritePending(lock);
    lock.lock();
  }
  changed_.wait(lock, [this] { return !writing_ || synced_ != written_ || !failure_.ok(); });
  if (!failure_.ok()) return;
  if (synced_ == written_) {
    sync_wanted_ = sync_wanted_ || !sync_waiters_.empty();
    return;
  }
  // All bytes up to here are in files that are unsynced, and their names in the folder: a file is
  // named there after its write and before written_ moves. A write that is under way names its file
  // once more.
  const LogPosition target = written_;
  const std::vector<std::shared_ptr<File>> files = std::move(unsynced_);
  unsynced_.clear();
  const bool folder = folder_dirty_;
  folder_dirty_ = false;
  syncing_ = true;
  lock.unlock();
  const Status status = SyncFiles(folder, files);
  lock.lock();
  syncing_ = false;
  Waiters ready;
  if (status.ok()) {
    synced_ = target;
    TakeReached(&sync_waiters_, synced_, &ready);
  } else {
    Fail(status, false);
    TakeAllFailed(&ready);
  }
  sync_wanted_ = sync_wanted_ || !sync_waiters_.empty();
  changed_.notify_all();
  lock.unlock();
  Run(&ready);
  lock.lock();
}

Status Log::SyncFiles(bool folder, const std::vector<std::shared_ptr<File>>& files) noexcept try {
  if (folder) RETURN_IF_ERROR(files_.SyncFolder(options_.folder));
  for (const auto& file : files) RETURN_IF_ERROR(file->Sync());
  return {};
} catch (const std::bad_alloc&) {
  return no_memory_;
}

void Log::Fail(const Status& status, bool may_recover) noexcept {
  if (!failure_.ok() && (may_recover || !may_recover_)) return;
  may_recover_ = may_recover;
  wanted_.notify_all();
  try {
    failure_ = Status::Unavailable((may_recover ? "the log cannot be written to for now: "
                                                : "the log failed, reopen the store: ") +
                                   status.ToString());
  } catch (const std::bad_alloc&) {
    failure_ = no_memory_;
  }
}

void Log::TakeReached(Waiters* waiters, LogPosition reached, Waiters* ready) {
  // Positions of different threads may arrive slightly out of order: all are looked at.
  for (auto it = waiters->begin(); it != waiters->end();) {
    const auto waiter = it++;
    if (waiter->position <= reached) ready->splice(ready->end(), *waiters, waiter);
  }
}

void Log::TakeAllFailed(Waiters* ready) {
  for (Waiters* waiters : {&write_waiters_, &sync_waiters_}) {
    for (Waiter& waiter : *waiters) waiter.status = failure_;
    ready->splice(ready->end(), *waiters);
  }
}

void Log::Run(Waiters* ready) {
  for (Waiter& waiter : *ready) waiter.done(waiter.status);
  ready->clear();
}

void Log::Release(uint64_t file_number) {
  std::unique_lock lock(mutex_);
  std::vector<uint64_t> released;
  released.reserve(live_.size());
  while (!live_.empty() && live_.front() < file_number) {
    released.push_back(live_.front());
    live_.pop_front();
  }
  lock.unlock();
  for (const uint64_t number : released) {
    const std::string path = options_.folder + "/" + LogFileName(number);
    lock.lock();
    const bool keep = recycled_.size() < kRecycledMax;
    if (keep) recycled_.push_back(path);
    lock.unlock();
    // A file that cannot be removed costs room only: its number is below the manifest's.
    if (!keep) (void)files_.Remove(path);
  }
}

}  // namespace hg::lsm
