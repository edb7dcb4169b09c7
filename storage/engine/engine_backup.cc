#include "storage/engine/engine_backup.h"

#include <algorithm>
#include <filesystem>

#include "storage/base/crc32c.h"
#include "storage/base/random_bits.h"
#include "storage/engine/engine.h"
#include "storage/engine/stored_files.h"
#include "storage/lsm/block_file.h"

namespace hg::engine {
namespace {

constexpr ByteView kMagic{"HGBACK\0\1", 8};  // its last byte is the version
// The end of a block file contains the checksum of its index. Two files with the same name, length
// and end are therefore identical.
constexpr uint64_t kEndBytes = 64;

Bytes EncodeHead(const BackupHead& head) {
  Bytes out(kMagic);
  AppendBig(&out, static_cast<uint64_t>(head.made_ms), 8);
  out += lsm::EncodeManifest(head.manifest);
  AppendBig(&out, crc32c::Value(out), 4);
  return out;
}

Status Stopped() { return Status::Unavailable("the copy was stopped before its end"); }

// Copies the files of one list from a folder to another.
class Copy {
 public:
  Copy(FileSystem& files, std::string from, std::string to, const CopyWatch& watch)
      : files_(files), from_(std::move(from)), to_(std::move(to)), watch_(watch) {}

  Status Run(const std::vector<StoredFile>& list) {
    progress_.files_total = list.size();
    for (const StoredFile& file : list) progress_.bytes_total += file.bytes;
    if (!Watched()) return Stopped();
    for (const StoredFile& file : list) {
      const uint64_t before = progress_.bytes;
      RETURN_IF_ERROR(Take(file));
      ++progress_.files;
      progress_.bytes = before + file.bytes;
      if (!Watched()) return Stopped();
    }
    return {};
  }
  [[nodiscard]] const CopyProgress& progress() const { return progress_; }

 private:
  [[nodiscard]] bool Watched() const { return !watch_ || watch_(progress_); }

  Status Take(const StoredFile& file) {
    const std::string from = from_ + "/" + file.name;
    const std::string to = to_ + "/" + file.name;
    ASSIGN_OR_RETURN(const Bytes end, End(from, file.bytes));
    if (files_.Exists(to)) {
      const auto there = End(to, file.bytes);
      if (!there.ok() || *there != end) {
        return Status::Conflict(to + ": exists, but is not a copy of " + from);
      }
      ++progress_.kept;
      return {};
    }
    ASSIGN_OR_RETURN(const bool linked, LinkOrCopy(files_, from, to, [this](uint64_t bytes) {
                       progress_.bytes += bytes;
                       return Watched();
                     }));
    ++(linked ? progress_.linked : progress_.copied);
    return {};
  }

  // Returns the last bytes of the file. Returns Corruption if its length is not `size`.
  Result<Bytes> End(const std::string& path, uint64_t size) const {
    ASSIGN_OR_RETURN(const auto file, files_.Open(path, OpenMode::kRead));
    ASSIGN_OR_RETURN(const uint64_t present, file->Size());
    if (present != size) {
      return Status::Corruption(path + " at 0: has " + std::to_string(present) + " bytes, not " +
                                std::to_string(size));
    }
    Bytes end;
    RETURN_IF_ERROR(file->ReadAt(size - std::min(size, kEndBytes), kEndBytes, &end));
    return end;
  }

