#pragma once
// Backup and restore of a store (storage/points/FORMAT.md "Backup"; region-store.md F7). A backup
// is a folder with these files:
//
//   IDENTITY          identifies the store that was backed up
//   000000042.cells…  the files of one version, as hard links if the file system supports them;
//                     files of a namespace are below namespaces/NAME, as in the store
//   BACKUP            the manifest that names them. It is written last: a folder without it is not
//                     a complete backup
//
// A backup has no log, because the backup flushes the memtables first. A backup has no MANIFEST, so
// it cannot be opened as a data directory. Restore makes a data directory from a backup.

#include <string>

#include "storage/base/file.h"
#include "storage/lsm/manifest.h"
#include "storage/maintenance.h"

namespace hg::engine {

inline constexpr char kBackupName[] = "BACKUP";
inline constexpr char kIdentityName[] = "IDENTITY";
/// Name of a file that marks a folder whose restore is not finished.
inline constexpr char kRestoringName[] = "RESTORING";

struct BackupHead {
  int64_t made_ms = 0;
  lsm::Manifest manifest;
};

/// Loads the manifest of a backup. Returns NotFound if there is no complete backup, and Corruption
/// if the manifest is damaged.
Result<BackupHead> LoadBackupHead(FileSystem& files, const std::string& backup);

/// Updates the folder `backup` to the files of `manifest`. The files are in `source` and must stay
/// there until the call returns. Does not copy files that the backup already has. At the end,
/// removes files of an older backup. See Maintenance::Backup.
Result<CopyProgress> WriteBackup(FileSystem& files, const std::string& source,
                                 const lsm::Manifest& manifest, int64_t now_ms,
                                 const std::string& backup, const CopyWatch& watch);

/// Makes a data directory in `folder` from a backup and verifies each file. Returns InvalidArgument
/// if `folder` is not empty, or if `backup` is not a complete backup. A repeated call completes an
/// interrupted restore.
Result<CopyProgress> Restore(FileSystem& files, const std::string& backup,
                             const std::string& folder, const CopyWatch& watch);

}  // namespace hg::engine
