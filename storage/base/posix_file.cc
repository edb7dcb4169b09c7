#include <dirent.h>
#include <fcntl.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <utility>

#include "storage/base/file.h"
#include "storage/base/invariant.h"

namespace hg {
namespace {

constexpr size_t kCopyBytes = 1 << 20;

Status Failure(const std::string& path, const char* operation) {
  const int error = errno;
  std::string text = path + ": " + operation + ": " + std::strerror(error);
  return error == ENOENT ? Status::NotFound(std::move(text)) : Status::IoError(std::move(text));
}

class Descriptor {
 public:
  explicit Descriptor(int fd = -1) : fd_(fd) {}
  Descriptor(const Descriptor&) = delete;
  Descriptor& operator=(const Descriptor&) = delete;
  ~Descriptor() { Close(); }
  [[nodiscard]] int get() const { return fd_; }
  /// Sets the descriptor. Call it once, on an object that has none.
  void Set(int fd) { fd_ = fd; }
  void Close() {
    if (fd_ >= 0) ::close(std::exchange(fd_, -1));
  }

 private:
  int fd_;
};

class PosixFile : public File {
 public:
  explicit PosixFile(std::string path) : path_(std::move(path)) {}

  /// Opens the file. Returns false on failure, with the reason in errno. It does not throw, so a
  /// created file is always returned to the caller.
  bool Open(int flags) noexcept {
    fd_.Set(::open(path_.c_str(), flags | O_CLOEXEC, 0644));
    return fd_.get() >= 0;
  }

  Status ReadAt(uint64_t offset, size_t size, Bytes* out) const override {
    out->resize(size);
    size_t done = 0;
    while (done < size) {
      const ssize_t n =
          ::pread(fd_.get(), out->data() + done, size - done, static_cast<off_t>(offset + done));
      if (n < 0 && errno == EINTR) continue;
      if (n < 0) return Failure(path_, "read");
      if (n == 0) break;
      done += static_cast<size_t>(n);
    }
    out->resize(done);
    return {};
  }

  Status WriteAt(uint64_t offset, ByteView bytes) override {
    while (!bytes.empty()) {
      const ssize_t n = ::pwrite(fd_.get(), bytes.data(), bytes.size(), static_cast<off_t>(offset));
      if (n < 0 && errno == EINTR) continue;
      if (n < 0) return Failure(path_, "write");
      bytes.remove_prefix(static_cast<size_t>(n));
      offset += static_cast<uint64_t>(n);
    }
    return {};
  }

  Status Allocate(uint64_t size) override {
    ASSIGN_OR_RETURN(const uint64_t present, Size());
    if (present >= size) return {};
    if (::fallocate(fd_.get(), 0, 0, static_cast<off_t>(size)) == 0) return {};
    if (errno != EOPNOTSUPP && errno != ENOSYS) return Failure(path_, "allocate");
    return Truncate(size);
  }

  Status Truncate(uint64_t size) override {
    if (::ftruncate(fd_.get(), static_cast<off_t>(size)) != 0) return Failure(path_, "truncate");
    return {};
  }

  Status Sync() override {
    if (::fdatasync(fd_.get()) != 0) return Failure(path_, "sync");
    return {};
  }

  Result<uint64_t> Size() const override {
    struct stat info {};
    if (::fstat(fd_.get(), &info) != 0) return Failure(path_, "stat");
    return static_cast<uint64_t>(info.st_size);
  }

  void ForgetCached() const override {
    (void)::posix_fadvise(fd_.get(), 0, 0, POSIX_FADV_DONTNEED);
  }

 private:
  Descriptor fd_;
  const std::string path_;
};

std::string ParentOf(const std::string& path) {
  const size_t slash = path.rfind('/');
  if (slash == std::string::npos) return ".";
  return slash == 0 ? "/" : path.substr(0, slash);
}

// Calls SyncFolder, which opens the folder each time.
class NamedFolder : public Folder {
 public:
  NamedFolder(FileSystem& files, std::string name) : files_(files), name_(std::move(name)) {}
  Status Sync() override { return files_.SyncFolder(name_); }

 private:
  FileSystem& files_;
  const std::string name_;
};

class PosixFolder : public Folder {
 public:
  PosixFolder(int fd, std::string path) : fd_(fd), path_(std::move(path)) {}
  Status Sync() override { return ::fsync(fd_.get()) == 0 ? Status() : Failure(path_, "sync"); }

 private:
  const Descriptor fd_;
  const std::string path_;
};

class PosixScratch : public ScratchFile {
 public:
  PosixScratch(int fd, std::string folder) : fd_(fd), path_(std::move(folder)) {}
  ~PosixScratch() override {
    if (mapped_ != nullptr) ::munmap(mapped_, size_);
  }

  Status Append(ByteView bytes) override {
    INVARIANT(mapped_ == nullptr);
    while (!bytes.empty()) {
      const ssize_t n = ::write(fd_.get(), bytes.data(), bytes.size());
      if (n < 0 && errno == EINTR) continue;
      if (n < 0) return Failure(path_, "write a temporary file");
      bytes.remove_prefix(static_cast<size_t>(n));
      size_ += static_cast<size_t>(n);
    }
    return {};
  }

