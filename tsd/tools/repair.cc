// The command repair [FOLDER]: repairs a damaged data directory so that it opens. If a daemon uses
// the directory, the daemon rewrites its damaged files.

#include "storage/engine/offline_repair.h"
#include "storage/local/local_maintenance.h"
#include "tsd/tools/tools.h"

namespace hg::tsd {
namespace {

int RunRepair(Invocation& call) {
  const std::vector<std::string>& words = call.line.words();
  if (words.size() > 1) return call.Misused("unexpected word: " + words[1]);
  const std::string folder =
      words.empty() ? call.session.config().String("tsd.storage.path") : words[0];
  auto report = engine::RepairDirectory(PosixFileSystem(), folder);
  bool beside = false;
  if (report.status().code() == StatusCode::kBusy) {
    auto by_daemon = local::LocalMaintenance(folder).Repair();
    // NotFound means that no daemon uses the directory, so this command repairs it itself.
    beside = by_daemon.status().code() != StatusCode::kNotFound;
    if (beside) report = std::move(by_daemon);
  }
  if (!report.ok()) return call.Fail(report.status());
  for (const std::string& lost : report->lost) call.out << lost << "\n";
  for (const std::string& done : report->done) call.err << "tsdb repair: " << done << "\n";
  call.err << "tsdb repair: "
           << (report->done.empty() && report->lost.empty() ? "nothing was damaged in "
                                                            : "done with ")
           << folder << (beside ? ", by its daemon" : "") << "\n";
  return kExitOk;
}

}  // namespace

const Command kRepairCommand{
    "repair",
    "[FOLDER]",
    "Moves damaged files of a data directory aside and keeps the rest, also while a daemon runs.",
    "Nothing is deleted: damaged files go to FOLDER/lost. Undamaged blocks are kept. If numbers\n"
    "of series are missing, the command makes the list of series again from the rows. A damaged\n"
    "log is cut at the damage. The command prints a line for each loss. If a daemon uses the\n"
    "directory, the daemon makes the repair and continues to serve; the data in its memory and\n"
    "its log is not lost. Damage that keeps a daemon from starting can only be repaired without\n"
    "a daemon. If you have a backup, restore the backup instead of a repair: after a repair, data\n"
    "may reappear that was overwritten or deleted in a lost block.",
    {},
    "",
    RunRepair};

}  // namespace hg::tsd
