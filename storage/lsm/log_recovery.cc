#include "storage/lsm/log_recovery.h"

#include <algorithm>
#include <cstring>
#include <future>
#include <optional>
#include <vector>

#include "storage/base/survive.h"

namespace hg::lsm {
namespace {

constexpr char kAdvice[] = " ('tsdb repair' continues without them and reports lost data)";

bool IsNamed(uint64_t number, std::span<const LogFile> named) {
  return std::any_of(named.begin(), named.end(),
                     [number](const LogFile& file) { return file.number == number; });
}

// If the position of a file in the log is unknown, the file is assumed to begin at most this far
// after the last readable record. No log is that long.
constexpr LogPosition kAheadMax = LogPosition{1} << 44;

// The content of a log file after its last readable record.
struct Behind {
  uint64_t key;  // LogFileHeader::key of the file
  ByteView content;
  LogPosition position;  // position of its beginning, or an upper bound
};

// Returns the highest `synced` position in any undamaged record of the content; 0 = none. Old bytes
// in recycled files and values sent by clients do not match, because checksums begin with the
// random key of the file (in version 1, with the number of the file). A record counts only if it is
// plausible here: its sequence follows the last one read, and its `synced` is not after its own
// position.
LogPosition SyncedIn(const Behind& behind, uint64_t last_sequence) {
  const ByteView content = behind.content;
  LogPosition synced = 0;
  LogRecordHeader header;
  ByteView body;
  for (size_t at = 0; at + kLogRecordHeaderBytes <= content.size();) {
    // These two checks reject most other bytes without computing a checksum.
    uint64_t sequence;
    LogPosition told;
    std::memcpy(&sequence, &content[at + kLogSequenceOffset], sizeof sequence);
    std::memcpy(&told, &content[at + kLogSyncedOffset], sizeof told);
    if (sequence > last_sequence && told <= behind.position + at &&
        DecodeLogRecord(behind.key, content.substr(at), &header, &body)) {
      synced = std::max(synced, header.synced);
      at += kLogRecordHeaderBytes + body.size();
    } else {
      ++at;
    }
  }
  return synced;
}

// Returns the rest of the file in which the readable records end, at `offset` and `position`.
Behind BehindBreak(uint64_t number, ByteView content, size_t offset, LogPosition position) {
  LogFileHeader own;
  const bool known = DecodeLogFileHeader(content, &own) && own.number == number;
  if (!known) {
    // If only other bytes of the header are damaged, its key is still right.
    own.key = 0;
    if (content.size() >= kLogKeyOffset + sizeof own.key)
      std::memcpy(&own.key, &content[kLogKeyOffset], sizeof own.key);
  }
  if (offset == 0)  // the file does not continue the previous file
    return {own.key, content, known ? own.start : position + kAheadMax};
  content.remove_prefix(offset);
  // The bytes of the torn record itself contain no other records.
  LogRecordHeader torn;
  if (DecodeLogRecordHeader(own.key, content, &torn)) {
    const uint64_t size = kLogRecordHeaderBytes + uint64_t{torn.body_bytes};
    content.remove_prefix(std::min<uint64_t>(size, content.size()));
    position += size;
  }
  return {own.key, content, position};
}

struct Walk {
  FileSystem& files;
  const std::string& folder;
  std::vector<uint64_t> numbers;  // ascending

  [[nodiscard]] std::string Path(size_t i) const { return folder + "/" + LogFileName(numbers[i]); }
  // Returns false if the file has no header with its own number. Reuses the memory of `content`,
  // because allocating that of a whole file each time would slow down the start.
  Result<bool> Load(size_t i, Bytes* content, LogFileHeader* header) const {
    ASSIGN_OR_RETURN(const auto file, files.Open(Path(i), OpenMode::kRead));
    ASSIGN_OR_RETURN(const uint64_t size, file->Size());
    RETURN_IF_ERROR(file->ReadAt(0, size, content));
    return DecodeLogFileHeader(*content, header) && header->number == numbers[i];
  }