  Result<ByteView> Map() override {
    INVARIANT(mapped_ == nullptr && size_ > 0);
    // A page that could not be written would be lost without an error when memory is short.
    if (::fdatasync(fd_.get()) != 0) return Failure(path_, "sync a temporary file");
    void* const at = ::mmap(nullptr, size_, PROT_READ, MAP_SHARED, fd_.get(), 0);
    if (at == MAP_FAILED && errno == ENODEV) {
      return Status::Unsupported(path_ + ": files here cannot be mapped");
    }
    if (at == MAP_FAILED) return Failure(path_, "map a temporary file");
    mapped_ = at;
    (void)::madvise(at, size_, MADV_RANDOM);  // no read-ahead for each access
    fd_.Close();                              // the map keeps the file
    return ByteView(static_cast<const char*>(at), size_);
  }

 private:
  Descriptor fd_;
  const std::string path_;  // of the folder, for messages
  size_t size_ = 0;
  void* mapped_ = nullptr;
};

class PosixLock : public FileLock {
 public:
  explicit PosixLock(int fd) : fd_(fd) {}

 private:
  const Descriptor fd_;  // closing the last descriptor releases the flock
};

class Posix : public FileSystem {
 public:
  Result<std::unique_ptr<File>> Open(const std::string& path, OpenMode mode) override {
    const int flags = mode == OpenMode::kRead        ? O_RDONLY
                      : mode == OpenMode::kReadWrite ? O_RDWR
                      : mode == OpenMode::kCreate    ? O_RDWR | O_CREAT | O_TRUNC
                                                     : O_RDWR | O_CREAT | O_EXCL;
    auto file = std::make_unique<PosixFile>(path);
    if (!file->Open(flags)) return Failure(path, "open");
    return std::unique_ptr<File>(std::move(file));
  }

  Status Rename(const std::string& from, const std::string& to) override {
    if (::rename(from.c_str(), to.c_str()) != 0) return Failure(from, "rename");
    return {};
  }

  Status Remove(const std::string& path) override {
    if (::unlink(path.c_str()) != 0) return Failure(path, "remove");
    return {};
  }

  Status Link(const std::string& from, const std::string& to) override {
    if (::link(from.c_str(), to.c_str()) == 0) return {};
    const bool cannot = errno == EXDEV || errno == EPERM || errno == EMLINK ||
                        errno == EOPNOTSUPP || errno == ENOSYS;
    return cannot ? FileSystem::Link(from, to) : Failure(to, "link");
  }

  bool Exists(const std::string& path) override { return ::access(path.c_str(), F_OK) == 0; }

  Result<std::vector<std::string>> List(const std::string& folder) override {
    return ListKind(folder, DT_REG);
  }

  Result<std::vector<std::string>> ListFolders(const std::string& folder) override {
    auto names = ListKind(folder, DT_DIR);
    if (names.status().code() == StatusCode::kNotFound) return std::vector<std::string>();
    return names;
  }

  Status CreateFolder(const std::string& folder) override {
    for (size_t end = folder.find('/', 1);; end = folder.find('/', end + 1)) {
      const std::string part = folder.substr(0, end);
      const bool made = ::mkdir(part.c_str(), 0755) == 0;
      if (!made && errno != EEXIST) return Failure(part, "create");
      if (made) {
        RETURN_IF_ERROR(SyncFolder(ParentOf(part)));
      } else if (end == std::string::npos) {
        // The process that created the folder may have crashed before its name was durable. A
        // failure is ignored, because this process may not be allowed to open the parent folder.
        (void)SyncFolder(ParentOf(part));
      }
      if (end == std::string::npos) return {};
    }
  }

  Status SyncFolder(const std::string& folder) override {
    ASSIGN_OR_RETURN(const auto open, OpenFolder(folder));
    return open->Sync();
  }

  Result<std::unique_ptr<Folder>> OpenFolder(const std::string& folder) override {
    const int fd = ::open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (fd < 0) return Failure(folder, "open");
    return std::unique_ptr<Folder>(std::make_unique<PosixFolder>(fd, folder));
  }

  uint64_t FreeBytes(const std::string& folder) override {
    struct statvfs disk {};
    if (::statvfs(folder.c_str(), &disk) != 0) return UINT64_MAX;
    return uint64_t{disk.f_bavail} * disk.f_frsize;
  }

  Result<std::unique_ptr<ScratchFile>> MakeScratch(const std::string& folder) override {
    const int fd = ::open(folder.c_str(), O_TMPFILE | O_RDWR | O_CLOEXEC, 0600);
    if (fd >= 0) return std::unique_ptr<ScratchFile>(std::make_unique<PosixScratch>(fd, folder));
    // Kernels and file systems without O_TMPFILE report one of these errors.
    const bool unknown = errno == EOPNOTSUPP || errno == EISDIR || errno == EINVAL;
    return unknown ? FileSystem::MakeScratch(folder) : Failure(folder, "create a temporary file");
  }

