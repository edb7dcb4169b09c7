#include "storage/lsm/log_recovery.h"

#include <algorithm>
#include <cstring>
#include <future>
#include <vector>

#include "storage/base/survive.h"

namespace hg::lsm {
namespace {

// Where nothing tells how far a file's records are in the stream. No log is as long.
constexpr LogPosition kAheadMax = LogPosition{1} << 44;

// A part of a file behind the break of the stream.
struct Behind {
  uint64_t number;  // of the file
  ByteView content;
  LogPosition position;  // where it begins, or further
};

// The highest "synced" that any undamaged record in it knows of; 0 = none. Bytes of recycled files
// carry another number in their checksums, so they never count. What clients sent may look like
// records, too: what is whole is stepped over, and one counts only if it can stand at its place,
// behind the last one read and with nothing synced that comes behind it.
LogPosition SyncedIn(const Behind& behind, uint64_t last_sequence) {
  const ByteView content = behind.content;
  LogPosition synced = 0;
  LogRecordHeader header;
  ByteView body;
  for (size_t at = 0; at + kLogRecordHeaderBytes <= content.size();) {
    // What else stands there is mostly seen by these, and need not be summed.
    uint64_t sequence;
    LogPosition told;
    std::memcpy(&sequence, &content[at + kLogSequenceOffset], sizeof sequence);
    std::memcpy(&told, &content[at + kLogSyncedOffset], sizeof told);
    if (sequence > last_sequence && told <= behind.position + at &&
        DecodeLogRecord(behind.number, content.substr(at), &header, &body)) {
      synced = std::max(synced, header.synced);
      at += kLogRecordHeaderBytes + body.size();
    } else {
      ++at;
    }
  }
  return synced;
}

// Of the file in which the stream breaks off, at `offset` and `position`.
Behind BehindBreak(uint64_t number, ByteView content, size_t offset, LogPosition position) {
  if (offset == 0) {  // it does not go on where the stream is
    LogFileHeader own;
    const bool known = DecodeLogFileHeader(content, &own) && own.number == number;
    return {number, content, known ? own.start : position + kAheadMax};
  }
  content.remove_prefix(offset);
  // Of the torn record itself the bytes that are there are no others' records.
  LogRecordHeader torn;
  if (DecodeLogRecordHeader(number, content, &torn)) {
    const uint64_t size = kLogRecordHeaderBytes + uint64_t{torn.body_bytes};
    content.remove_prefix(std::min<uint64_t>(size, content.size()));
    position += size;
  }
  return {number, content, position};
}

struct Walk {
  FileSystem& files;
  const std::string& folder;
  std::vector<uint64_t> numbers;  // rising

  [[nodiscard]] std::string Path(size_t i) const { return folder + "/" + LogFileName(numbers[i]); }
  // False: no header of this very file. The content's memory is used again: that of a whole file
  // anew would be a part of the time that a start takes.
  Result<bool> Load(size_t i, Bytes* content, LogFileHeader* header) const {
    ASSIGN_OR_RETURN(const auto file, files.Open(Path(i), OpenMode::kRead));
    ASSIGN_OR_RETURN(const uint64_t size, file->Size());
    RETURN_IF_ERROR(file->ReadAt(0, size, content));
    return DecodeLogFileHeader(*content, header) && header->number == numbers[i];
  }

