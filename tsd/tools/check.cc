// The command check [FOLDER]: reads and verifies every file of a data directory or a backup.

#include "storage/engine/engine_check.h"
#include "storage/local/local_maintenance.h"
#include "tsd/tools/tools.h"

namespace hg::tsd {
namespace {

Result<CheckReport> Check(const std::string& folder) {
  auto report = engine::CheckDirectory(PosixFileSystem(), folder);
  if (report.status().code() != StatusCode::kBusy) return report;
  // If a daemon uses the folder, the daemon does the check.
  auto beside = local::LocalMaintenance(folder).Check(nullptr);
  return beside.status().code() == StatusCode::kNotFound ? report : beside;
}

int RunCheck(Invocation& call) {
  const std::vector<std::string>& words = call.line.words();
  if (words.size() > 1) return call.Misused("unexpected word: " + words[1]);
  const std::string folder =
      words.empty() ? call.session.config().String("tsd.storage.path") : words[0];
  const auto report = Check(folder);
  if (!report.ok()) return call.Fail(report.status());
  for (const Damage& damage : report->damages) call.out << damage.ToString() << "\n";
  for (const std::string& note : report->notes) call.err << "tsdb check: " << note << "\n";
  call.err << "tsdb check: " << report->files << " files, " << report->bytes << " bytes: ";
  if (report->damages.empty()) {
    call.err << "no damage found in " << folder << "\n";
    return kExitOk;
  }
  call.err << report->damages.size() << " damaged places in " << folder
           << "; restore a backup, or set them aside with `tsdb repair`\n";
  return kExitFailed;
}

}  // namespace

const Command kCheckCommand{
    "check",
    "[FOLDER]",
    "Verifies every file of a data directory or of a backup, also while a daemon runs.",
    "Reads everything and changes nothing. Prints a line for each damage, with the file, the\n"
    "offset and the data that cannot be read because of the damage. The exit status is 1 if any\n"
    "file is damaged. If no daemon runs, the log and the numbers of the series are verified too.",
    {},
    "POST /api/admin/check",
    RunCheck};

}  // namespace hg::tsd
