#pragma once
// Copies, checks and repairs of the store of a daemon on this machine, by that daemon
// (local_server.h). Errors beside those of Maintenance: those of LocalClient.

#include <string>
#include <utility>

#include "storage/maintenance.h"

namespace hg::local {

/// Thread-safe: each call has a connection of its own.
class LocalMaintenance : public Maintenance {
 public:
  explicit LocalMaintenance(std::string folder) : folder_(std::move(folder)) {}

  /// `folder` is a path as the daemon's process sees it, absolute.
  Result<CopyProgress> Backup(const std::string& folder, const CopyWatch& watch) override;
  /// Nothing, where no daemon answers.
  [[nodiscard]] CopyProgress BackupProgress() const override;
  Result<CheckReport> Check() override;
  Result<RepairReport> Repair() override;

 private:
  const std::string folder_;
};

}  // namespace hg::local