  // Returns the reason why the file is not the one in `named`, or "" if it is.
  Result<std::string> Misfit(const LogFile& named) const {
    const std::string path = folder + "/" + LogFileName(named.number);
    if (!files.Exists(path)) return std::string("the log file is missing");
    ASSIGN_OR_RETURN(const auto file, files.Open(path, OpenMode::kRead));
    Bytes content;
    RETURN_IF_ERROR(file->ReadAt(0, kLogFileHeaderBytes + kLogRecordHeaderBytes, &content));
    if (content.empty()) return std::string("the log file is empty");
    LogFileHeader header;
    if (!DecodeLogFileHeader(content, &header)) {
      const uint8_t version = content.size() > kLogMagicBytes ? content[kLogMagicBytes] : 0;
      if (content.starts_with(ByteView(kLogMagic, kLogMagicBytes)) && version > kLogVersion) {
        return "the log file has version " + std::to_string(version) +
               ", which this program does not read";
      }
      return std::string("the log file was overwritten: it has no header");
    }
    if (header.number != named.number) {
      return "the log file was overwritten by log file " + std::to_string(header.number);
    }
    LogRecordHeader record;
    const ByteView in = ByteView(content).substr(header.bytes);
    if (!DecodeLogRecordHeader(header.key, in, &record) ||
        record.sequence != named.first_sequence) {
      return "the log file does not begin with record " + std::to_string(named.first_sequence);
    }
    return std::string();
  }

