#pragma once
// What a person asks of a store as a whole, beside its two doors: a copy of it, whether its files
// are whole, and that they are again.
//
// Threads: every call is thread-safe and blocks, possibly for minutes; writers and readers go on.

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "storage/base/status.h"

namespace hg {

/// How far a copy is.
struct CopyProgress {
  uint64_t files = 0;  // in place
  uint64_t files_total = 0;
  uint64_t bytes = 0;  // of these files
  uint64_t bytes_total = 0;
  uint64_t kept = 0;    // files that were there already
  uint64_t linked = 0;  // files that got a second name
  uint64_t copied = 0;  // files whose bytes were copied
};

/// Told about every file (and now and then within a large one); false = stop.
using CopyWatch = std::function<bool(const CopyProgress&)>;

/// One place that cannot be read as it was written.
struct Damage {
  std::string file;  // path
  uint64_t offset = 0;
  std::string what;  // such as "checksum of a block differs"
  std::string lost;  // what cannot be read because of it; "" = nothing that is known

  /// "data/000000012.points at 4096: checksum of a block differs; lost: …".
  [[nodiscard]] std::string ToString() const;
};

struct CheckReport {
  uint64_t files = 0;
  uint64_t bytes = 0;
  std::vector<Damage> damages;
  std::vector<std::string> notes;  // what is no damage, but worth knowing: a torn end of the log
};

struct RepairReport {
  std::vector<std::string> done;  // what was set aside, rewritten, rebuilt; empty = nothing
  std::vector<std::string> lost;  // what cannot be read any more
};

class Maintenance {
 public:
  virtual ~Maintenance() = default;

  /// Writes a copy of everything acknowledged so far into `folder` (made when missing), or brings
  /// an older copy of this store up to date. The copy counts as a whole from the last step on;
  /// before that the folder holds the older copy, or none. InvalidArgument: the folder holds
  /// something else. Unavailable: stopped by the watch.
  virtual Result<CopyProgress> Backup(const std::string& folder, const CopyWatch& watch) = 0;
  /// How far the running backup is, or how far the last one came.
  [[nodiscard]] virtual CopyProgress BackupProgress() const = 0;
  /// Reads every file of the moment and verifies it. A failure is one of the check itself.
  virtual Result<CheckReport> Check() = 0;
  /// Writes what memory holds to files, reads every file as Check does, and writes those with
  /// damage anew, without it: what they were stands in the folder "lost" below that of the store. A
  /// failure leaves those that were not reached as they are.
  virtual Result<RepairReport> Repair() = 0;
};

}  // namespace hg
