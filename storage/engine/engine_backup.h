#pragma once
// Backup and restore of a store (storage/points/FORMAT.md "Backup"; region-store.md F7). A backup
// is a folder with these files:
//
//   IDENTITY          identifies the store that was backed up
//   000000042.cells…  the files of one version, as hard links if the file system supports them;
//                     files of a namespace are below namespaces/NAME, as in the store
//   BACKUP            the manifest that names these files. BACKUP is written last: a folder without
//                     BACKUP is not a complete backup
//
// A backup has no log, because Engine::Backup flushes the memtables first. It has no MANIFEST, so
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

/// Loads the manifest of a backup. Returns NotFound if there is no complete backup, Corruption if
/// the manifest is damaged, and Unsupported if the backup or its manifest has another version.
Result<BackupHead> LoadBackupHead(FileSystem& files, const std::string& backup);

/// Makes the folder `backup` a backup of the files of `manifest`, which must stay in `source` until
/// the call returns. Keeps files that the backup already has, and at the end removes files of older
/// backups. Returns the errors of Maintenance::Backup, and Busy if another process uses `backup`.
Result<CopyProgress> WriteBackup(FileSystem& files, const std::string& source,
                                 const lsm::Manifest& manifest, int64_t now_ms,
                                 const std::string& backup, const CopyWatch& watch);

/// Makes a data directory in `folder` from a backup and verifies each file. A repeated call resumes
/// an interrupted restore. Returns InvalidArgument if `folder` has other files or `backup` is not
/// complete, Busy if a process uses either folder, and Unavailable if `watch` stopped the restore.
Result<CopyProgress> Restore(FileSystem& files, const std::string& backup,
                             const std::string& folder, const CopyWatch& watch);

}  // namespace hg::engine
