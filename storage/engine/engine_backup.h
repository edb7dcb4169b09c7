#pragma once
// Copies of a store (engine.md §5 "Backup"; region-store.md F7). A backup is a folder with
//
//   IDENTITY          which store it is of
//   000000042.cells…  the files of one version, hard links where the disk can; those of a namespace
//                     below namespaces/NAME, as in the store
//   BACKUP            the manifest that names them: written last, so without it there is no backup
//
// and no log: what memory held is flushed before. It is not a data directory (there is no MANIFEST)
// and nothing but Restore makes one of it.

#include <string>

#include "storage/base/file.h"
#include "storage/lsm/manifest.h"
#include "storage/maintenance.h"

namespace hg::points {

inline constexpr char kBackupName[] = "BACKUP";
inline constexpr char kIdentityName[] = "IDENTITY";
/// Stands in a folder that a restore has not finished.
inline constexpr char kRestoringName[] = "RESTORING";

struct BackupHead {
  int64_t made_ms = 0;
  lsm::Manifest manifest;
};

/// NotFound: no whole backup is there. Corruption: its manifest is damaged.
Result<BackupHead> LoadBackupHead(FileSystem& files, const std::string& backup);

/// Brings `backup` to the files of `manifest`, which stand in `source` and must stay there until it
/// returns. Files that are there already are not copied again; files of an older backup go at the
/// end. See Maintenance::Backup.
Result<CopyProgress> WriteBackup(FileSystem& files, const std::string& source,
                                 const lsm::Manifest& manifest, int64_t now_ms,
                                 const std::string& backup, const CopyWatch& watch);

/// Makes a data directory of a backup and verifies each file. InvalidArgument: the folder is not
/// empty, or no whole backup is there. What a killed restore left is completed by another one.
Result<CopyProgress> Restore(FileSystem& files, const std::string& backup,
                             const std::string& folder, const CopyWatch& watch);

}  // namespace hg::points
