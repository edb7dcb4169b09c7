// Damaged files of the running store: written anew without their damage, while readers and writers
// go on. Of a store that does not open: engine_repair.h.
//
// Damage of an index or of a whole file costs nothing here: the index is in memory, and the file is
// open. Nor does the registry of series: memory has it.

#include <algorithm>
#include <map>

#include "storage/engine/engine.h"
#include "storage/engine/engine_check.h"
#include "storage/engine/readable_rows.h"
#include "storage/engine/run_writer.h"
#include "storage/engine/stored_files.h"

namespace hg::points {
namespace {

std::set<std::string> NamesOf(const lsm::RunEntry& run) {
  std::set<std::string> names;
  for (const StoredFile& file : FilesOf({run})) names.insert(file.name);
  return names;
}

}  // namespace

Result<RepairReport> Engine::Repair() {
  // Nothing depends on what the log has so far, then.
  RETURN_IF_ERROR(Flush());
  std::map<uint64_t, std::vector<Damage>> damaged;  // by number of the run
  bool series = false;
  {
    const auto version = Pin();  // keeps the files
    std::vector<lsm::RunEntry> runs;
    for (const auto& [place, of_region] : version->runs) {
      for (const auto& run : of_region) runs.push_back(run->entry());
    }
    for (const StoredFile& file : FilesOf(runs)) {
      CheckReport report;
      CheckFile(files_, options_.path, layout(), file, &report);
      if (report.damages.empty()) continue;
      std::vector<Damage>& damages = damaged[file.run.number];
      damages.insert(damages.end(), report.damages.begin(), report.damages.end());
      series = series || file.run.table == kSeriesTable;
    }
  }
  RepairReport report;
  if (series) RETURN_IF_ERROR(RewriteSeries(damaged, &report));
  for (const auto& [number, damages] : damaged) {
    RETURN_IF_ERROR(MendRun(number, damages, &report));
  }
  if (!report.done.empty()) {
    // Deletes of a lost block hide nothing any more.
    listeners_.AfterAlteration();
    {
      std::lock_guard lock(work_mutex_);
      ForgetMended(*Pin());
    }
    WakeMerges();
  }
  return report;
}

std::vector<Engine::RegionPlace> Engine::RegionsWith(uint64_t number) const {
  std::vector<RegionPlace> places;
  const auto version = Pin();
  for (const auto& [place, runs] : version->runs) {
    const bool named = std::any_of(runs.begin(), runs.end(),
                                   [&](const auto& run) { return run->entry().number == number; });
    if (named) places.push_back(place);
  }
  return places;
}

Status Engine::MendRun(uint64_t number, const std::vector<Damage>& damages, RepairReport* report) {
  for (;;) {
    const std::vector<RegionPlace> places = RegionsWith(number);
    if (places.empty()) return {};  // somebody else was faster, or its table is gone
    bool there = false;
    const Status status = WhileHeld(places, [&] {
      // Its regions may have been divided or joined while they were waited for.
      there = RegionsWith(number) == places;
      return there ? MendHeld(places, number, damages, report) : Status();
    });
    if (there || !status.ok()) return Prepend(status, "repair");
  }
}

Status Engine::MendHeld(const std::vector<RegionPlace>& places, uint64_t number,
                        const std::vector<Damage>& damages, RepairReport* report) {
  const auto is_it = [number](const auto& run) { return run->entry().number == number; };
  const auto before = Pin();
  const Runs& of_first = before->RunsOf(places[0].first, places[0].second);
  const std::shared_ptr<const Run> run = *std::find_if(of_first.begin(), of_first.end(), is_it);
  lsm::RunEntry fresh = run->entry();
  fresh.number = next_number_++;
  bool whole = true;
  // The wishes of its families are seen to by the next merge.
  RunWriter writer(files_, lsm::NamespaceFolder(options_.path, fresh.space), layout(), fresh.number,
                   nullptr, RowDensity::kPacked);
  const Status written = Survive([&]() -> Status {
    if (run->cells() != nullptr) {
      ASSIGN_OR_RETURN(whole, CopyReadable(*run->cells(), false, &writer));
    }
    if (run->points() != nullptr) {
      ASSIGN_OR_RETURN(const bool all, CopyReadable(*run->points(), true, &writer));
      whole = whole && all;
    }
    return writer.Finish(&fresh);
  });
  if (!written.ok()) {
    RemoveRunFiles(fresh);
    return written;
  }

  std::lock_guard maintenance(maintenance_);
  std::shared_ptr<Version> next;
  lsm::Manifest manifest;
  Runs gone;
  std::vector<std::string> aside;
  const bool empty = fresh.cells_bytes == 0 && fresh.points_bytes == 0;
  const Status replaced = Survive([&]() -> Status {
    RETURN_IF_ERROR(CheckOpen());
    next = std::make_shared<Version>(*Pin());
    manifest = manifest_;
    std::shared_ptr<const RunFiles> files;
    if (!empty) {
      ASSIGN_OR_RETURN(files, OpenFiles(fresh));
    }
    const auto renew = [&](lsm::RunEntry entry) {
      entry.number = fresh.number;
      entry.cells_bytes = fresh.cells_bytes;
      entry.points_bytes = fresh.points_bytes;
      return entry;
    };
    for (const RegionPlace& place : places) {
      Runs& runs = next->runs[place];
      const auto at = std::find_if(runs.begin(), runs.end(), is_it);
      gone.push_back(*at);
      if (empty) {
        runs.erase(at);
      } else {
        *at = std::make_shared<Run>(renew((*at)->entry()), files);
      }
    }
    for (lsm::RunEntry& entry : manifest.runs) {
      if (entry.number == number) entry = renew(entry);
    }
    if (empty) {
      std::erase_if(manifest.runs,
                    [&](const lsm::RunEntry& entry) { return entry.number == fresh.number; });
    }
    return LinkIntoLost(files_, options_.path, NamesOf(run->entry()), &aside);
  });
  if (!replaced.ok()) {
    RemoveRunFiles(fresh);
    return replaced;
  }
  RETURN_IF_ERROR(Publish(std::move(manifest), std::move(next), {fresh}));
  RetireUnnamed(gone);
  for (const Damage& damage : damages) {
    if (whole) {
      report->done.push_back(damage.file + " at " + std::to_string(damage.offset) + ": " +
                             damage.what + "; nothing is lost of what the daemon had read of it");
    } else {
      report->lost.push_back(damage.ToString());
    }
  }
  report->done.insert(report->done.end(), aside.begin(), aside.end());
  return {};
}

Status Engine::RewriteSeries(const std::map<uint64_t, std::vector<Damage>>& damaged,
                             RepairReport* report) {
  const RegionPlace place = {kSeriesTable, 0};
  return Prepend(WhileHeld({place}, [&] { return RewriteSeriesHeld(place, damaged, report); }),
                 "repair of the series");
}

Status Engine::RewriteSeriesHeld(RegionPlace place,
                                 const std::map<uint64_t, std::vector<Damage>>& damaged,
                                 RepairReport* report) {
  lsm::RunEntry fresh;
  fresh.table = place.first;
  fresh.region = place.second;
  fresh.number = next_number_++;
  fresh.first_sequence = 1;
  fresh.made_ms = clock_.NowMs();
  Runs gone;
  uint32_t count = 0;  // of those that are in files; flushes may add runs of others meanwhile
  {
    std::lock_guard maintenance(maintenance_);
    const auto version = Pin();
    gone = version->RunsOf(place.first, place.second);
    count = version->generations.back()->series_begin;
    fresh.last_sequence = manifest_.flushed;
  }
  RunWriter writer(files_, options_.path, layout(), fresh.number, nullptr);
  const Status written = Survive([&]() -> Status {
    for (uint32_t number = 0; number < count; ++number) {
      Bytes key;
      AppendBig(&key, number, 4);
      lsm::CellRow row;
      row.Put(0, "", registry_.Tsuid(number), 0);
      RETURN_IF_ERROR(writer.AddCells(key, row));
    }
    return writer.Finish(&fresh);
  });
  if (!written.ok()) {
    RemoveRunFiles(fresh);
    return written;
  }

  std::lock_guard maintenance(maintenance_);
  std::shared_ptr<Version> next;
  lsm::Manifest manifest;
  std::vector<std::string> aside;
  const Status replaced = Survive([&]() -> Status {
    RETURN_IF_ERROR(CheckOpen());
    next = std::make_shared<Version>(*Pin());
    manifest = manifest_;
    Runs& runs = next->runs[place];
    std::erase_if(runs, [&](const auto& run) {
      return std::find(gone.begin(), gone.end(), run) != gone.end();
    });
    ASSIGN_OR_RETURN(auto files, OpenFiles(fresh));
    runs.push_back(std::make_shared<Run>(fresh, std::move(files)));
    RemoveEntries(place, gone, &manifest);
    manifest.runs.push_back(fresh);
    std::set<std::string> names;
    for (const auto& run : gone) {
      if (damaged.contains(run->entry().number)) names.merge(NamesOf(run->entry()));
    }
    return LinkIntoLost(files_, options_.path, names, &aside);
  });
  if (!replaced.ok()) {
    RemoveRunFiles(fresh);
    return replaced;
  }
  RETURN_IF_ERROR(Publish(std::move(manifest), std::move(next), {fresh}));
  RetireUnnamed(gone);
  report->done.push_back("the registry of series is written anew from memory: " +
                         std::to_string(count) + " series, none is lost");
  report->done.insert(report->done.end(), aside.begin(), aside.end());
  return {};
}

}  // namespace hg::points
