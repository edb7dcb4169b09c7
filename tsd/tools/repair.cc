// repair [FOLDER]: makes a damaged data directory one that opens, or has the daemon that has it
// open write its damaged files anew.

#include "storage/engine/engine_repair.h"
#include "storage/local/local_maintenance.h"
#include "tsd/tools/tools.h"

namespace hg::tsd {
namespace {

int RunRepair(Invocation& call) {
  const std::vector<std::string>& words = call.line.words();
  if (words.size() > 1) return call.Misused("unexpected word: " + words[1]);
  const std::string folder =
      words.empty() ? call.session.config().String("tsd.storage.path") : words[0];
  auto report = points::RepairDirectory(PosixFileSystem(), folder);
  bool beside = false;
  if (report.status().code() == StatusCode::kBusy) {
    auto by_daemon = local::LocalMaintenance(folder).Repair();
    // There may be none.
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
    "Sets damaged files and blocks of a data directory aside; of a running daemon's, too.",
    "Nothing is deleted: what is damaged goes to FOLDER/lost. What is whole stays, block by "
    "block;\n"
    "the registry of series is rebuilt from the rows if it has a hole; the log is cut where it is\n"
    "damaged. A line for each loss. A daemon that has the directory does it itself and serves on;\n"
    "its series, and what memory and log have, are whole then in any case. What keeps a daemon "
    "from\n"
    "starting can be mended without one only. Restoring a backup is better where there is one: "
    "what\n"
    "was overwritten or deleted in a lost block may show again.",
    {},
    "",
    RunRepair};

}  // namespace hg::tsd
