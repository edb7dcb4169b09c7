#include "storage/hbase/spool.h"

#include <algorithm>
#include <chrono>
#include <iterator>
#include <semaphore>
#include <utility>

#include "storage/base/crc32c.h"
#include "storage/lsm/log_format.h"
#include "storage/lsm/log_recovery.h"

namespace hg::hbase {
namespace {

constexpr char kMarkName[] = "REPLAYED";
constexpr size_t kMarkBytes = 8 + 8 + 8 + 4;
constexpr int64_t kRateWindowMs = 1000;

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

Result<Spool::Mark> Spool::ReadMark() const {
  const std::string path = options_.folder + "/" + kMarkName;
  if (!files_.Exists(path)) return Mark();
  ASSIGN_OR_RETURN(const Bytes content, ReadWholeFile(files_, path));
  const ByteView body = ByteView(content).substr(0, kMarkBytes - 4);
  if (content.size() != kMarkBytes || ReadBig32(content.data() + 24) != crc32c::Value(body)) {
    return Status::Corruption(path + " is damaged");
  }
  return Mark{ReadBig64(content.data()), ReadBig64(content.data() + 8),
              ReadBig64(content.data() + 16)};
}

Status Spool::SaveMark(const Mark& mark) {
  Bytes content;
  AppendBig(&content, mark.file_number, 8);
  AppendBig(&content, mark.position, 8);
  AppendBig(&content, mark.sequence, 8);
  AppendBig(&content, crc32c::Value(content), 4);
  RETURN_IF_ERROR(ReplaceFile(files_, options_.folder, kMarkName, content));
  mark_ = mark;
  return {};
}

Status Spool::Recover() {
  RETURN_IF_ERROR(files_.CreateFolder(options_.folder));
  ASSIGN_OR_RETURN(lock_, files_.Lock(options_.folder + "/LOCK", "spool"));
  ASSIGN_OR_RETURN(mark_, ReadMark());
  // Files that were replayed are kept for a while, to be written over.
  ASSIGN_OR_RETURN(const auto names, files_.List(options_.folder));
  for (const std::string& name : names) {
    uint64_t number;
    if (lsm::ParseLogFileName(name, &number) && number < mark_.file_number)
      RETURN_IF_ERROR(files_.Remove(options_.folder + "/" + name));
  }
  const auto look = [&](const lsm::LogRecord& logged) -> Status {
    SpoolRecord record;
    if (!DecodeSpoolRecord(logged.kind, logged.body, &record))
      return Status::Corruption("no record of a spool");
    if (!holding_) oldest_ms_ = record.taken_ms;
    holding_ = true;
    return {};
  };
  ASSIGN_OR_RETURN(const lsm::LogRecovery recovery,
                   lsm::RecoverLog(files_, options_.folder, mark_.file_number, mark_.position,
                                   mark_.sequence, look));
  sequence_ = std::max(mark_.sequence, recovery.last_sequence);
  replayed_ = mark_.position;
  lsm::LogOptions log;
  log.folder = options_.folder;
  log.file_bytes = options_.file_bytes;
  log.write_on_commit = options_.write_on_commit;
  log.sync_on_commit = options_.sync_on_commit;
  log_ = std::make_unique<lsm::Log>(files_, log, recovery.next);
  return {};
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
  return log_ == nullptr ? Status() : log_->Close();
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
  {
    const std::lock_guard lock(mutex_);
    if (stopping_) return Status::Unavailable("HBase is away, and the daemon is stopping");
    const uint64_t waiting = log_->End() - replayed_;
    if (waiting + body.size() > options_.bytes_max) {
      stats_.rows_refused += record.rows.size();
      return Status::Busy("HBase is away, and the spool of writes that wait for it is full: " +
                          std::to_string(waiting) + " of " + std::to_string(options_.bytes_max) +
                          " bytes");
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
  // Shared: while release() returns the other side still needs it.
  auto outcome = std::make_shared<Outcome>();
  log_->Commit(end, [outcome](Status status) {
    outcome->status = std::move(status);
    outcome->done.release();
  });
  outcome->done.acquire();
  return outcome->status;
}

Status Spool::Sync() { return log_->WaitSynced(log_->End()); }

SpoolStats Spool::Stats() const {
  const std::lock_guard lock(mutex_);
  SpoolStats stats = stats_;
  stats.bytes = log_->End() - replayed_;
  stats.age_ms = holding_ ? std::max<int64_t>(0, clock_.NowMs() - oldest_ms_) : 0;
  if (!holding_) stats.replay_rows_per_s = 0;
  return stats;
}

void Spool::ReplayLoop() {
  std::unique_lock lock(mutex_);
  while (true) {
    changed_.wait(lock, [this] { return stopping_ || holding_; });
    if (stopping_) return;
    rate_since_ms_ = clock_.NowMs();
    rate_rows_ = 0;
    lock.unlock();
    const Status replayed = ReplayTaken();
    if (!replayed.ok()) (void)WaitBeforeRetry(replayed);
    lock.lock();
  }
}

Status Spool::ReplayTaken() {
  // What comes from now on begins a new file, so that whole files are done with.
  const lsm::Log::Switch at = log_->SwitchFile();
  RETURN_IF_ERROR(log_->WaitWritten(at.position));
  ASSIGN_OR_RETURN(const auto names, files_.List(options_.folder));
  for (const std::string& name : names) {
    uint64_t number;
    if (!lsm::ParseLogFileName(name, &number) || number < mark_.file_number ||
        number >= at.file_number) {
      continue;
    }
    RETURN_IF_ERROR(ReplayFile(number));
    {
      const std::lock_guard lock(mutex_);
      if (stopping_) return {};
    }
  }
  const std::unique_lock lock(mutex_);
  if (replayed_ != at.position) {
    return Status::Corruption(options_.folder + ": the log ends " +
                              std::to_string(at.position - replayed_) + " bytes early");
  }
  if (log_->End() == at.position) holding_ = false;
  return {};
}

Status Spool::ReplayFile(uint64_t number) {
  const std::string path = options_.folder + "/" + lsm::LogFileName(number);
  ASSIGN_OR_RETURN(const Bytes content, ReadWholeFile(files_, path));
  lsm::LogFileHeader file;
  // A file that was made for records that never came to it has no header.
  if (!lsm::DecodeLogFileHeader(content, &file) || file.number != number) return {};
  if (file.start != mark_.position)
    return Status::Corruption(path + " does not go on where the one before it ends");
  Mark end{number + 1, file.start, mark_.sequence};
  SpoolRecord gathered;
  size_t gathered_bytes = 0;
  ByteView rest = ByteView(content).substr(lsm::kLogFileHeaderBytes);
  lsm::LogRecordHeader header;
  ByteView body;
  while (lsm::DecodeLogRecord(number, rest, &header, &body)) {
    SpoolRecord record;
    if (!DecodeSpoolRecord(header.kind, body, &record))
      return Status::Corruption(path + " has a record that is none of a spool");
    const bool joins = record.kind == SpoolRecord::Kind::kPuts && record.kind == gathered.kind &&
                       record.table == gathered.table &&
                       gathered.rows.size() < options_.replay_rows &&
                       gathered_bytes < options_.replay_bytes;
    if (joins) {
      std::move(record.rows.begin(), record.rows.end(), std::back_inserter(gathered.rows));
    } else {
      RETURN_IF_ERROR(SendPatiently(gathered, end.position));
      gathered = std::move(record);
      gathered_bytes = 0;
    }
    gathered_bytes += body.size();
    end.sequence = header.sequence;
    const size_t size = lsm::kLogRecordHeaderBytes + body.size();
    end.position += size;
    rest.remove_prefix(size);
  }
  RETURN_IF_ERROR(SendPatiently(gathered, end.position));
  RETURN_IF_ERROR(SaveMark(end));
  log_->Release(end.file_number);
  return {};
}

Status Spool::SendPatiently(const SpoolRecord& record, lsm::LogPosition end) {
  if (record.rows.empty()) return {};
  {
    const std::lock_guard lock(mutex_);
    oldest_ms_ = record.taken_ms;
  }
  while (true) {
    const Status sent = send_(record);
    if (sent.ok()) break;
    if (!WaitBeforeRetry(sent)) return Status::Unavailable("stopping");
  }
  const std::lock_guard lock(mutex_);
  stats_.failure.clear();
  stats_.rows_replayed += record.rows.size();
  replayed_ = end;
  rate_rows_ += record.rows.size();
  const int64_t elapsed_ms = clock_.NowMs() - rate_since_ms_;
  if (elapsed_ms >= kRateWindowMs) {
    stats_.replay_rows_per_s = rate_rows_ * 1000 / static_cast<uint64_t>(elapsed_ms);
    rate_since_ms_ += elapsed_ms;
    rate_rows_ = 0;
  }
  return {};
}

bool Spool::WaitBeforeRetry(const Status& why) {
  std::unique_lock lock(mutex_);
  stats_.failure = why.ToString();
  changed_.wait_for(lock, std::chrono::milliseconds(options_.retry_ms),
                    [this] { return stopping_; });
  return !stopping_;
}

}  // namespace hg::hbase
