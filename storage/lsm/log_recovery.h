#pragma once
// Reads the log at start (FORMAT.md "Log"). It replays complete records, cuts a torn end, and
// rejects damage in data that was known to be durable.

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
  LogStart next;               // where writing continues
  uint64_t last_sequence = 0;  // sequence number of the last record read; 0 = none
  uint64_t records = 0;        // records passed to `visit`
  uint64_t bytes = 0;          // bytes of records from `first_file` on
  std::string cut;             // "file at offset" where a torn end was cut; "" = nothing was cut
  std::vector<LogFile> files;  // files that hold records, ascending
  // Where the stream ends. `damage` says why this end is damage; "" means that it is not.
  std::string end_file;
  uint64_t end_offset = 0;
  std::string damage;
};

/// What to do where the records of the log end abruptly.
enum class AtBreak {
  kCut,     // cut off a torn end; return Corruption for damage
  kReport,  // change nothing on disk; report damage in the result
};

/// Visits the records with sequence > after_sequence in the files numbered ≥ first_file, whose
/// stream begins at `first_position`. Corruption names file and offset. A failure of `visit` ends
/// the recovery. If it succeeds with kCut, the files end where `next` begins.
///
/// `named` lists, in ascending order, files that must exist and begin with their record. A missing,
/// empty, overwritten or different file is damage. With kReport the records before the damage are
/// still visited. Files that only have the name of a log file are ignored.
Result<LogRecovery> RecoverLog(FileSystem& files, const std::string& folder, uint64_t first_file,
                               LogPosition first_position, uint64_t after_sequence,
                               const std::function<Status(const LogRecord&)>& visit,
                               AtBreak at_break = AtBreak::kCut,
                               std::span<const LogFile> named = {});

/// Whether a file with the name of a log file is one, or was started as one. It must begin with the
/// magic bytes of log files, as far as they were written.
Result<bool> IsLogFile(FileSystem& files, const std::string& path);

}  // namespace hg::lsm
