#pragma once
// The files of a store that a manifest names.

#include <cstdint>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "storage/base/file.h"
#include "storage/lsm/block_file.h"
#include "storage/lsm/manifest.h"

namespace hg::engine {

struct StoredFile {
  std::string name;  // path relative to the folder of the store
  uint64_t bytes = 0;
  uint32_t crc = 0;     // checksum of the file's trailer
  bool points = false;  // true for a points file, false for a cell file
  // A manifest entry that uses this file. After a split, the manifest entries of several regions
  // may use the same file.
  lsm::PartEntry part;
};

/// Returns the files of these parts, ordered by name. A file that several parts share is in the
/// result once.
std::vector<StoredFile> FilesOf(const std::vector<lsm::PartEntry>& parts);

/// Returns the names, relative to `folder`, of all part files of a store or backup, and of
/// temporary files that a crash left behind. It does not matter whether a manifest names these
/// files. Ignores all other files.
Result<std::vector<std::string>> PartFilesIn(FileSystem& files, const std::string& folder);

/// Returns the names of all log files in the folder of a store, including log files that are no
/// longer needed.
Result<std::vector<std::string>> LogFilesIn(FileSystem& files, const std::string& folder);

/// Returns the names of files that have the same extensions as files of the store, but that the
/// store did not create. The store never changes these files.
Result<std::vector<std::string>> ForeignFilesIn(FileSystem& files, const std::string& folder);

/// Returns the folders that contain the files of the parts. The result always includes the folder
/// of the store.
std::set<std::string> FoldersOf(const std::string& folder,
                                const std::vector<lsm::PartEntry>& parts);
Status SyncFolders(FileSystem& files, const std::set<std::string>& folders);

/// OpenNamed and OpenStored open a file that a manifest names. They return Corruption, with the
/// path, if the file is missing, or if its length or checksum differs from the manifest.
Result<std::shared_ptr<const lsm::BlockFile>> OpenNamed(FileSystem& files, const std::string& path,
                                                        uint64_t bytes, uint32_t crc,
                                                        const lsm::BlockReading& reading);
Result<std::shared_ptr<const lsm::BlockFile>> OpenStored(FileSystem& files,
                                                         const std::string& folder,
                                                         const StoredFile& file);

}  // namespace hg::engine
