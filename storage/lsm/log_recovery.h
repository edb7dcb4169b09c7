#pragma once
// Reading the log after a start (engine.md §5 "Recovery"): replays what is whole, cuts a torn end,
// refuses damage in what was known to be durable.

#include <cstdint>
#include <functional>
#include <string>

#include "storage/base/file.h"
#include "storage/base/status.h"
#include "storage/lsm/log.h"

namespace hg::lsm {

struct LogRecord {
  uint8_t kind = 0;
  uint64_t sequence = 0;
  ByteView body;  // until the visitor returns
};

struct LogRecovery {
  LogStart next;               // where writing goes on
  uint64_t last_sequence = 0;  // of the last record seen; 0 = none
  uint64_t records = 0;        // given to visit
  uint64_t bytes = 0;          // of records from `first` on
  std::string cut;             // "file at offset": where a torn end was cut; "" = none was
  // Where the stream ends, and (unless it was refused) why that is damage; "" = it is not.
  std::string end_file;
  uint64_t end_offset = 0;
  std::string damage;
};

/// What is done where the stream breaks off.
enum class AtBreak {
  kCut,     // a torn end is cut off; damage is refused as Corruption
  kReport,  // nothing on the disk is changed; damage is told in the result
};

/// Visits the records with sequence > after_sequence of the files numbered ≥ first_file, whose
/// stream begins at `first_position`. Corruption names file and offset. A failing visit ends it. On
/// ok the files end where `next` begins (but see kReport).
Result<LogRecovery> RecoverLog(FileSystem& files, const std::string& folder, uint64_t first_file,
                               LogPosition first_position, uint64_t after_sequence,
                               const std::function<Status(const LogRecord&)>& visit,
                               AtBreak at_break = AtBreak::kCut);

}  // namespace hg::lsm
