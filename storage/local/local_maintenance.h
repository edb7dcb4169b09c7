#pragma once
// Backup, check and repair of a store that a daemon on this machine uses. The daemon does the work
// (local_server.h). Errors are those of Maintenance and of LocalClient.

#include <string>
#include <utility>

#include "storage/maintenance.h"

namespace hg::local {

/// Thread-safe: each call has its own connection.
class LocalMaintenance : public Maintenance {
 public:
  explicit LocalMaintenance(std::string folder) : folder_(std::move(folder)) {}

  /// `folder` is an absolute path as seen by the daemon's process.
  Result<CopyProgress> Backup(const std::string& folder, const CopyWatch& watch) override;
  /// Returns the progress of the daemon's backup; empty progress if no daemon responds.
  [[nodiscard]] CopyProgress BackupProgress() const override;
  Result<CheckReport> Check() override;
  Result<RepairReport> Repair() override;

 private:
  const std::string folder_;
};

}  // namespace hg::local
