#include "storage/engine/stored_files.h"

#include <algorithm>
#include <charconv>

#include "storage/engine/engine_backup.h"
#include "storage/engine/row_block.h"
#include "storage/engine/version.h"
#include "storage/lsm/log_recovery.h"

namespace hg::engine {

namespace {

constexpr ByteView kTemporary = ".tmp";
constexpr ByteView kEndings[] = {".cells", ".points"};

// Returns whether the name is that of a part's file, such as "000000042.cells".
bool IsOfPart(ByteView name) {
  for (const ByteView ending : kEndings) {
    if (!name.ends_with(ending)) continue;
    const ByteView digits = name.substr(0, name.size() - ending.size());
    uint64_t number = 0;
    const auto read = std::from_chars(digits.data(), digits.data() + digits.size(), number);
    if (read.ec != std::errc() || number == 0) return false;
    const std::string path =
        ending == kEndings[0] ? Part::CellsPath("", number) : Part::PointsPath("", number);
    return ByteView(path).substr(1) == name;
  }
  return false;
}

// Returns whether the name is that of a temporary file that a crash left before its rename.
bool IsUnfinished(ByteView name) {
  if (!name.ends_with(kTemporary)) return false;
  name.remove_suffix(kTemporary.size());
  return IsOfPart(name) || name == lsm::kManifestName || name == kBackupName ||
         name == kIdentityName || name == kRestoringName;
}

// Returns the names of the files in the folder itself and in its namespace folders.
Result<std::vector<std::string>> NamesIn(FileSystem& files, const std::string& folder) {
  ASSIGN_OR_RETURN(std::vector<std::string> all, files.List(folder));
  ASSIGN_OR_RETURN(const auto spaces, files.ListFolders(folder + "/" + lsm::kNamespacesName));
  for (const std::string& space : spaces) {
    ASSIGN_OR_RETURN(const auto names, files.List(lsm::NamespaceFolder(folder, space)));
    const std::string within = lsm::NamespaceFolder("", space).substr(1) + "/";
    for (const std::string& name : names) all.push_back(within + name);
  }
  return all;
}

ByteView LastPart(ByteView path) { return path.substr(path.rfind('/') + 1); }

}  // namespace

std::vector<StoredFile> FilesOf(const std::vector<lsm::PartEntry>& parts) {
  std::vector<StoredFile> all;
  for (const lsm::PartEntry& part : parts) {
    const std::string folder = lsm::NamespaceFolder("", part.space);
    if (part.cells_bytes > 0) {
      all.push_back({Part::CellsPath(folder, part.number).substr(1), part.cells_bytes,
                     part.cells_crc, false, part});
    }
    if (part.points_bytes > 0) {
      all.push_back({Part::PointsPath(folder, part.number).substr(1), part.points_bytes,
                     part.points_crc, true, part});
    }
  }
  std::sort(all.begin(), all.end(), [](const auto& a, const auto& b) { return a.name < b.name; });
  all.erase(std::unique(all.begin(), all.end(),
                        [](const auto& a, const auto& b) { return a.name == b.name; }),
            all.end());
  return all;
}

Result<std::vector<std::string>> PartFilesIn(FileSystem& files, const std::string& folder) {
  ASSIGN_OR_RETURN(std::vector<std::string> all, NamesIn(files, folder));
  std::erase_if(all, [](const std::string& path) {
    return !IsOfPart(LastPart(path)) && !IsUnfinished(LastPart(path));
  });
  return all;
}

Result<std::vector<std::string>> LogFilesIn(FileSystem& files, const std::string& folder) {
  ASSIGN_OR_RETURN(const std::vector<std::string> names, files.List(folder));
  std::vector<std::string> logs;
  for (const std::string& name : names) {
    uint64_t number;
    if (!lsm::ParseLogFileName(name, &number)) continue;
    ASSIGN_OR_RETURN(const bool own, lsm::IsLogFile(files, folder + "/" + name));
    if (own) logs.push_back(name);
  }
  return logs;
}

Result<std::vector<std::string>> ForeignFilesIn(FileSystem& files, const std::string& folder) {
  ASSIGN_OR_RETURN(std::vector<std::string> all, NamesIn(files, folder));
  std::vector<std::string> foreign;
  for (const std::string& path : all) {
    const ByteView name = LastPart(path);
    uint64_t number;
    if (lsm::ParseLogFileName(path, &number)) {
      ASSIGN_OR_RETURN(const bool own, lsm::IsLogFile(files, folder + "/" + path));
      if (!own) foreign.push_back(path);
    } else if ((name.ends_with(".log") || name.ends_with(kTemporary) ||
                name.ends_with(kEndings[0]) || name.ends_with(kEndings[1])) &&
               !IsOfPart(name) && !IsUnfinished(name)) {
      foreign.push_back(path);
    }
  }
  return foreign;
}

std::set<std::string> FoldersOf(const std::string& folder,
                                const std::vector<lsm::PartEntry>& parts) {
  std::set<std::string> folders = {folder};
  for (const lsm::PartEntry& part : parts) folders.insert(lsm::NamespaceFolder(folder, part.space));
  return folders;
}

Status SyncFolders(FileSystem& files, const std::set<std::string>& folders) {
  for (const std::string& folder : folders) RETURN_IF_ERROR(files.SyncFolder(folder));
  return {};
}

Result<std::shared_ptr<const lsm::BlockFile>> OpenNamed(FileSystem& files, const std::string& path,
                                                        uint64_t bytes, uint32_t crc,
                                                        const lsm::BlockReading& reading) {
  auto file = lsm::BlockFile::Open(files, path, reading);
  if (file.status().code() == StatusCode::kNotFound) {
    return Status::Corruption(path +
                              " at 0: the manifest names this file, but the file does not exist");
  }
  RETURN_IF_ERROR(file.status());
  if ((*file)->bytes() == bytes && (*file)->trailer_crc() == crc) return file;
  return (*file)->Damaged(0, "another file than the one that the manifest names");
}

Result<std::shared_ptr<const lsm::BlockFile>> OpenStored(FileSystem& files,
                                                         const std::string& folder,
                                                         const StoredFile& file) {
  lsm::BlockReading reading;
  if (file.points) reading.packer = &RowBlockPacker();
  return OpenNamed(files, folder + "/" + file.name, file.bytes, file.crc, reading);
}

}  // namespace hg::engine
