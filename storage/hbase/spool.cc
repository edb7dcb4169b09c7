#include "storage/hbase/spool.h"

#include <algorithm>
#include <chrono>
#include <iterator>
#include <limits>
#include <semaphore>
#include <utility>

#include "storage/base/crc32c.h"
#include "storage/base/survive.h"
#include "storage/hbase/failure.h"
#include "storage/lsm/log_format.h"
#include "storage/lsm/log_recovery.h"

namespace hg::hbase {
namespace {

constexpr char kMarkName[] = "REPLAYED";
constexpr char kLockName[] = "LOCK";
constexpr char kRefusedName[] = "REFUSED-";
constexpr size_t kMarkBytes = 8 + 8 + 8 + 4;  // without the entries of log files
constexpr size_t kMarkLogBytes = 8 + 8;
constexpr int64_t kRateWindowMs = 1000;

struct LoggedRecord {
  lsm::LogRecordHeader header;
  ByteView body;  // part of the file's content
};

// Reads the records of a log file with this header up to the first damaged or missing one. Returns
// their length in bytes.
uint64_t ReadRecords(const lsm::LogFileHeader& header, ByteView content,
                     std::vector<LoggedRecord>* records) {
  ByteView rest = content.substr(header.bytes);
  LoggedRecord record;
  while (lsm::DecodeLogRecord(header.key, rest, &record.header, &record.body)) {
    records->push_back(record);
    rest.remove_prefix(lsm::kLogRecordHeaderBytes + record.body.size());
  }
  return content.size() - header.bytes - rest.size();
}

}  // namespace

Spool::Spool(FileSystem& files, SpoolOptions options, const Clock& clock)
    : files_(files), options_(std::move(options)), clock_(clock) {}

Spool::~Spool() { (void)Stop(); }

Result<std::unique_ptr<Spool>> Spool::Open(FileSystem& files, SpoolOptions options,
                                           const Clock& clock) {
  std::unique_ptr<Spool> spool(new Spool(files, std::move(options), clock));
  RETURN_IF_ERROR(Prepend(spool->Recover(), "the spool of writes that wait for HBase"));
  return spool;
}

Result<bool> Spool::Waits(FileSystem& files, const std::string& folder) {
  if (!files.Exists(folder + "/" + kLockName)) return false;
  SpoolOptions options;
  options.folder = folder;
  const Spool there(files, options, SystemClock());
  ASSIGN_OR_RETURN(const Mark mark, there.ReadMark());
  const auto look = [](const lsm::LogRecord&) { return Status(); };
  ASSIGN_OR_RETURN(const lsm::LogRecovery recovery,
                   lsm::RecoverLog(files, folder, mark.file_number, mark.position, mark.sequence,
                                   look, lsm::AtBreak::kReport, mark.logs));
  return recovery.records > 0 || !recovery.damage.empty();
}

Result<Spool::Mark> Spool::ReadMark() const {
  const std::string path = options_.folder + "/" + kMarkName;
  if (!files_.Exists(path)) return Mark();
  ASSIGN_OR_RETURN(const Bytes content, ReadWholeFile(files_, path));
  const size_t end = content.size() - std::min<size_t>(content.size(), 4);
  const ByteView body = ByteView(content).substr(0, end);
  if (content.size() < kMarkBytes || (content.size() - kMarkBytes) % kMarkLogBytes != 0 ||
      ReadBig32(content.data() + end) != crc32c::Value(body)) {
    return Status::Corruption(path + " is damaged");
  }
  Mark mark{
      ReadBig64(content.data()), ReadBig64(content.data() + 8), ReadBig64(content.data() + 16), {}};
  for (size_t at = 24; at < end; at += kMarkLogBytes) {
    mark.logs.push_back({ReadBig64(content.data() + at), ReadBig64(content.data() + at + 8)});
  }
  return mark;
}

Spool::Mark Spool::CurrentMark() const {
  MutexLock lock(mark_mutex_);
  return mark_;
}

Status Spool::ChangeMark(const std::function<void(Mark*)>& change) {
  MutexLock lock(mark_mutex_);
  Mark mark = mark_;
  change(&mark);
  std::erase_if(mark.logs, [&](const lsm::LogFile& log) { return log.number < mark.file_number; });
  Bytes content;
  AppendBig(&content, mark.file_number, 8);
  AppendBig(&content, mark.position, 8);
  AppendBig(&content, mark.sequence, 8);
  for (const lsm::LogFile& log : mark.logs) {
    AppendBig(&content, log.number, 8);
    AppendBig(&content, log.first_sequence, 8);
  }
  AppendBig(&content, crc32c::Value(content), 4);
  RETURN_IF_ERROR(ReplaceFile(files_, options_.folder, kMarkName, content));
  mark_ = std::move(mark);
  return {};
}

Status Spool::Recover() {
  RETURN_IF_ERROR(files_.CreateFolder(options_.folder));
  ASSIGN_OR_RETURN(lock_, files_.Lock(options_.folder + "/" + kLockName, "spool"));
  ASSIGN_OR_RETURN(Mark mark, ReadMark());
  {
    MutexLock lock(mark_mutex_);
    mark_ = std::move(mark);
  }
  return OpenLog();
}

Status Spool::OpenLog() {
  const Mark mark = CurrentMark();
  // The previous log kept some replayed files for reuse. They are removed here.
  ASSIGN_OR_RETURN(const auto names, files_.List(options_.folder));
  for (const std::string& name : names) {
    uint64_t number;
    if (!lsm::ParseLogFileName(name, &number) || number >= mark.file_number) continue;
    const std::string path = options_.folder + "/" + name;
    ASSIGN_OR_RETURN(const bool own, lsm::IsLogFile(files_, path));
    if (own) RETURN_IF_ERROR(files_.Remove(path));
  }
  std::optional<int64_t> oldest_ms;
  const auto look = [&](const lsm::LogRecord& logged) -> Status {
    SpoolRecord record;
    if (!DecodeSpoolRecord(logged.kind, logged.body, &record))
      return Status::Corruption("not a record of a spool");
    if (!oldest_ms) oldest_ms = record.taken_ms;
    return {};
  };
  ASSIGN_OR_RETURN(const lsm::LogRecovery recovery,
                   lsm::RecoverLog(files_, options_.folder, mark.file_number, mark.position,
                                   mark.sequence, look, lsm::AtBreak::kCut, mark.logs));
  // Records that were read count as durable from now on, so their files must exist at the next
  // start.
  if (recovery.files != mark.logs) {
    RETURN_IF_ERROR(files_.SyncFolder(options_.folder));
    RETURN_IF_ERROR(ChangeMark([&](Mark* next) { next->logs = recovery.files; }));
  }
  lsm::LogOptions options;
  options.folder = options_.folder;
  options.file_bytes = options_.file_bytes;
  options.write_on_commit = options_.write_on_commit;
  options.sync_on_commit = options_.sync_on_commit;
  options.retry_ms = options_.retry_ms;
  options.name_files = [this](const std::list<lsm::LogFile>& named) {
    return ChangeMark(
        [&](Mark* next) { next->logs.insert(next->logs.end(), named.begin(), named.end()); });
  };
  auto log = std::make_shared<lsm::Log>(files_, options, recovery.next);
  const std::lock_guard lock(mutex_);
  log_.swap(log);
  sequence_ = std::max({sequence_, mark.sequence, recovery.last_sequence});
  replayed_ = mark.position;
  if (oldest_ms) {
    oldest_ms_ = *oldest_ms;
    holding_ = true;
  }
  return {};
}

Status Spool::RebuildLog() {
  const std::shared_ptr<lsm::Log> failed = CurrentLog();
  if (!failed->NeedsReopening()) return {};
  const lsm::LogPosition synced = failed->Synced();
  (void)failed->Close();  // from here on no other thread writes to the folder
  ASSIGN_OR_RETURN(const std::vector<LogFile> files,
                   FilesBefore(std::numeric_limits<uint64_t>::max()));
  for (size_t i = 0; i < files.size(); ++i) {
    if (i + 1 < files.size() && files[i + 1].start <= synced) continue;
    // After a failed sync, a second sync of the same file may succeed although data was lost. So
    // the file is written again.
    ASSIGN_OR_RETURN(const Bytes content, ReadWholeFile(files_, files[i].path));
    RETURN_IF_ERROR(
        ReplaceFile(files_, options_.folder, lsm::LogFileName(files[i].number), content));
  }
  return OpenLog();
}

std::shared_ptr<lsm::Log> Spool::CurrentLog() const {
  const std::lock_guard lock(mutex_);
  return log_;
}

void Spool::Start(Send send) {
  send_ = std::move(send);
  replayer_ = std::thread([this] { ReplayLoop(); });
}

Status Spool::Stop() {
  {
    const std::lock_guard lock(mutex_);
    stopping_ = true;
    changed_.notify_all();
  }
  if (replayer_.joinable()) replayer_.join();
  const std::shared_ptr<lsm::Log> log = CurrentLog();
  return log == nullptr ? Status() : log->Close();
}

bool Spool::Takes(const std::string& table) const {
  return std::find(options_.tables.begin(), options_.tables.end(), table) != options_.tables.end();
}

bool Spool::holding() const {
  const std::lock_guard lock(mutex_);
  return holding_;
}

Status Spool::Hold(SpoolRecord record) {
  record.taken_ms = clock_.NowMs();
  const Bytes body = EncodeSpoolRecord(record);
  const uint32_t crc = crc32c::Value(body);
  lsm::LogPosition end;
  std::shared_ptr<lsm::Log> log;
  {
    const std::lock_guard lock(mutex_);
    if (stopping_) return Status::Unavailable("HBase is away, and the daemon is stopping");
    // Data added to a failed log would stay in memory.
    if (Status failure = log_->Failure(); !failure.ok()) {
      log_failed_ = true;
      stats_.rows_refused += record.rows.size();
      changed_.notify_all();
      return failure;
    }
    log = log_;
    if (Status full = RoomFor(body.size()); !full.ok()) {
      stats_.rows_refused += record.rows.size();
      return full;
    }
    end = log_->Add(static_cast<uint8_t>(record.kind), ++sequence_, body, crc);
    if (!holding_) oldest_ms_ = record.taken_ms;
    holding_ = true;
    stats_.rows_taken += record.rows.size();
    changed_.notify_all();
  }
  struct Outcome {
    Status status;
    std::binary_semaphore done{0};
  };
  // Shared, because this function may return while the callback is still in release().
  auto outcome = std::make_shared<Outcome>();
  log->Commit(end, [outcome](Status status) {
    outcome->status = std::move(status);
    outcome->done.release();
  });
  outcome->done.acquire();
  return outcome->status;
}

Status Spool::RoomFor(uint64_t bytes) const {
  const uint64_t waiting = log_->End() - replayed_;
  if (waiting + bytes <= options_.bytes_max) return {};
  return Status::Busy("HBase is away, and the spool of writes that wait for it is full: " +
                      std::to_string(waiting) + " of " + std::to_string(options_.bytes_max) +
                      " bytes");
}

Status Spool::Room() const {
  // About the size of a request of points; less for a small spool.
  constexpr uint64_t kSomeBytes = 64 << 10;
  const std::lock_guard lock(mutex_);
  if (stopping_) return Status::Unavailable("HBase is away, and the daemon is stopping");
  RETURN_IF_ERROR(log_->Failure());
  return RoomFor(std::min(kSomeBytes, options_.bytes_max / 16));
}

Status Spool::Sync() {
  const std::shared_ptr<lsm::Log> log = CurrentLog();
  return log->WaitSynced(log->End());
}

SpoolStats Spool::Stats() const {
  const std::lock_guard lock(mutex_);
  SpoolStats stats = stats_;
  stats.bytes = log_->End() - replayed_;
  if (!failure_.ok()) stats.failure = failure_.ToString();
  const auto since = [this](int64_t ms) { return std::max<int64_t>(0, clock_.NowMs() - ms); };
  stats.age_ms = holding_ ? since(oldest_ms_) : 0;
  stats.stuck_ms = stuck_since_ms_ > 0 ? since(stuck_since_ms_) : 0;
  if (!holding_) stats.replay_rows_per_s = 0;
  return stats;
}

void Spool::ReplayLoop() {
  std::unique_lock lock(mutex_);
  while (true) {
    changed_.wait(lock, [this] { return stopping_ || holding_ || log_failed_; });
    if (stopping_) return;
    log_failed_ = false;
    rate_since_ms_ = clock_.NowMs();
    rate_rows_ = 0;
    lock.unlock();
    const Status replayed = Survive([this] { return ReplayTaken(); });
    if (!replayed.ok()) (void)WaitBeforeRetry(replayed);
    lock.lock();
  }
}

Status Spool::ReplayTaken() {
  RETURN_IF_ERROR(RebuildLog());
  const std::shared_ptr<lsm::Log> log = CurrentLog();  // valid until a later log replaces it
  // New records begin a new file, so that whole files can be freed.
  const lsm::Log::Switch at = log->SwitchFile();
  RETURN_IF_ERROR(log->WaitWritten(at.position));
  ASSIGN_OR_RETURN(const std::vector<LogFile> taken, FilesBefore(at.file_number));
  for (size_t i = 0; i < taken.size(); ++i) {
    RETURN_IF_ERROR(ReplayFile(taken[i], i + 1 < taken.size() ? taken[i + 1].start : at.position));
    const std::lock_guard lock(mutex_);
    if (stopping_) return {};
  }
  const std::unique_lock lock(mutex_);
  if (replayed_ != at.position) {
    return Status::Corruption(options_.folder + ": the log ends " +
                              std::to_string(at.position - replayed_) + " bytes early");
  }
  if (log_->End() == at.position) {
    holding_ = false;
    failure_ = {};
    refused_since_ms_.clear();
  }
  return {};
}

Result<std::vector<Spool::LogFile>> Spool::FilesBefore(uint64_t number) const {
  const uint64_t first = CurrentMark().file_number;
  ASSIGN_OR_RETURN(const auto names, files_.List(options_.folder));
  std::vector<LogFile> found;
  for (const std::string& name : names) {
    LogFile file{options_.folder + "/" + name, 0, 0};
    if (!lsm::ParseLogFileName(name, &file.number) || file.number < first ||
        file.number >= number) {
      continue;
    }
    ASSIGN_OR_RETURN(const auto opened, files_.Open(file.path, OpenMode::kRead));
    Bytes head;
    RETURN_IF_ERROR(opened->ReadAt(0, lsm::kLogFileHeaderBytes, &head));
    lsm::LogFileHeader header;
    // A file that was created for records that were never written has no header.
    if (!lsm::DecodeLogFileHeader(head, &header) || header.number != file.number) continue;
    file.start = header.start;
    found.push_back(std::move(file));
  }
  return found;
}

Status Spool::ReplayFile(const LogFile& file, lsm::LogPosition end_of_file) {
  const Mark mark = CurrentMark();
  if (file.start != mark.position)
    return Status::Corruption(file.path + " does not begin where the previous file ends");
  ASSIGN_OR_RETURN(const Bytes content, ReadWholeFile(files_, file.path));
  std::vector<LoggedRecord> records;
  lsm::LogFileHeader header;
  lsm::LogPosition end = file.start;
  if (lsm::DecodeLogFileHeader(content, &header)) end += ReadRecords(header, content, &records);
  // The whole file is checked before its records are sent. Otherwise, damage would be found after
  // some records were sent, and each retry would send them again.
  if (end != end_of_file) {
    return Status::Corruption(file.path + " is damaged at " +
                              std::to_string(end - file.start + header.bytes) + ": " +
                              std::to_string(end_of_file - end) +
                              " bytes of writes after this position are kept, but not sent");
  }
  Mark done{file.number + 1, file.start, mark.sequence, {}};
  SpoolRecord gathered;
  size_t gathered_bytes = 0;
  for (const LoggedRecord& logged : records) {
    SpoolRecord record;
    if (!DecodeSpoolRecord(logged.header.kind, logged.body, &record))
      return Status::Corruption(file.path + " has a record that is not one of a spool");
    const bool joins = record.kind == SpoolRecord::Kind::kPuts && record.kind == gathered.kind &&
                       record.table == gathered.table &&
                       gathered.rows.size() < options_.replay_rows &&
                       gathered_bytes < options_.replay_bytes;
    if (joins) {
      std::move(record.rows.begin(), record.rows.end(), std::back_inserter(gathered.rows));
    } else {
      RETURN_IF_ERROR(SendPatiently(std::move(gathered), done.position));
      gathered = std::move(record);
      gathered_bytes = 0;
    }
    gathered_bytes += logged.body.size();
    done.sequence = logged.header.sequence;
    done.position += lsm::kLogRecordHeaderBytes + logged.body.size();
  }
  RETURN_IF_ERROR(SendPatiently(std::move(gathered), done.position));
  RETURN_IF_ERROR(ChangeMark([&](Mark* next) {
    next->file_number = done.file_number;
    next->position = done.position;
    next->sequence = done.sequence;
  }));
  CurrentLog()->Release(done.file_number);
  return {};
}

Status Spool::SendPatiently(SpoolRecord record, lsm::LogPosition end) {
  if (record.rows.empty()) return {};
  const size_t all = record.rows.size();
  {
    const std::lock_guard lock(mutex_);
    oldest_ms_ = record.taken_ms;
  }
  std::vector<RefusedRow> refused;
  std::vector<RowMutation> left = std::exchange(record.rows, {});
  for (size_t count = all; !left.empty();) {
    const Status why = SendSome(record, &left, &count, &refused);
    if (!why.ok() && !WaitBeforeRetry(why)) return Status::Unavailable("stopping");
  }
  while (!refused.empty()) {
    const Status kept = SetAside(record, refused, end);
    if (kept.ok()) break;
    if (!WaitBeforeRetry(kept)) return Status::Unavailable("stopping");
  }
  const std::lock_guard lock(mutex_);
  failure_ = {};
  stats_.rows_replayed += all - refused.size();
  stats_.rows_set_aside += refused.size();
  replayed_ = end;
  rate_rows_ += all;
  const int64_t elapsed_ms = clock_.NowMs() - rate_since_ms_;
  if (elapsed_ms >= kRateWindowMs) {
    stats_.replay_rows_per_s = rate_rows_ * 1000 / static_cast<uint64_t>(elapsed_ms);
    rate_since_ms_ += elapsed_ms;
    rate_rows_ = 0;
  }
  return {};
}

Status Spool::SendSome(const SpoolRecord& of, std::vector<RowMutation>* left, size_t* count,
                       std::vector<RefusedRow>* refused) {
  const auto end = left->begin() + static_cast<ptrdiff_t>(std::min(*count, left->size()));
  SpoolRecord some{of.kind, of.taken_ms, of.table, {}};
  some.rows.assign(std::make_move_iterator(left->begin()), std::make_move_iterator(end));
  std::vector<Status> sent = send_(some);
  std::vector<RowMutation> again;
  Status why;
  for (size_t i = 0; i < sent.size(); ++i) {
    if (sent[i].ok()) continue;
    if (GivesUp(of.table, sent[i])) {
      refused->push_back({std::move(some.rows[i]), std::move(sent[i])});
    } else {
      again.push_back(std::move(some.rows[i]));
      why = std::move(sent[i]);
    }
  }
  left->erase(std::move(again.begin(), again.end(), left->begin()), end);
  const std::lock_guard lock(mutex_);
  if (why.ok()) {
    stuck_since_ms_ = 0;
    *count *= 2;
    return {};
  }
  if (stuck_since_ms_ == 0) stuck_since_ms_ = clock_.NowMs();
  *count = std::max<size_t>(again.size() / 2, 1);
  return Prepend(why, again.size() == 1
                          ? "row " + ToHex(left->front().key) + " of table " + of.table
                          : std::to_string(again.size()) + " rows of table " + of.table);
}

bool Spool::GivesUp(const std::string& table, const Status& refused) {
  if (IsTemporary(refused)) return false;
  const int64_t now_ms = clock_.NowMs();
  const auto since = refused_since_ms_.emplace(std::pair(table, refused.code()), now_ms).first;
  return now_ms - since->second >= options_.refusal_patience_ms;
}

Status Spool::SetAside(const SpoolRecord& record, const std::vector<RefusedRow>& rows,
                       lsm::LogPosition end) {
  // The name contains the log position, so after a kill the same rows go to the same file.
  const std::string digits = std::to_string(end);
  const std::string name = kRefusedName + std::string(20 - digits.size(), '0') + digits;
  RETURN_IF_ERROR(ReplaceFile(files_, options_.folder, name, RefusedText(record, rows)));
  const std::lock_guard lock(mutex_);
  stats_.set_aside = std::to_string(rows.size()) + " rows of table " + record.table + " in " +
                     options_.folder + "/" + name + ": " + rows.back().why.ToString();
  return {};
}

bool Spool::WaitBeforeRetry(const Status& why) {
  std::unique_lock lock(mutex_);
  failure_ = why;
  changed_.wait_for(lock, std::chrono::milliseconds(options_.retry_ms),
                    [this] { return stopping_; });
  if (stopping_) return false;
  lock.unlock();
  // RebuildLog may block for a long time, so it runs without the lock.
  const Status rebuilt = Survive([this] { return RebuildLog(); });
  lock.lock();
  if (!rebuilt.ok()) failure_ = rebuilt;
  return true;
}

}  // namespace hg::hbase
