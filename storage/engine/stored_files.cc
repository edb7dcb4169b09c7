#include "storage/engine/stored_files.h"

#include <algorithm>

#include "storage/engine/row_block.h"
#include "storage/engine/version.h"

namespace hg::points {

namespace {

bool IsOfRun(const std::string& name) {
  return name.ends_with(".cells") || name.ends_with(".points") || name.ends_with(".tmp");
}

}  // namespace

std::vector<StoredFile> FilesOf(const std::vector<lsm::RunEntry>& runs) {
  std::vector<StoredFile> all;
  for (const lsm::RunEntry& run : runs) {
    const std::string folder = lsm::NamespaceFolder("", run.space);
    if (run.cells_bytes > 0) {
      all.push_back({Run::CellsPath(folder, run.number).substr(1), run.cells_bytes, false, run});
    }
    if (run.points_bytes > 0) {
      all.push_back({Run::PointsPath(folder, run.number).substr(1), run.points_bytes, true, run});
    }
  }
  std::sort(all.begin(), all.end(), [](const auto& a, const auto& b) { return a.name < b.name; });
  all.erase(std::unique(all.begin(), all.end(),
                        [](const auto& a, const auto& b) { return a.name == b.name; }),
            all.end());
  return all;
}

Result<std::vector<std::string>> RunFilesIn(FileSystem& files, const std::string& folder) {
  ASSIGN_OR_RETURN(std::vector<std::string> all, files.List(folder));
  ASSIGN_OR_RETURN(const auto spaces, files.ListFolders(folder + "/" + lsm::kNamespacesName));
  for (const std::string& space : spaces) {
    ASSIGN_OR_RETURN(const auto names, files.List(lsm::NamespaceFolder(folder, space)));
    const std::string within = lsm::NamespaceFolder("", space).substr(1) + "/";
    for (const std::string& name : names) all.push_back(within + name);
  }
  std::erase_if(all, [](const std::string& name) { return !IsOfRun(name); });
  return all;
}

std::set<std::string> FoldersOf(const std::string& folder, const std::vector<lsm::RunEntry>& runs) {
  std::set<std::string> folders = {folder};
  for (const lsm::RunEntry& run : runs) folders.insert(lsm::NamespaceFolder(folder, run.space));
  return folders;
}

Status SyncFolders(FileSystem& files, const std::set<std::string>& folders) {
  for (const std::string& folder : folders) RETURN_IF_ERROR(files.SyncFolder(folder));
  return {};
}

Result<std::shared_ptr<const lsm::BlockFile>> OpenStored(FileSystem& files,
                                                         const std::string& folder,
                                                         const StoredFile& file) {
  lsm::BlockReading reading;
  if (file.points) reading.packer = &RowBlockPacker();
  return lsm::BlockFile::Open(files, folder + "/" + file.name, reading);
}

}  // namespace hg::points
