#include "storage/lsm/log.h"

#include <algorithm>
#include <charconv>
#include <chrono>
#include <cstdio>
#include <new>
#include <utility>

#include "storage/base/invariant.h"
#include "storage/base/random_bits.h"

namespace hg::lsm {
namespace {

constexpr size_t kRecycledMax = 4;
// Maximum number of bytes that stay in memory before a commit writes them, with the durability
// `buffered`.
constexpr LogPosition kUnwrittenMax = 8 << 20;
constexpr int kWriteIntervalMaxMs = 1000;
// Maximum number of rounds in which one thread writes records. After the first round, it writes the
// records that other threads added during the previous round.
constexpr int kRoundsMax = 16;
// Limit for the number of a log file. A file with a larger number in its name is not part of the
// log.
constexpr uint64_t kNumberMax = 1'000'000'000'000'000;

}  // namespace

std::string LogFileName(uint64_t number) {
  char text[32];
  std::snprintf(text, sizeof text, "%012llu.log", static_cast<unsigned long long>(number));
  return text;
}

bool ParseLogFileName(const std::string& name, uint64_t* number) {
  const char* const end = name.data() + name.size();
  const auto read = std::from_chars(name.data(), end, *number);
  return read.ec == std::errc() && *number > 0 && *number <= kNumberMax &&
         name == LogFileName(*number);
}

Log::Log(FileSystem& files, LogOptions options, LogStart start)
    : files_(files),
      options_(std::move(options)),
      next_file_number_(start.file_number),
      end_(start.position),
      written_(start.position),
      synced_(start.position),
      live_(start.old_files.begin(), start.old_files.end()),
      background_([this] { BackgroundLoop(); }),
      writer_([this] { WriterLoop(); }) {}

Log::~Log() { (void)Close(); }

Status Log::Close() {
  std::unique_lock lock(mutex_);
  stop_ = true;
  wanted_.notify_all();
  write_wanted_.notify_all();
  for (std::thread* thread : {&writer_, &background_}) {
    if (!thread->joinable()) continue;
    lock.unlock();
    thread->join();
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
  // All memory is reserved first, so an allocation failure cannot leave half a record.
  Bytes& room = fresh ? spare_ : pending_.back().bytes;
  if (fresh) room.clear();
  const size_t needed = room.size() + (begins ? kLogFileHeaderBytes : 0) + size;
  if (needed > room.capacity()) room.reserve(std::max(needed, 2 * room.capacity()));
  if (fresh) {
    pending_.push_back({{next_file_number_, sequence}, begins, std::move(spare_)});
    spare_ = Bytes();
  }
  Bytes& out = pending_.back().bytes;
  if (begins) {
    next_file_key_ = RandomBits();
    char header[kLogFileHeaderBytes];
    EncodeLogFileHeader({next_file_number_, end_, synced_, next_file_key_}, header);
    out.append(header, sizeof header);
    next_file_used_ = sizeof header;
  }
  char header[kLogRecordHeaderBytes];
  EncodeLogRecordHeader(next_file_key_,
                        {static_cast<uint32_t>(body.size()), body_crc, sequence, synced_, kind},
                        header);
  out.append(header, sizeof header);
  out.append(body);
  next_file_used_ += size;
  end_ += size;
  INVARIANT(synced_ <= written_ && written_ < end_);
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
  INVARIANT(position <= end_);  // a position beyond the end of the log is never reached
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
      // If another thread is writing to the file, it also writes these bytes, or passes them to the
      // writer thread.
      if (!writing_) WritePending(lock);
      return;
    }
  }
  lock.unlock();
  done({});
}

Status Log::WaitSynced(LogPosition position) {
  std::unique_lock lock(mutex_);
  INVARIANT(position <= end_);
  const uint64_t refusals = refusals_;
  while (failure_.ok() && synced_ < position && refusals_ == refusals) {
    sync_wanted_ = true;
    wanted_.notify_all();
    changed_.wait(lock);
  }
  if (synced_ >= position) return {};
  return failure_.ok() ? refused_ : failure_;
}

