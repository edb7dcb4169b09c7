#pragma once
// Administrative operations on a whole store: backup, check and repair.
//
// All calls are thread-safe and block, possibly for minutes. Writers and readers of the store
// continue during a call.

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "storage/base/request_context.h"
#include "storage/base/status.h"

namespace hg {

/// The progress of a backup.
struct CopyProgress {
  uint64_t files = 0;  // number of complete files
  uint64_t files_total = 0;
  uint64_t bytes = 0;  // size of the complete files in bytes
  uint64_t bytes_total = 0;
  uint64_t kept = 0;    // number of files that the backup folder already had
  uint64_t linked = 0;  // number of files that were hard-linked
  uint64_t copied = 0;  // number of files that were copied
};

/// A function that the backup calls for every file, and at intervals within a large file. If the
/// function returns false, the backup stops.
using CopyWatch = std::function<bool(const CopyProgress&)>;

/// A place in a file that cannot be read, or whose content is not the content that was written.
struct Damage {
  std::string file;  // path of the file
  uint64_t offset = 0;
  std::string what;  // description of the damage, for example "checksum of a block differs"
  std::string lost;  // data that cannot be read because of the damage; "" = unknown

  /// Returns a text such as "data/000000012.points at 4096: checksum of a block differs; lost: …".
  [[nodiscard]] std::string ToString() const;
};

struct CheckReport {
  uint64_t files = 0;
  uint64_t bytes = 0;
  std::vector<Damage> damages;
  // Observations that are not damage, for example an incomplete end of the log.
  std::vector<std::string> notes;
};

struct RepairReport {
  std::vector<std::string> done;  // files that were set aside, rewritten or rebuilt
  std::vector<std::string> lost;  // data that cannot be read any more
};

class Maintenance {
 public:
  virtual ~Maintenance() = default;

  /// Writes a copy of all acknowledged data to `folder`, or updates an older copy of this store in
  /// `folder`. The folder is created if it does not exist. The last step makes the copy valid.
  /// Until then, the folder has the older copy or no copy. Returns InvalidArgument if the folder
  /// has other files. Returns Unavailable if `watch` stopped the backup.
  virtual Result<CopyProgress> Backup(const std::string& folder, const CopyWatch& watch) = 0;
  /// Returns the progress of the running backup. If no backup is running, returns the progress of
  /// the last backup. The result does not say whether a backup is running.
  [[nodiscard]] virtual CopyProgress BackupProgress() const = 0;
  /// Reads and verifies all current files. The report lists the damage. An error means that the
  /// check could not be completed. Errors of `context` (RequestContext::Check) end it.
  virtual Result<CheckReport> Check(RequestContext* context = nullptr) = 0;
  /// Flushes memtables to files and verifies every file as Check does. Rewrites damaged files
  /// without the damaged data, and moves the original files to the folder "lost" in the folder of
  /// the store. If Repair fails, the files that were not processed yet are unchanged.
  virtual Result<RepairReport> Repair() = 0;
};

}  // namespace hg
