#include "storage/engine/online_repair.h"

#include <algorithm>
#include <iterator>
#include <map>

#include "storage/engine/readable_rows.h"
#include "storage/engine/stored_files.h"

namespace hg::engine {
namespace {

std::set<std::string> NamesOf(const lsm::PartEntry& part) {
  std::set<std::string> names;
  for (const StoredFile& file : FilesOf({part})) names.insert(file.name);
  return names;
}

}  // namespace

Result<RepairReport> OnlineRepair::Repair() {
  // After this flush, no data depends on the log written so far.
  RETURN_IF_ERROR(compactor_.Flush());
  std::map<uint64_t, std::vector<Damage>> damaged;
  bool series = false;
  {
    // The parts keep the files on disk while they are checked.
    const Parts held = file_set_.Pin()->AllParts();
    std::vector<lsm::PartEntry> parts;
    for (const auto& part : held) parts.push_back(part->entry());
    damaged = FindDamage(env_.files, env_.options.path, env_.layout(), parts);
    series = std::any_of(parts.begin(), parts.end(), [&damaged](const lsm::PartEntry& part) {
      return part.table == kSeriesTable && damaged.contains(part.number);
    });
  }
  if (series) RETURN_IF_ERROR(Prepend(RewriteSeries(damaged), "repair of the series"));
  for (const auto& [number, damages] : damaged) {
    RETURN_IF_ERROR(RepairPart(number, damages));
  }
  if (!report_.done.empty()) {
    // A lost block may have contained tombstones. Older data that they hid is visible again.
    listeners_.AfterAlteration();
    compactor_.AfterRepair();
  }
  return report_;
}

Parts OnlineRepair::PartsWith(uint64_t number) const {
  Parts with;
  const auto version = file_set_.Pin();
  for (const auto& [place, parts] : version->parts) {
    std::copy_if(parts.begin(), parts.end(), std::back_inserter(with),
                 [number](const auto& part) { return part->entry().number == number; });
  }
  return with;
}

Status OnlineRepair::RepairPart(uint64_t number, const std::vector<Damage>& damages) {
  for (;;) {
    const Parts parts = PartsWith(number);
    if (parts.empty()) return {};  // another thread repaired the part, or its table was dropped
    std::vector<RegionPlace> places;
    for (const auto& part : parts) places.emplace_back(part->entry().table, part->entry().region);
    bool there = false;
    const Status status = compactor_.WhileHeld(places, [&] {
      // The regions may have been split or merged before they were held.
      there = PartsWith(number) == parts;
      return there ? RepairHeld(parts, damages) : Status();
    });
    if (there || !status.ok()) return Prepend(status, "repair");
  }
}

Status OnlineRepair::RepairHeld(const Parts& parts, const std::vector<Damage>& damages) {
  Edit edit;
  edit.remove = parts;
  const std::shared_ptr<const Part> part = parts.front();
  lsm::PartEntry fresh = part->entry();
  fresh.number = file_set_.NewNumber();
  bool whole = true;
  std::vector<std::string> aside;
  const Status written = Survive([&]() -> Status {
    ASSIGN_OR_RETURN(whole, RewriteReadable(env_.files, env_.options.path, env_.layout(),
                                            part->cells().get(), part->points().get(), &fresh));
    const bool empty = fresh.cells_bytes == 0 && fresh.points_bytes == 0;
    for (size_t i = 0; i < parts.size() && !empty; ++i) {
      edit.add.push_back(parts[i]->entry());
      edit.add.back().TakeFilesOf(fresh);
    }
    return LinkIntoLost(env_.files, env_.options.path, NamesOf(part->entry()), &aside);
  });
  if (!written.ok()) {
    file_set_.RemoveFiles({&fresh, 1});
    return written;
  }
  RETURN_IF_ERROR(file_set_.Apply(edit));
  for (const Damage& damage : damages) {
    if (whole) {
      report_.done.push_back(damage.file + " at " + std::to_string(damage.offset) + ": " +
                             damage.what + "; nothing is lost: all rows of the file could be read");
    } else {
      report_.lost.push_back(damage.ToString());
    }
  }
  report_.done.insert(report_.done.end(), aside.begin(), aside.end());
  return {};
}

Status OnlineRepair::RewriteSeries(const std::map<uint64_t, std::vector<Damage>>& damaged) {
  std::vector<std::string> aside;
  ASSIGN_OR_RETURN(const uint32_t count, compactor_.RewriteSeries([&](const Edit& edit) {
    std::set<std::string> names;
    for (const auto& part : edit.remove) {
      if (damaged.contains(part->entry().number)) names.merge(NamesOf(part->entry()));
    }
    return LinkIntoLost(env_.files, env_.options.path, names, &aside);
  }));
  report_.done.push_back("the registry of series is written anew from memory: " +
                         std::to_string(count) + " series, none is lost");
  report_.done.insert(report_.done.end(), aside.begin(), aside.end());
  return {};
}

}  // namespace hg::engine
