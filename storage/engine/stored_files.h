#pragma once
// The files that a manifest names.

#include <cstdint>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "storage/base/file.h"
#include "storage/lsm/block_file.h"
#include "storage/lsm/manifest.h"

namespace hg::points {

struct StoredFile {
  std::string name;  // within the folder of the store
  uint64_t bytes = 0;
  bool points = false;  // a points file, else a cell file
  lsm::RunEntry run;    // the first entry that names it; after a split others do, too
};

/// Each once, by name.
std::vector<StoredFile> FilesOf(const std::vector<lsm::RunEntry>& runs);

/// Names within a store's folder, or a backup's, of all files of runs, whether a manifest names
/// them or not, and of what was being written.
Result<std::vector<std::string>> RunFilesIn(FileSystem& files, const std::string& folder);

/// The folders in which the files stand, that of the store itself included.
std::set<std::string> FoldersOf(const std::string& folder, const std::vector<lsm::RunEntry>& runs);
Status SyncFolders(FileSystem& files, const std::set<std::string>& folders);

Result<std::shared_ptr<const lsm::BlockFile>> OpenStored(FileSystem& files,
                                                         const std::string& folder,
                                                         const StoredFile& file);

}  // namespace hg::points
