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
// A backup has no log, because memory is flushed first. It has no MANIFEST, so it cannot be opened
// as a data directory; only Restore makes one of it.

#include <string>

#include "storage/base/file.h"
#include "storage/lsm/manifest.h"
#include "storage/maintenance.h"

namespace hg::engine {

inline constexpr char kBackupName[] = "BACKUP";
inline constexpr char kIdentityName[] = "IDENTITY";
/// Name of a file in folders whose restore is not finished.
inline constexpr char kRestoringName[] = "RESTORING";

struct BackupHead {
  int64_t made_ms = 0;
  lsm::Manifest manifest;
};

/// Loads a backup's manifest. NotFound: there is no complete backup. Corruption: it is damaged.
Result<BackupHead> LoadBackupHead(FileSystem& files, const std::string& backup);

/// Updates `backup` to the files of `manifest`. They are in `source` and must stay there until the
/// call returns. Does not copy files that the backup already has. Removes files of an older backup
/// at the end. See Maintenance::Backup.
Result<CopyProgress> WriteBackup(FileSystem& files, const std::string& source,
                                 const lsm::Manifest& manifest, int64_t now_ms,
                                 const std::string& backup, const CopyWatch& watch);

/// Makes a data directory from a backup and verifies each file. InvalidArgument: `folder` is not
/// empty, or there is no complete backup. A repeated call completes an interrupted restore.
Result<CopyProgress> Restore(FileSystem& files, const std::string& backup,
                             const std::string& folder, const CopyWatch& watch);

}  // namespace hg::engine
