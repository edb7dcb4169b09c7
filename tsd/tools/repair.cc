// repair [FOLDER]: makes a damaged data directory one that opens.

#include "storage/points/engine_repair.h"
#include "tsd/tools/tools.h"

namespace hg::tsd {
namespace {

int RunRepair(Invocation& call) {
  const std::vector<std::string>& words = call.line.words();
  if (words.size() > 1) return call.Misused("unexpected word: " + words[1]);
  const std::string folder =
      words.empty() ? call.session.config().String("tsd.storage.path") : words[0];
  const auto report = points::RepairDirectory(PosixFileSystem(), folder);
  if (!report.ok()) return call.Fail(report.status());
  for (const std::string& lost : report->lost) call.out << lost << "\n";
  for (const std::string& done : report->done) call.err << "tsdb repair: " << done << "\n";
  call.err << "tsdb repair: "
           << (report->done.empty() && report->lost.empty() ? "nothing was damaged in "
                                                            : "done with ")
           << folder << "\n";
  return kExitOk;
}

}  // namespace

const Command kRepairCommand{
    "repair",
    "[FOLDER]",
    "Sets damaged files and blocks of a data directory aside, so that it opens again.",
    "Nothing is deleted: what is damaged goes to FOLDER/lost. What is whole stays, block by "
    "block;\n"
    "the registry of series is rebuilt from the rows if it has a hole; the log is cut where it is\n"
    "damaged. A line for each loss. The daemon must be stopped. Restoring a backup is better\n"
    "where there is one: what was overwritten or deleted in a lost block may show again.",
    {},
    "",
    RunRepair};

}  // namespace hg::tsd
