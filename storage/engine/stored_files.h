#pragma once
// The files that are named in a manifest.

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
  std::string name;  // relative to the folder of the store
  uint64_t bytes = 0;
  uint32_t crc = 0;     // checksum of its trailer
  bool points = false;  // whether it is a points file or a cell file
  // The first manifest entry with this file. After a split, other entries have this file, too.
  lsm::PartEntry part;
};

/// Returns the files of these parts, ordered by name. A file that several parts share is in the
/// list once.
std::vector<StoredFile> FilesOf(const std::vector<lsm::PartEntry>& parts);

/// Returns the names of all part files in the folder of a store or backup, and of their unfinished
/// temporary files, whether they are in a manifest or not. Ignores other files.
Result<std::vector<std::string>> PartFilesIn(FileSystem& files, const std::string& folder);

/// Returns the names of all log files in the folder of a store, whether they are needed or not.
Result<std::vector<std::string>> LogFilesIn(FileSystem& files, const std::string& folder);

/// Returns the names of files that have an extension of the store's files but that the store did
/// not create. The store never changes such files.
Result<std::vector<std::string>> ForeignFilesIn(FileSystem& files, const std::string& folder);

/// Returns the folders that contain the files of the parts, including the folder of the store
/// itself.
std::set<std::string> FoldersOf(const std::string& folder,
                                const std::vector<lsm::PartEntry>& parts);
Status SyncFolders(FileSystem& files, const std::set<std::string>& folders);

/// Opens a file that is named in a manifest. Corruption: the file is missing, or its length or
/// checksum differs; the error message has the path.
Result<std::shared_ptr<const lsm::BlockFile>> OpenNamed(FileSystem& files, const std::string& path,
                                                        uint64_t bytes, uint32_t crc,
                                                        const lsm::BlockReading& reading);
Result<std::shared_ptr<const lsm::BlockFile>> OpenStored(FileSystem& files,
                                                         const std::string& folder,
                                                         const StoredFile& file);

}  // namespace hg::engine
