#pragma once
// The files that a manifest names.

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "storage/base/file.h"
#include "storage/lsm/block_file.h"
#include "storage/lsm/manifest.h"

namespace hg::points {

struct StoredFile {
  std::string name;  // within the folder
  uint64_t bytes = 0;
  bool points = false;  // a points file, else a cell file
  lsm::RunEntry run;    // the first entry that names it; after a split others do, too
};

/// Each once, by name.
std::vector<StoredFile> FilesOf(const std::vector<lsm::RunEntry>& runs);

Result<std::shared_ptr<const lsm::BlockFile>> OpenStored(FileSystem& files,
                                                         const std::string& folder,
                                                         const StoredFile& file);

}  // namespace hg::points
