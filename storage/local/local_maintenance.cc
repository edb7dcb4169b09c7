#include "storage/local/local_maintenance.h"

#include "storage/local/local_client.h"

namespace hg::local {

Result<CopyProgress> LocalMaintenance::Backup(const std::string& folder, const CopyWatch& watch) {
  ASSIGN_OR_RETURN(LocalClient daemon, LocalClient::Connect(folder_, {}));
  auto answer = daemon.Ask(Request(Call::kBackup, folder));
  while (answer.ok()) {
    Unpacker in(*answer);
    bool on_its_way = false;
    if (!in.Get(&on_its_way)) return Garbled();
    if (!on_its_way) {
      Result<CopyProgress> done = Status();
      return in.Get(&done) ? done : Result<CopyProgress>(Garbled());
    }
    CopyProgress progress;
    if (!in.Get(&progress)) return Garbled();
    // The daemon ends the backup when it notices that this client is gone.
    if (watch && !watch(progress)) return Status::Unavailable("the backup was stopped");
    answer = daemon.More();
  }
  return answer.status();
}

CopyProgress LocalMaintenance::BackupProgress() const {
  CopyProgress progress;
  auto daemon = LocalClient::Connect(folder_, {});
  if (!daemon.ok() || !ReadAnswer(daemon->Ask(Request(Call::kBackupProgress)), &progress).ok())
    return {};
  return progress;
}

Result<CheckReport> LocalMaintenance::Check(RequestContext* /*context*/) {
  ASSIGN_OR_RETURN(LocalClient daemon, LocalClient::Connect(folder_, {}));
  CheckReport report;
  RETURN_IF_ERROR(ReadAnswer(daemon.Ask(Request(Call::kCheck)), &report));
  return report;
}

Result<RepairReport> LocalMaintenance::Repair() {
  ASSIGN_OR_RETURN(LocalClient daemon, LocalClient::Connect(folder_, {}));
  RepairReport report;
  RETURN_IF_ERROR(ReadAnswer(daemon.Ask(Request(Call::kRepair)), &report));
  return report;
}

}  // namespace hg::local
