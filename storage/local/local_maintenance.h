#pragma once
// Backup, check and repair of a store that a daemon on this machine uses. The daemon does the work
// (local_server.h). The functions return the errors of Maintenance and of LocalClient.

#include <string>
#include <utility>

#include "storage/maintenance.h"

namespace hg::local {

/// Sends the requests to the daemon. Thread-safe, because each call has its own connection.
class LocalMaintenance : public Maintenance {
 public:
  explicit LocalMaintenance(std::string folder) : folder_(std::move(folder)) {}

  /// Makes a backup in `folder`, which must be an absolute path in the daemon's file system.
  Result<CopyProgress> Backup(const std::string& folder, const CopyWatch& watch) override;
  /// Returns the progress of the daemon's backup. If no daemon responds, the progress is empty.
  [[nodiscard]] CopyProgress BackupProgress() const override;
  Result<CheckReport> Check(RequestContext* context) override;
  Result<RepairReport> Repair() override;

 private:
  const std::string folder_;
};

}  // namespace hg::local