Status Log::WaitWritten(LogPosition position) {
  std::unique_lock lock(mutex_);
  INVARIANT(position <= end_);
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

// Writes pending_, and also the records that other threads add meanwhile, but at most kRoundsMax
// times. Then the writer thread takes over, unless the log is being closed. Returns with the lock
// released.
void Log::WritePending(std::unique_lock<std::mutex>& lock) {
  INVARIANT(!writing_);
  writing_ = true;
  Waiters ready;
  for (int round = 0; !pending_.empty() && failure_.ok(); ++round) {
    if (round >= kRoundsMax && !stop_) {
      hand_over_ = true;
      write_wanted_.notify_one();
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
      pending_.splice(pending_.begin(), segments);  // before the bytes that were added meanwhile
      Fail(status, true);
    } else if (failure_.ok()) {
      INVARIANT(segments.empty() && written_ <= target && target <= end_);
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

// Writes the segments, and removes each segment that is completely written. After a failure, part
// of the first remaining segment may have been written. This segment must be written again at the
// same offset.
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

// Writes the segments whose write has failed, and the segments that were added since. All callers
// are refused until everything is written. Returns with the lock held.
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
    INVARIANT(segments.empty() && written_ <= target && target <= end_);
    failure_ = Status();
    may_recover_ = false;
    written_ = target;
  }
  writing_ = false;
  changed_.notify_all();
}

Status Log::WriteSegment(Segment* segment) {
  INVARIANT(segment->file.number >= file_number_);  // files are written one after the other
  if (file_number_ != segment->file.number) RETURN_IF_ERROR(BeginFile(segment->file.number));
  RETURN_IF_ERROR(file_->WriteAt(file_offset_, segment->bytes));
  {
    std::lock_guard lock(mutex_);
    if (unsynced_.empty() || unsynced_.back() != file_) unsynced_.push_back(file_);
    if (std::exchange(segment->begins_file, false)) unnamed_.push_back(segment->file);
  }
  file_offset_ +=
      segment->bytes.size();  // last, so that a failed write is repeated at the same place
  return {};
}

// Creates or reuses a file. This function may fail at any step, for example without free file
// descriptors, and is then called again. A file with this name that did not exist when the log was
// opened is not part of the log and is not changed.
Status Log::BeginFile(uint64_t number) {
  const std::string path = options_.folder + "/" + LogFileName(number);
  if (begun_number_ != number) {
    std::string recycled;
    {
      std::lock_guard lock(mutex_);
      if (!recycled_.empty()) {
        recycled = std::move(recycled_.back());
        recycled_.pop_back();
      }
    }
    begun_ = nullptr;
    if (recycled.empty()) {
      ASSIGN_OR_RETURN(begun_, files_.Open(path, OpenMode::kCreateNew));
    } else if (files_.Exists(path)) {
      return Status::Conflict(path + " exists already, and is not a file of this log");
    } else {
      RETURN_IF_ERROR(files_.Rename(recycled, path));
    }
    // Nothing throws between the creation of the file and this line. So a file that was created is
    // known to be part of the log.
    begun_number_ = number;
  }
  if (begun_ == nullptr) {
    ASSIGN_OR_RETURN(begun_, files_.Open(path, OpenMode::kReadWrite));
  }
  RETURN_IF_ERROR(begun_->Allocate(options_.file_bytes));
  std::shared_ptr<File> file = std::move(begun_);
  std::shared_ptr<Folder> folder = folder_;  // no other thread changes folder_
  if (folder == nullptr) {
    ASSIGN_OR_RETURN(folder, files_.OpenFolder(options_.folder));
  }
  {
    std::lock_guard lock(mutex_);
    live_.push_back(number);
    folder_ = std::move(folder);
    folder_dirty_ = true;
  }
  file_ = std::move(file);
  file_number_ = number;
  file_offset_ = 0;
  return {};
}

void Log::WriterLoop() {
  std::unique_lock lock(mutex_);
  for (;;) {
    write_wanted_.wait(lock, [this] { return stop_ || hand_over_; });
    if (stop_) return;
    hand_over_ = false;
    if (writing_ || pending_.empty() || !failure_.ok()) continue;
    WritePending(lock);
    lock.lock();
  }
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
    wanted_.wait_until(lock, next_sync, [this] { return stop_ || sync_wanted_ || may_recover_; });
    if (!stop_ && !sync_wanted_ && Clock::now() < next_sync) continue;
    sync_wanted_ = false;
    SyncOnce(lock);
    next_sync = Clock::now() + interval;
  }
  WriteAgain(lock);
  for (const uint64_t refusals = refusals_;
       failure_.ok() && synced_ != end_ && refusals_ == refusals;) {
    SyncOnce(lock);
  }
  may_recover_ = false;
  if (synced_ != end_) {
    if (failure_.ok()) {
      Fail(refused_.ok() ? Status::Unavailable("the log is closed") : refused_, false);
    }
    Waiters ready;
    TakeAllFailed(&ready);
    lock.unlock();
    Run(&ready);
  }
}

// Writes pending_ and syncs the written bytes. Another thread may keep writing as long as records
// are added. The calling thread waits for it only while there is nothing to sync. Returns with the
// lock held.
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
  // All bytes up to `target` that are not synced yet are in the files of unsynced_, whose names are
  // in the folder. A write adds its file to unsynced_ before it advances written_. A write that is
  // still running adds its file again after unsynced_ was cleared here.
  //
  // The order guarantees that every file listed by name_files exists. First its name and its first
  // record become durable. Then name_files lists it, and then its content counts as synced. A crash
  // before name_files leaves an unlisted file, which recovery reads if it exists.
  const LogPosition target = written_;
  const std::vector<std::shared_ptr<File>> files = std::move(unsynced_);
  unsynced_.clear();
  std::list<LogFile> unnamed;
  unnamed.splice(unnamed.end(), unnamed_);
  const std::shared_ptr<Folder> folder = folder_dirty_ ? folder_ : nullptr;
  folder_dirty_ = false;
  lock.unlock();
  const Status synced = SyncFiles(folder.get(), files);
  const Status named = synced.ok() ? NameFiles(unnamed) : Status();
  lock.lock();
  Waiters ready;
  if (synced.ok() && named.ok()) {
    INVARIANT(synced_ <= target && target <= written_);
    synced_ = target;
    TakeReached(&sync_waiters_, synced_, &ready);
  } else {
    // Data that is durable in unlisted files does not count as synced yet. The next sync lists
    // these files.
    unnamed_.splice(unnamed_.begin(), unnamed);
    if (synced.ok()) {
      RefuseSync(named, &ready);
    } else {
      Fail(synced, false);
      TakeAllFailed(&ready);
    }
  }
  sync_wanted_ = sync_wanted_ || !sync_waiters_.empty();
  changed_.notify_all();
  lock.unlock();
  Run(&ready);
  lock.lock();
}