  // The stream breaks off at `position`, in file i at `offset`. Proof that more had been durable
  // makes it damage; otherwise it is the torn end: cut there.
  Status Break(size_t i, size_t offset, LogPosition position, uint64_t last_sequence,
               ByteView content, AtBreak at_break, std::string* damage) const {
    LogPosition synced =
        SyncedIn(BehindBreak(numbers[i], content, offset, position), last_sequence);
    std::string place = Path(i) + " at " + std::to_string(offset);
    for (size_t later = i + 1; later < numbers.size() && synced <= position; ++later) {
      Bytes other;
      LogFileHeader header;
      ASSIGN_OR_RETURN(const bool whole, Load(later, &other, &header));
      // A file that was left for a damaged one is not the damage.
      if (!whole && later == i + 1 && synced <= position) place = Path(later) + " at 0";
      if (!whole) continue;
      const Behind records{numbers[later], ByteView(other).substr(kLogFileHeaderBytes),
                           header.start};
      synced = std::max({synced, header.synced, SyncedIn(records, last_sequence)});
    }
    if (synced > position) {
      *damage = place + ": damaged log; records up to " + std::to_string(synced - position) +
                " bytes further were known to be durable";
      if (at_break == AtBreak::kCut) return Status::Corruption(*damage);
    }
    if (at_break == AtBreak::kReport) return {};
    // Newest first: whatever a crash leaves here is a gap again, and cut again. A file without a
    // header goes too, since the stream continues in another one.
    for (size_t later = numbers.size(); later-- > i + (offset > 0 ? 1 : 0);) {
      RETURN_IF_ERROR(files.Remove(Path(later)));
    }
    if (offset > 0) {
      ASSIGN_OR_RETURN(const auto file, files.Open(Path(i), OpenMode::kReadWrite));
      RETURN_IF_ERROR(file->Truncate(offset));
    }
    // Names that come back with a power cut are cut again; the next log file, and the next
    // manifest, sync the folder before anything in them counts.
    return {};
  }
};

}  // namespace

Result<LogRecovery> RecoverLog(FileSystem& files, const std::string& folder, uint64_t first_file,
                               LogPosition first_position, uint64_t after_sequence,
                               const std::function<Status(const LogRecord&)>& visit,
                               AtBreak at_break) {
  Walk walk{files, folder, {}};
  ASSIGN_OR_RETURN(const auto names, files.List(folder));
  for (const std::string& name : names) {
    uint64_t number;
    if (ParseLogFileName(name, &number) && number >= first_file) walk.numbers.push_back(number);
  }
  std::sort(walk.numbers.begin(), walk.numbers.end());

  LogRecovery result;
  LogPosition position = first_position;
  bool broken = false;
  Bytes content;
  Bytes next_content;
  LogFileHeader header;
  std::future<Result<bool>> next;  // of the file behind, read while this one's records are visited
  for (size_t i = 0; i < walk.numbers.size() && !broken; ++i) {
    bool whole;
    if (i > 0) {
      content.swap(next_content);  // read below, when the file before it ended
      whole = true;
    } else {
      ASSIGN_OR_RETURN(whole, walk.Load(i, &content, &header));
      whole = whole && header.start == position;
    }
    const bool followed = whole && i + 1 < walk.numbers.size();
    if (followed) {
      // Where no thread can be had it is read when it is asked for.
      next = std::async(std::launch::async | std::launch::deferred, [&, i] {
        return Survive([&] { return walk.Load(i + 1, &next_content, &header); });
      });
    }
    size_t offset = whole ? kLogFileHeaderBytes : 0;
    LogRecordHeader record;
    ByteView body;
    while (whole &&
           DecodeLogRecord(walk.numbers[i], ByteView(content).substr(offset), &record, &body) &&
           record.sequence > result.last_sequence) {
      result.last_sequence = record.sequence;
      if (record.sequence > after_sequence) {
        if (Status status = visit({record.kind, record.sequence, body}); !status.ok()) {
          return Prepend(status, walk.Path(i) + " at " + std::to_string(offset));
        }
        ++result.records;
      }
      offset += kLogRecordHeaderBytes + body.size();
      position += kLogRecordHeaderBytes + body.size();
    }
    // A file that was left for the next one is followed by a file that goes on exactly here.
    if (followed) {
      ASSIGN_OR_RETURN(const bool next_whole, next.get());
      if (next_whole && header.start == position) continue;
    }
    result.end_file = walk.Path(i);
    result.end_offset = offset;
    RETURN_IF_ERROR(
        walk.Break(i, offset, position, result.last_sequence, content, at_break, &result.damage));
    broken = true;
    if (i + 1 < walk.numbers.size() || !whole) {
      result.cut = walk.Path(i) + " at " + std::to_string(offset);
    }
  }
  result.bytes = position - first_position;
  result.next.file_number =
      std::max(first_file, walk.numbers.empty() ? uint64_t{0} : walk.numbers.back() + 1);
  result.next.position = position;
  if (at_break == AtBreak::kReport) return result;
  // What was read may still be in the page cache only. Files built from it rely on it from now on.
  for (size_t i = 0; i < walk.numbers.size(); ++i) {
    if (!files.Exists(walk.Path(i))) continue;
    ASSIGN_OR_RETURN(const auto file, files.Open(walk.Path(i), OpenMode::kReadWrite));
    RETURN_IF_ERROR(file->Sync());
    result.next.old_files.push_back(walk.numbers[i]);
  }
  return result;
}

}  // namespace hg::lsm
