#pragma once
// The interface for files. The engine does all its disk access through this interface. Tests
// replace the real disk by one that loses data that was not synced, becomes full, or fails at a
// given call (tests/fault).
//
// Guarantees:
// - After a crash of the process, every WriteAt that returned ok is kept.
// - After a power failure, bytes are kept if a Sync of the file succeeded after the write.
// - After a power failure, names (creation, Rename, Remove) are kept if a SyncFolder of their
//   folder succeeded afterwards.
//
// Functions report errors as NotFound (no such file) or IoError. The message of an IoError holds
// the path, the operation and the text of errno. A full disk is an IoError.

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "storage/base/bytes.h"
#include "storage/base/status.h"

namespace hg {

/// One open file. Thread-safe, because every call states its offset in the file. The destructor
/// closes the file without syncing it.
class File {
 public:
  virtual ~File() = default;
  /// Reads up to `size` bytes from `offset` and stores them in *out, replacing its content. Reads
  /// fewer bytes than `size` only if the file ends before offset + size.
  virtual Status ReadAt(uint64_t offset, size_t size, Bytes* out) const = 0;
  /// Writes all bytes at `offset`. The file grows as needed. After a failure, any part of the bytes
  /// may have been written.
  virtual Status WriteAt(uint64_t offset, ByteView bytes) = 0;
  /// Reserves disk space for the first `size` bytes of the file, and extends the file to at least
  /// `size` bytes. The new bytes are zero.
  virtual Status Allocate(uint64_t size) = 0;
  virtual Status Truncate(uint64_t size) = 0;
  /// Makes the content and the length of the file durable (fdatasync).
  virtual Status Sync() = 0;
  virtual Result<uint64_t> Size() const = 0;
  /// Advises the operating system to drop the cached content of the file, because the content will
  /// not be read soon. Data that is not yet durable stays cached. The call is a hint, which
  /// implementations may ignore.
  virtual void ForgetCached() const {}
};

/// A temporary file without a name. Its disk space is free again when the object is destroyed or
/// the process ends. Not thread-safe before Map; afterwards the content does not change.
class ScratchFile {
 public:
  virtual ~ScratchFile() = default;
  virtual Status Append(ByteView bytes) = 0;
  /// Maps the content into memory. Call this function once, after the last Append. The view is
  /// valid as long as the object. The operating system reads a page of the view from the disk when
  /// the page is accessed, and drops pages again when memory is short. If the disk then cannot be
  /// read, the process ends by SIGBUS.
  virtual Result<ByteView> Map() = 0;
};

/// A lock that this process holds. The lock is released when the object is destroyed or the process
/// ends.
class FileLock {
 public:
  virtual ~FileLock() = default;
};

enum class OpenMode {
  kRead,       // the file must exist
  kReadWrite,  // the file must exist
  kCreate,     // read and write; an existing file is emptied
  kCreateNew,  // read and write; if the file exists, Open returns IoError
};

/// An open folder, which can be synced. Folder is thread-safe.
class Folder {
 public:
  virtual ~Folder() = default;
  /// Makes the names in the folder durable, as FileSystem::SyncFolder does. Sync works even if the
  /// process has no free file descriptors, because it opens no file.
  virtual Status Sync() = 0;
};

/// The files and folders of a machine. Thread-safe. The caller chooses the paths, in which '/'
/// separates folders.
class FileSystem {
 public:
  virtual ~FileSystem() = default;
  virtual Result<std::unique_ptr<File>> Open(const std::string& path, OpenMode mode) = 0;
  /// Renames a file atomically. If a file `to` exists, it is replaced.
  virtual Status Rename(const std::string& from, const std::string& to) = 0;
  virtual Status Remove(const std::string& path) = 0;
  /// Creates a hard link `to`, which must not exist, to the file `from`. Returns Unsupported if the
  /// file system cannot create links, or cannot create them between the folders of `from` and `to`.
  virtual Status Link(const std::string& from, const std::string& to) {
    return Status::Unsupported(from + ": no second name " + to);
  }
  [[nodiscard]] virtual bool Exists(const std::string& path) = 0;
  /// Returns the sorted names (not paths) of the files in a folder.
  virtual Result<std::vector<std::string>> List(const std::string& folder) = 0;
  /// Returns the sorted names of the subfolders of a folder. Returns an empty list if the folder
  /// does not exist.
  virtual Result<std::vector<std::string>> ListFolders(const std::string& folder) = 0;
  /// Creates the folder and its parents, and makes their names durable. Returns ok if the folder
  /// already exists.
  virtual Status CreateFolder(const std::string& folder) = 0;
  /// Makes the names of files and folders in the folder durable.
  virtual Status SyncFolder(const std::string& folder) = 0;
  /// Opens a folder for callers that sync it repeatedly. The file system must outlive the result.
  virtual Result<std::unique_ptr<Folder>> OpenFolder(const std::string& folder);
  /// Creates a temporary file on the disk of the folder. Returns Unsupported if the file system has
  /// no files without a name.
  virtual Result<std::unique_ptr<ScratchFile>> MakeScratch(const std::string& folder) {
    return Status::Unsupported(folder + ": no temporary files here");
  }
  /// Returns the number of free bytes on the disk of the folder, or UINT64_MAX if the number is
  /// unknown.
  virtual uint64_t FreeBytes(const std::string& folder) { return (void)folder, UINT64_MAX; }
  /// Takes the lock file for this process and writes "<pid> <note>\n" into it. If another process
  /// holds the lock file, returns Busy with that process id and note in the error message.
  virtual Result<std::unique_ptr<FileLock>> Lock(const std::string& path,
                                                 const std::string& note) = 0;
};

/// Returns the file system of the machine. This object is never destroyed.
FileSystem& PosixFileSystem();

/// Reads a whole small file.
Result<Bytes> ReadWholeFile(FileSystem& files, const std::string& path);
/// Replaces a file atomically: writes "<path>.tmp", syncs it, renames it and syncs the folder.
Status ReplaceFile(FileSystem& files, const std::string& folder, const std::string& name,
                   ByteView content);
/// Creates the file `to`, which must not exist, with the content of the file `from`. If the file
/// system can, LinkOrCopy creates a hard link. Otherwise it writes and syncs a temporary copy and
/// renames the copy to `to`. Returns true for a hard link and false for a copy. The folder of `to`
/// is not synced. During a copy, LinkOrCopy calls `watch` with the size of each copied piece. If
/// `watch` returns false, the copy stops and LinkOrCopy returns Unavailable.
Result<bool> LinkOrCopy(FileSystem& files, const std::string& from, const std::string& to,
                        const std::function<bool(uint64_t bytes)>& watch = {});

}  // namespace hg
