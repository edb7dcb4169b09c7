#pragma once
// Repairs damaged files of an open store: rewrites them without their damaged blocks while readers
// and writers continue. offline_repair.h repairs a store that does not open.

#include <map>
#include <vector>

#include "storage/engine/compactor.h"
#include "storage/engine/environment.h"
#include "storage/engine/file_set.h"
#include "storage/maintenance.h"
#include "storage/points/watched_points.h"

namespace hg::engine {

/// Use it for one repair, on one thread. All arguments of the constructor outlive it.
///
/// An online repair loses no data if the index of a file is damaged or a file was removed, because
/// the index is in memory and the file is open. It loses no series if the table of series is
/// damaged, because the registry is in memory.
class OnlineRepair {
 public:
  OnlineRepair(const Environment& env, FileSet& file_set, const ChangeListeners& listeners,
               Compactor& compactor)
      : env_(env), file_set_(file_set), listeners_(listeners), compactor_(compactor) {}

  /// Flushes, checks all files and repairs the damaged ones. See storage/maintenance.h.
  Result<RepairReport> Repair();

 private:
  /// Returns the parts that use the files with this number: one for each region with these files.
  [[nodiscard]] Parts PartsWith(uint64_t number) const;
  Status RepairPart(uint64_t number, const std::vector<Damage>& damages);
  Status RepairHeld(const Parts& parts, const std::vector<Damage>& damages);
  /// `damaged` maps the number of each damaged part to its damage.
  Status RewriteSeries(const std::map<uint64_t, std::vector<Damage>>& damaged);

  const Environment& env_;
  FileSet& file_set_;
  const ChangeListeners& listeners_;
  Compactor& compactor_;
  RepairReport report_;
};

}  // namespace hg::engine
