#include "storage/points/stored_files.h"

#include <algorithm>

#include "storage/points/row_block.h"
#include "storage/points/version.h"

namespace hg::points {

std::vector<StoredFile> FilesOf(const std::vector<lsm::RunEntry>& runs) {
  std::vector<StoredFile> all;
  for (const lsm::RunEntry& run : runs) {
    if (run.cells_bytes > 0) {
      all.push_back({Run::CellsPath("", run.number).substr(1), run.cells_bytes, false, run});
    }
    if (run.points_bytes > 0) {
      all.push_back({Run::PointsPath("", run.number).substr(1), run.points_bytes, true, run});
    }
  }
  std::sort(all.begin(), all.end(), [](const auto& a, const auto& b) { return a.name < b.name; });
  all.erase(std::unique(all.begin(), all.end(),
                        [](const auto& a, const auto& b) { return a.name == b.name; }),
            all.end());
  return all;
}

Result<std::shared_ptr<const lsm::BlockFile>> OpenStored(FileSystem& files,
                                                         const std::string& folder,
                                                         const StoredFile& file) {
  lsm::BlockReading reading;
  if (file.points) reading.packer = &RowBlockPacker();
  return lsm::BlockFile::Open(files, folder + "/" + file.name, reading);
}

}  // namespace hg::points
