#pragma once
// Reads the log at start (FORMAT.md "Log"). The recovery replays complete records, cuts off an
// incomplete end, and rejects damage in data that was known to be durable.

#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <vector>

#include "storage/base/file.h"
#include "storage/base/status.h"
#include "storage/lsm/log.h"

namespace hg::lsm {

struct LogRecord {
  uint8_t kind = 0;
  uint64_t sequence = 0;
  ByteView body;  // valid until the visitor returns
};

struct LogRecovery {
  LogStart next;               // the place where the log continues
  uint64_t last_sequence = 0;  // sequence number of the last record; 0 = the log has no records
  uint64_t records = 0;        // number of records that were passed to `visit`
  uint64_t bytes = 0;          // bytes of all records from the file `first_file` on
  std::string cut;             // "file at offset" of an incomplete end that was cut off; "" = none
  std::vector<LogFile> files;  // files that have records; ascending
  // The place where the readable records end. If damage ends the records, `damage` is the reason.
  // An empty `damage` means the normal end.
  std::string end_file;
  uint64_t end_offset = 0;
  std::string damage;
};

/// The action if the log ends with an incomplete or invalid record.
enum class AtBreak {
  kCut,     // cut off an incomplete end; return Corruption if there is damage
  kReport,  // change nothing on disk; report damage in the result
};

/// Visits the records with sequence > after_sequence in the log files with numbers ≥ first_file.
/// The file first_file begins at the log position `first_position`. The message of Corruption names
/// the file and the offset. A failure of `visit` ends the recovery. If the recovery succeeds with
/// kCut, the files are synced and end at the position where `next` begins.
///
/// `named` lists, in ascending order, files that must exist and begin with the record in the list.
/// A file in `named` that is missing, empty, overwritten or another file counts as damage. With
/// kReport, the records before the damage are still visited. A file that has the name of a log file
/// but is no log file (IsLogFile) is ignored.
Result<LogRecovery> RecoverLog(FileSystem& files, const std::string& folder, uint64_t first_file,
                               LogPosition first_position, uint64_t after_sequence,
                               const std::function<Status(const LogRecord&)>& visit,
                               AtBreak at_break = AtBreak::kCut,
                               std::span<const LogFile> named = {});

/// Returns whether the file may be a log file: its first bytes match the magic bytes of log files,
/// but bytes may be missing or zero, as after a power failure, and one byte may be wrong.
Result<bool> IsLogFile(FileSystem& files, const std::string& path);

}  // namespace hg::lsm
