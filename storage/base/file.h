#pragma once
// Files as a seam: everything the engine does to a disk passes here, so that tests can put in its
// place a disk that forgets what was not synced, fills up, or fails call n (tests/fault).
//
// What may be relied on after a crash of the process: every WriteAt that returned ok. After a power
// cut: bytes followed by an ok Sync of the file; names (creation, Rename, Remove) followed by an ok
// SyncFolder of their folder. Errors: NotFound (no such file), IoError (message: path, operation,
// errno's text; a full disk is one).

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "storage/base/bytes.h"
#include "storage/base/status.h"

namespace hg {

/// One open file. Thread-safe: positional calls only. Closed when destroyed (closing does not
/// sync).
class File {
 public:
  virtual ~File() = default;
  /// Replaces *out by up to `size` bytes from `offset`; fewer only at the end of the file.
  virtual Status ReadAt(uint64_t offset, size_t size, Bytes* out) const = 0;
  /// Writes all bytes; the file grows as needed. After a failure any part of them may be there.
  virtual Status WriteAt(uint64_t offset, ByteView bytes) = 0;
  /// Reserves room up to `size` bytes and sets the file's length to at least that; new bytes read
  /// as zero.
  virtual Status Allocate(uint64_t size) = 0;
  virtual Status Truncate(uint64_t size) = 0;
  /// Makes content and length durable (fdatasync).
  virtual Status Sync() = 0;
  virtual Result<uint64_t> Size() const = 0;
  /// Tells the machine that what it caches of the file's content will not be read soon; what is not
  /// durable yet stays. A hint: files of other kinds need not care.
  virtual void ForgetCached() const {}
};

/// A held lock; released when destroyed or when the process ends.
class FileLock {
 public:
  virtual ~FileLock() = default;
};

enum class OpenMode {
  kRead,       // must exist
  kReadWrite,  // must exist
  kCreate,     // read and write; must not hold anything: an existing file is emptied
};

/// Thread-safe. Paths are the caller's; folders are separated by '/'.
class FileSystem {
 public:
  virtual ~FileSystem() = default;
  virtual Result<std::unique_ptr<File>> Open(const std::string& path, OpenMode mode) = 0;
  /// Replaces `to` if it exists. Atomic.
  virtual Status Rename(const std::string& from, const std::string& to) = 0;
  virtual Status Remove(const std::string& path) = 0;
  /// Gives the file a second name, which must not exist. Unsupported: this disk cannot, or not
  /// between these two places.
  virtual Status Link(const std::string& from, const std::string& to) {
    return Status::Unsupported(from + ": no second name " + to);
  }
  [[nodiscard]] virtual bool Exists(const std::string& path) = 0;
  /// Names (not paths) of the files of a folder, sorted.
  virtual Result<std::vector<std::string>> List(const std::string& folder) = 0;
  /// Names of the folders in a folder, sorted; none where there is no such folder.
  virtual Result<std::vector<std::string>> ListFolders(const std::string& folder) = 0;
  /// With parents; ok if it is there. Their names are durable.
  virtual Status CreateFolder(const std::string& folder) = 0;
  /// Makes the folder's names durable.
  virtual Status SyncFolder(const std::string& folder) = 0;
  /// What may still be written on the folder's disk; UINT64_MAX: nobody can tell.
  virtual uint64_t FreeBytes(const std::string& folder) { return (void)folder, UINT64_MAX; }
  /// Takes the lock file for this process and writes "<pid> <note>\n" into it. Busy: another
  /// process holds it; the message names that process and its note.
  virtual Result<std::unique_ptr<FileLock>> Lock(const std::string& path,
                                                 const std::string& note) = 0;
};

/// The machine's files. Lives for ever.
FileSystem& PosixFileSystem();

/// Reads a whole small file.
Result<Bytes> ReadWholeFile(FileSystem& files, const std::string& path);
/// Replaces a file whole or not at all: writes "<path>.tmp", syncs, renames, syncs the folder.
Status ReplaceFile(FileSystem& files, const std::string& folder, const std::string& name,
                   ByteView content);
/// Gives `to`, which must not exist, the content of `from`: a second name where the disk can, else
/// a synced copy that appears whole. True = it is a second name. The folder is not synced. `watch`
/// is told the bytes of each piece of a copy; false = stop, which is Unavailable.
Result<bool> LinkOrCopy(FileSystem& files, const std::string& from, const std::string& to,
                        const std::function<bool(uint64_t bytes)>& watch = {});

}  // namespace hg
