#pragma once
// Repairs damaged files of an open store. The repair rewrites the files without their damaged
// blocks while readers and writers continue. offline_repair.h repairs a store that cannot be
// opened.

#include <map>
#include <vector>

#include "storage/engine/compactor.h"
#include "storage/engine/environment.h"
#include "storage/engine/file_set.h"
#include "storage/maintenance.h"
#include "storage/points/watched_points.h"

namespace hg::engine {

/// Runs one online repair, on one thread. All arguments of the constructor must outlive the object.
///
/// An online repair loses no data if the index of a file is damaged or a file was removed, because
/// the index is in memory and the file is open. The repair loses no series if the table of series
/// is damaged, because the registry is in memory.
class OnlineRepair {
 public:
  OnlineRepair(const Environment& env, FileSet& file_set, const ChangeListeners& listeners,
               Compactor& compactor)
      : env_(env), file_set_(file_set), listeners_(listeners), compactor_(compactor) {}

  /// Flushes the memtables, checks all files and repairs the damaged files. storage/maintenance.h
  /// describes the repair.
  Result<RepairReport> Repair();

 private:
  /// Returns the parts that use the files with this number. Each region with these files has one
  /// such part.
  [[nodiscard]] Parts PartsWith(uint64_t number) const;
  Status RepairPart(uint64_t number, const std::vector<Damage>& damages);
  Status RepairHeld(const Parts& parts, const std::vector<Damage>& damages);
  /// Rewrites the list of series. `damaged` maps the number of each damaged part to its damage.
  Status RewriteSeries(const std::map<uint64_t, std::vector<Damage>>& damaged);

  const Environment& env_;
  FileSet& file_set_;
  const ChangeListeners& listeners_;
  Compactor& compactor_;
  RepairReport report_;
};

}  // namespace hg::engine