  // Handles the end of the readable records at `position`, in file i at `offset`. If later data was
  // durable, this is damage. Otherwise it is a torn end and is cut off.
  Status Break(size_t i, size_t offset, LogPosition position, uint64_t last_sequence,
               ByteView content, AtBreak at_break, std::span<const LogFile> named,
               std::string* damage) const {
    LogPosition synced =
        SyncedIn(BehindBreak(numbers[i], content, offset, position), last_sequence);
    std::string place = Path(i) + " at " + std::to_string(offset);
    for (size_t later = i + 1; later < numbers.size() && synced <= position; ++later) {
      Bytes other;
      LogFileHeader header;
      ASSIGN_OR_RETURN(const bool whole, Load(later, &other, &header));
      // If the next file has no valid header, the damage is reported for the next file, because the
      // file with the last readable record may have ended regularly.
      if (!whole && later == i + 1 && synced <= position) place = Path(later) + " at 0";
      if (!whole) continue;
      const Behind records{header.key, ByteView(other).substr(header.bytes), header.start};
      synced = std::max({synced, header.synced, SyncedIn(records, last_sequence)});
      // All records before a listed file are durable.
      if (IsNamed(numbers[later], named)) synced = std::max(synced, header.start);
    }
    // The first record of a listed file is durable, too.
    if (offset <= kLogFileHeaderBytes && IsNamed(numbers[i], named)) {
      synced = std::max(synced, position + 1);
    }
    if (synced > position) {
      *damage = place + ": damaged log; records up to " + std::to_string(synced - position) +
                " bytes further were known to be durable" + kAdvice;
      if (at_break == AtBreak::kCut) return Status::Corruption(*damage);
    }
    if (at_break == AtBreak::kReport) return {};
    // The newest file is removed first, so that a crash in between leaves a gap that the next
    // recovery cuts again. A file without a header is removed, too, because the records continue in
    // another file.
    for (size_t later = numbers.size(); later-- > i + (offset > 0 ? 1 : 0);) {
      RETURN_IF_ERROR(files.Remove(Path(later)));
    }
    if (offset > 0) {
      ASSIGN_OR_RETURN(const auto file, files.Open(Path(i), OpenMode::kReadWrite));
      RETURN_IF_ERROR(file->Truncate(offset));
    }
    // If removed files reappear after a power failure, the next recovery removes them again. The
    // folder is synced before the content of the next log file or manifest counts as durable.
    return {};
  }
};

}  // namespace

Result<LogRecovery> RecoverLog(FileSystem& files, const std::string& folder, uint64_t first_file,
                               LogPosition first_position, uint64_t after_sequence,
                               const std::function<Status(const LogRecord&)>& visit,
                               AtBreak at_break, std::span<const LogFile> named) {
  Walk walk{files, folder, {}};
  LogRecovery result;
  // Data after a missing listed file is not read, because it may depend on the missing records.
  uint64_t end_number = UINT64_MAX;
  std::string misfit;
  for (const LogFile& file : named) {
    ASSIGN_OR_RETURN(const std::string why, walk.Misfit(file));
    if (why.empty()) continue;
    misfit = folder + "/" + LogFileName(file.number) + " at 0: " + why + "; records from number " +
             std::to_string(file.first_sequence) + " on were known to be durable" + kAdvice;
    if (at_break == AtBreak::kCut) return Status::Corruption(misfit);
    end_number = file.number;
    break;
  }
  uint64_t next_number = first_file;
  std::vector<uint64_t> foreign;
  ASSIGN_OR_RETURN(const auto names, files.List(folder));
  for (const std::string& name : names) {
    uint64_t number;
    if (!ParseLogFileName(name, &number) || number < first_file) continue;
    ASSIGN_OR_RETURN(const bool own, IsLogFile(files, folder + "/" + name));
    if (!own && !IsNamed(number, named)) {
      foreign.push_back(number);
      continue;
    }
    next_number = std::max(next_number, number + 1);
    if (number < end_number) walk.numbers.push_back(number);
  }
  if (!named.empty()) next_number = std::max(next_number, named.back().number + 1);
  std::sort(walk.numbers.begin(), walk.numbers.end());
  // New log files must not use names that are taken. Names with far larger numbers are never
  // reached.
  std::sort(foreign.begin(), foreign.end());
  for (const uint64_t number : foreign) {
    if (number >= next_number && number - next_number <= UINT32_MAX) next_number = number + 1;
  }
  LogPosition position = first_position;
  bool broken = false;
  Bytes content;
  Bytes next_content;
  LogFileHeader header;
  // The next file, which is read while the records of the current file are visited.
  std::future<Result<bool>> next;
  for (size_t i = 0; i < walk.numbers.size() && !broken; ++i) {
    bool whole;
    if (i > 0) {
      content.swap(next_content);  // read below, when the previous file ended
      whole = true;
    } else {
      ASSIGN_OR_RETURN(whole, walk.Load(i, &content, &header));
      whole = whole && header.start == position;
    }
    size_t offset = whole ? header.bytes : 0;
    const uint64_t key = header.key;
    const bool followed = whole && i + 1 < walk.numbers.size();
    if (followed) {
      // `header` belongs to this task until the task ends. If no thread can be started, the file is
      // read when the result is needed.
      next = std::async(std::launch::async | std::launch::deferred, [&, i] {
        return Survive([&] { return walk.Load(i + 1, &next_content, &header); });
      });
    }
    LogRecordHeader record;
    ByteView body;
    std::optional<uint64_t> first_sequence;
    while (whole && DecodeLogRecord(key, ByteView(content).substr(offset), &record, &body) &&
           record.sequence > result.last_sequence) {
      result.last_sequence = record.sequence;
      if (!first_sequence) first_sequence = record.sequence;
      if (record.sequence > after_sequence) {
        if (Status status = visit({record.kind, record.sequence, body}); !status.ok()) {
          return Prepend(status, walk.Path(i) + " at " + std::to_string(offset));
        }
        ++result.records;
      }
      offset += kLogRecordHeaderBytes + body.size();
      position += kLogRecordHeaderBytes + body.size();
    }
    if (first_sequence) result.files.push_back({walk.numbers[i], *first_sequence});
    // If the previous file ended regularly, this file must continue exactly where it ended.
    if (followed) {
      ASSIGN_OR_RETURN(const bool next_whole, next.get());
      if (next_whole && header.start == position) continue;
    }
    result.end_file = walk.Path(i);
    result.end_offset = offset;
    RETURN_IF_ERROR(walk.Break(i, offset, position, result.last_sequence, content, at_break, named,
                               &result.damage));
    broken = true;
    if (i + 1 < walk.numbers.size() || !whole) {
      result.cut = walk.Path(i) + " at " + std::to_string(offset);
    }
  }
  if (!misfit.empty() && result.damage.empty()) {
    result.damage = std::move(misfit);
    result.end_file = folder + "/" + LogFileName(end_number);
    result.end_offset = 0;
  }
  result.bytes = position - first_position;
  result.next.file_number = next_number;
  result.next.position = position;
  if (at_break == AtBreak::kReport) return result;
  // The records that were read may be only in the page cache. From now on, other files depend on
  // these records, so the log files are synced.
  for (size_t i = 0; i < walk.numbers.size(); ++i) {
    if (!files.Exists(walk.Path(i))) continue;
    ASSIGN_OR_RETURN(const auto file, files.Open(walk.Path(i), OpenMode::kReadWrite));
    RETURN_IF_ERROR(file->Sync());
    result.next.old_files.push_back(walk.numbers[i]);
  }
  return result;
}

Result<bool> IsLogFile(FileSystem& files, const std::string& path) {
  ASSIGN_OR_RETURN(const auto file, files.Open(path, OpenMode::kRead));
  const ByteView mark(kLogMagic, kLogMagicBytes);
  Bytes begin;
  RETURN_IF_ERROR(file->ReadAt(0, mark.size(), &begin));
  // After a power failure, any of the bytes may be missing or zero. A file with one other wrong
  // byte counts as a damaged log file.
  size_t wrong = 0;
  for (size_t i = 0; i < begin.size(); ++i) {
    if (begin[i] != mark[i] && begin[i] != 0) ++wrong;
  }
  return wrong <= 1;
}

}  // namespace hg::lsm