Status Log::SyncFiles(Folder* folder, const std::vector<std::shared_ptr<File>>& files) noexcept
    try {
  if (folder != nullptr) RETURN_IF_ERROR(folder->Sync());
  for (const auto& file : files) RETURN_IF_ERROR(file->Sync());
  return {};
} catch (const std::bad_alloc&) {
  return no_memory_;
}

Status Log::NameFiles(const std::list<LogFile>& files) noexcept try {
  return files.empty() || !options_.name_files ? Status() : options_.name_files(files);
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

// Fails the commits that wait for a sync. Commits that needed only a write to the log stay
// acknowledged.
void Log::RefuseSync(const Status& status, Waiters* ready) noexcept {
  ++refusals_;
  try {
    refused_ = Status::Unavailable("the log cannot be synced for now: " + status.ToString());
  } catch (const std::bad_alloc&) {
    refused_ = no_memory_;
  }
  for (Waiter& waiter : sync_waiters_) waiter.status = refused_;
  ready->splice(ready->end(), sync_waiters_);
}

void Log::TakeReached(Waiters* waiters, LogPosition reached, Waiters* ready) {
  // Positions of different threads may arrive slightly out of order, so all waiters are checked.
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
    // A file that cannot be removed only costs disk space. Recovery ignores it, because its number
    // is below that of the first log file in the manifest.
    if (!keep) (void)files_.Remove(path);
  }
}

}  // namespace hg::lsm