  FileSystem& files_;
  const std::string from_;
  const std::string to_;
  const CopyWatch& watch_;
  CopyProgress progress_;
};

// Returns the identity of a store, which its first backup creates. A restored store gets a new
// identity, because its files then differ from those of the original.
Result<Bytes> IdentityOf(FileSystem& files, const std::string& folder) {
  const std::string path = folder + "/" + kIdentityName;
  if (files.Exists(path)) return ReadWholeFile(files, path);
  Bytes random;
  for (int i = 0; i < 2; ++i) AppendBig(&random, RandomBits(), 8);
  const Bytes identity = ToHex(random) + "\n";
  RETURN_IF_ERROR(ReplaceFile(files, folder, kIdentityName, identity));
  return identity;
}

Status ClaimBackupFolder(FileSystem& files, const std::string& backup, const Bytes& identity) {
  const std::string path = backup + "/" + kIdentityName;
  if (files.Exists(path)) {
    ASSIGN_OR_RETURN(const Bytes present, ReadWholeFile(files, path));
    if (present == identity) return {};
    return Status::InvalidArgument(backup + ": holds a backup of another store");
  }
  ASSIGN_OR_RETURN(const auto names, files.List(backup));
  for (const std::string& name : names) {
    if (name == "LOCK" || name == std::string(kIdentityName) + ".tmp") continue;
    return Status::InvalidArgument(backup + ": is neither empty nor a backup (it contains " + name +
                                   ")");
  }
  return ReplaceFile(files, backup, kIdentityName, identity);
}

Status RemoveOlderFiles(FileSystem& files, const std::string& backup,
                        const std::vector<StoredFile>& list) {
  ASSIGN_OR_RETURN(const auto names, PartFilesIn(files, backup));
  for (const std::string& name : names) {
    const bool named = std::any_of(list.begin(), list.end(),
                                   [&](const StoredFile& file) { return file.name == name; });
    if (!named) RETURN_IF_ERROR(files.Remove(backup + "/" + name));
  }
  return {};
}

Status VerifyBlocks(FileSystem& files, const std::string& folder,
                    const std::vector<StoredFile>& list) {
  for (const StoredFile& file : list) {
    ASSIGN_OR_RETURN(const auto opened, OpenStored(files, folder, file));
    RETURN_IF_ERROR(lsm::BlockFile::Check(opened));
  }
  return {};
}

// Returns ok if the folder is empty, or contains an interrupted restore of the same backup.
Status ClaimRestoreFolder(FileSystem& files, const std::string& folder, const Bytes& head) {
  ASSIGN_OR_RETURN(const auto names, files.List(folder));
  const bool resumed = std::find(names.begin(), names.end(), kRestoringName) != names.end();
  if (resumed && std::find(names.begin(), names.end(), lsm::kManifestName) == names.end()) {
    ASSIGN_OR_RETURN(const Bytes present, ReadWholeFile(files, folder + "/" + kRestoringName));
    if (present == head) return {};
    return Status::InvalidArgument(folder + ": holds an unfinished restore of another backup");
  }
  for (const std::string& name : names) {
    if (name == "LOCK" || name == std::string(kRestoringName) + ".tmp") continue;
    return Status::InvalidArgument(folder + ": is not empty (" + name + ")");
  }
  return ReplaceFile(files, folder, kRestoringName, head);
}

}  // namespace

Result<BackupHead> LoadBackupHead(FileSystem& files, const std::string& backup) {
  const std::string path = backup + "/" + kBackupName;
  ASSIGN_OR_RETURN(const Bytes content, ReadWholeFile(files, path));
  BackupHead head;
  ByteView in = content;
  const size_t fixed = kMagic.size() + 8;
  if (in.size() < fixed + 4 || !in.starts_with(kMagic.substr(0, kMagic.size() - 1)) ||
      ReadBig32(in.data() + in.size() - 4) != crc32c::Value(in.substr(0, in.size() - 4))) {
    return Status::Corruption(path + " at 0: damaged, or not of a backup");
  }
  if (!in.starts_with(kMagic)) {
    return Status::Unsupported(path + " is of version " +
                               std::to_string(ByteAt(in, kMagic.size() - 1)) +
                               "; this program reads version " + std::to_string(kMagic.back()));
  }
  ASSIGN_OR_RETURN(head.manifest, lsm::ManifestFrom(in.substr(fixed, in.size() - fixed - 4), path));
  head.made_ms = static_cast<int64_t>(ReadBig64(in.data() + kMagic.size()));
  return head;
}

Result<CopyProgress> WriteBackup(FileSystem& files, const std::string& source,
                                 const lsm::Manifest& manifest, int64_t now_ms,
                                 const std::string& backup, const CopyWatch& watch) {
  RETURN_IF_ERROR(files.CreateFolder(backup));
  ASSIGN_OR_RETURN(const auto lock, files.Lock(backup + "/LOCK", "backup of " + source));
  ASSIGN_OR_RETURN(const Bytes identity, IdentityOf(files, source));
  RETURN_IF_ERROR(ClaimBackupFolder(files, backup, identity));
  const std::vector<StoredFile> list = FilesOf(manifest.parts);
  const std::set<std::string> folders = FoldersOf(backup, manifest.parts);
  for (const std::string& made : folders) RETURN_IF_ERROR(files.CreateFolder(made));
  Copy copy(files, source, backup, watch);
  RETURN_IF_ERROR(copy.Run(list));
  RETURN_IF_ERROR(SyncFolders(files, folders));
  RETURN_IF_ERROR(ReplaceFile(files, backup, kBackupName, EncodeHead({now_ms, manifest})));
  RETURN_IF_ERROR(RemoveOlderFiles(files, backup, list));
  return copy.progress();
}

Result<CopyProgress> Restore(FileSystem& files, const std::string& backup,
                             const std::string& folder, const CopyWatch& watch) {
  // This check comes before the lock, because the lock creates a file in the given folder.
  if (!files.Exists(backup + "/" + kBackupName)) {
    return Status::InvalidArgument(
        backup + ": no whole backup: " + kBackupName +
        " is missing (if a backup was interrupted here, run it again to complete it)");
  }
  // Errors other than Busy are ignored, because a folder on a read-only disk cannot be locked, and
  // needs no lock.
  const auto from_lock = files.Lock(backup + "/LOCK", "restore to " + folder);
  if (from_lock.status().code() == StatusCode::kBusy) return from_lock.status();
  ASSIGN_OR_RETURN(const BackupHead head, LoadBackupHead(files, backup));
  RETURN_IF_ERROR(files.CreateFolder(folder));
  ASSIGN_OR_RETURN(const auto lock, files.Lock(folder + "/LOCK", "restore of " + backup));
  RETURN_IF_ERROR(ClaimRestoreFolder(files, folder, EncodeHead(head)));
  const std::vector<StoredFile> list = FilesOf(head.manifest.parts);
  const std::set<std::string> folders = FoldersOf(folder, head.manifest.parts);
  for (const std::string& made : folders) RETURN_IF_ERROR(files.CreateFolder(made));
  Copy copy(files, backup, folder, watch);
  RETURN_IF_ERROR(copy.Run(list));
  RETURN_IF_ERROR(VerifyBlocks(files, folder, list));
  RETURN_IF_ERROR(SyncFolders(files, folders));
  RETURN_IF_ERROR(lsm::SaveManifest(files, folder, head.manifest));
  RETURN_IF_ERROR(files.Remove(folder + "/" + kRestoringName));
  RETURN_IF_ERROR(files.SyncFolder(folder));
  return copy.progress();
}

// When a store is opened, it removes unknown files below the folder `namespaces` of its directory.
Status Engine::CheckBackupFolder(const std::string& folder) const {
  const auto plain = [](const std::string& path) {
    std::error_code ignored;
    return std::filesystem::weakly_canonical(std::filesystem::absolute(path), ignored);
  };
  const auto within =
      plain(folder).lexically_relative(plain(env_.options.path + "/" + lsm::kNamespacesName));
  if (within.empty() || *within.begin() == "..") return {};
  return Status::InvalidArgument("a backup in " + folder +
                                 " would be removed when the store is opened; choose a folder "
                                 "outside the data directory");
}

Result<CopyProgress> Engine::Backup(const std::string& folder, const CopyWatch& watch) {
  RETURN_IF_ERROR(CheckBackupFolder(folder));
  RETURN_IF_ERROR(compactor_.Flush());
  FileSetState state = file_set_.State();
  state.manifest.logs.clear();  // a backup has no log
  return WriteBackup(env_.files, env_.options.path, state.manifest, env_.clock.NowMs(), folder,
                     watch);
}

}  // namespace hg::engine