  Result<std::unique_ptr<FileLock>> Lock(const std::string& path,
                                         const std::string& note) override {
    const int fd = ::open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0644);
    if (fd < 0) return Failure(path, "open");
    auto lock = std::make_unique<PosixLock>(fd);
    if (::flock(fd, LOCK_EX | LOCK_NB) != 0) {
      if (errno != EWOULDBLOCK) return Failure(path, "lock");
      return Status::Busy(path + ": in use by process " + Holder(fd));
    }
    const std::string text = std::to_string(::getpid()) + " " + note + "\n";
    if (::ftruncate(fd, 0) != 0 || ::pwrite(fd, text.data(), text.size(), 0) < 0) {
      return Failure(path, "write");
    }
    return std::unique_ptr<FileLock>(std::move(lock));
  }

 private:
  // Some file systems do not report the kind of a file. Then fstatat is called for each name.
  static Result<std::vector<std::string>> ListKind(const std::string& folder, unsigned char kind) {
    DIR* dir = ::opendir(folder.c_str());
    if (dir == nullptr) return Failure(folder, "list");
    std::vector<std::string> names;
    // readdir leaves errno unchanged at the end. A list that ends with an error must not look
    // complete.
    const dirent* entry;
    while (errno = 0, (entry = ::readdir(dir)) != nullptr) {
      unsigned char found = entry->d_type;
      struct stat about {};
      if (found == DT_UNKNOWN && ::fstatat(::dirfd(dir), entry->d_name, &about, 0) == 0) {
        found = IFTODT(about.st_mode);
      }
      if (found == kind) names.emplace_back(entry->d_name);
    }
    const Status failed = errno != 0 ? Failure(folder, "list") : Status();
    ::closedir(dir);
    RETURN_IF_ERROR(failed);
    std::erase_if(names, [](const std::string& name) { return name == "." || name == ".."; });
    std::sort(names.begin(), names.end());
    return names;
  }

  // Returns the process in the lock file as "<pid>" or "<pid> (<note>)".
  static std::string Holder(int fd) {
    char text[256] = {};
    const ssize_t n = ::pread(fd, text, sizeof text - 1, 0);
    std::string line(text, n > 0 ? static_cast<size_t>(n) : 0);
    while (!line.empty() && (line.back() == '\n' || line.back() == ' ')) line.pop_back();
    const size_t space = line.find(' ');
    if (space == std::string::npos) return line.empty() ? "unknown" : line;
    return line.substr(0, space) + " (" + line.substr(space + 1) + ")";
  }
};

}  // namespace

FileSystem& PosixFileSystem() {
  static Posix files;
  return files;
}

Result<std::unique_ptr<Folder>> FileSystem::OpenFolder(const std::string& folder) {
  return std::unique_ptr<Folder>(std::make_unique<NamedFolder>(*this, folder));
}

Result<Bytes> ReadWholeFile(FileSystem& files, const std::string& path) {
  ASSIGN_OR_RETURN(const auto file, files.Open(path, OpenMode::kRead));
  ASSIGN_OR_RETURN(const uint64_t size, file->Size());
  Bytes content;
  RETURN_IF_ERROR(file->ReadAt(0, size, &content));
  return content;
}

Status ReplaceFile(FileSystem& files, const std::string& folder, const std::string& name,
                   ByteView content) {
  const std::string path = folder + "/" + name;
  const std::string temporary = path + ".tmp";
  {
    ASSIGN_OR_RETURN(const auto file, files.Open(temporary, OpenMode::kCreate));
    RETURN_IF_ERROR(file->WriteAt(0, content));
    RETURN_IF_ERROR(file->Sync());
  }
  RETURN_IF_ERROR(files.Rename(temporary, path));
  return files.SyncFolder(folder);
}

Result<bool> LinkOrCopy(FileSystem& files, const std::string& from, const std::string& to,
                        const std::function<bool(uint64_t bytes)>& watch) {
  const Status linked = files.Link(from, to);
  if (linked.ok()) return true;
  if (linked.code() != StatusCode::kUnsupported) return linked;
  const std::string temporary = to + ".tmp";
  {
    ASSIGN_OR_RETURN(const auto in, files.Open(from, OpenMode::kRead));
    ASSIGN_OR_RETURN(const auto out, files.Open(temporary, OpenMode::kCreate));
    Bytes piece;
    for (uint64_t at = 0;; at += piece.size()) {
      RETURN_IF_ERROR(in->ReadAt(at, kCopyBytes, &piece));
      if (piece.empty()) break;
      RETURN_IF_ERROR(out->WriteAt(at, piece));
      if (watch && !watch(piece.size()))
        return Status::Unavailable("the copy was stopped before its end");
    }
    RETURN_IF_ERROR(out->Sync());
  }
  RETURN_IF_ERROR(files.Rename(temporary, to));
  return false;
}

}  // namespace hg
