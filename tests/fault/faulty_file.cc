#include "tests/fault/faulty_file.h"

#include <algorithm>
#include <set>

namespace hg {
namespace {

constexpr size_t kPageBytes = 4096;

Status Injected(const std::string& path) { return Status::IoError(path + ": injected failure"); }

// Files of the folder itself, not of its subfolders.
bool StandsIn(const std::string& folder, const std::string& path) {
  return path.starts_with(folder + "/") && path.find('/', folder.size() + 1) == std::string::npos;
}

}  // namespace

class FaultyFile : public File {
 public:
  FaultyFile(FaultyFileSystem& disk, std::shared_ptr<FaultyFileSystem::Node> node, std::string path)
      : disk_(disk), node_(std::move(node)), path_(std::move(path)) {}

  Status ReadAt(uint64_t offset, size_t size, Bytes* out) const override {
    std::lock_guard lock(disk_.mutex_);
    if (++disk_.reads_ == disk_.fail_read_at_) return Injected(path_);
    out->clear();
    if (offset < node_->content.size()) *out = node_->content.substr(offset, size);
    return {};
  }

  Status WriteAt(uint64_t offset, ByteView bytes) override {
    std::lock_guard lock(disk_.mutex_);
    written_ = true;
    const bool fails = disk_.Fails(node_->content.size() < offset + bytes.size());
    if (fails) bytes = bytes.substr(0, disk_.dead_ ? 0 : disk_.random_() % (bytes.size() + 1));
    if (node_->content.size() < offset + bytes.size()) node_->content.resize(offset + bytes.size());
    std::copy(bytes.begin(), bytes.end(), node_->content.begin() + static_cast<ptrdiff_t>(offset));
    return fails ? Injected(path_) : Status();
  }

  Status Allocate(uint64_t size) override {
    std::lock_guard lock(disk_.mutex_);
    if (disk_.Fails(node_->content.size() < size)) return Injected(path_);
    if (node_->content.size() < size) node_->content.resize(size);
    return {};
  }

  Status Truncate(uint64_t size) override {
    std::lock_guard lock(disk_.mutex_);
    if (disk_.Fails()) return Injected(path_);
    node_->content.resize(size);
    return {};
  }

  Status Sync() override {
    std::lock_guard lock(disk_.mutex_);
    if (disk_.Fails()) return Injected(path_);
    if (!disk_.LiesAt(Site())) node_->durable = node_->content;
    return {};
  }

  Result<uint64_t> Size() const override {
    std::lock_guard lock(disk_.mutex_);
    return static_cast<uint64_t>(node_->content.size());
  }

 private:
  [[nodiscard]] SyncSite Site() const {
    if (path_.ends_with(".cells")) return SyncSite::kCells;
    if (path_.ends_with(".points")) return SyncSite::kPoints;
    if (!path_.ends_with(".log")) return SyncSite::kReplacement;
    return written_ ? SyncSite::kLogWritten : SyncSite::kLogRecovered;
  }

  FaultyFileSystem& disk_;
  const std::shared_ptr<FaultyFileSystem::Node> node_;
  const std::string path_;
  bool written_ = false;  // written through this handle
};

class FaultyLock : public FileLock {
 public:
  FaultyLock(FaultyFileSystem& disk, std::string path) : disk_(disk), path_(std::move(path)) {}
  ~FaultyLock() override {
    std::lock_guard lock(disk_.mutex_);
    disk_.locks_.erase(path_);
  }

 private:
  FaultyFileSystem& disk_;
  const std::string path_;
};

// Its content is lost with the object, so a power cut needs no simulation.
class FaultyScratch : public ScratchFile {
 public:
  FaultyScratch(FaultyFileSystem& disk, std::string folder)
      : disk_(disk), folder_(std::move(folder)) {}

  Status Append(ByteView bytes) override {
    std::lock_guard lock(disk_.mutex_);
    if (disk_.Fails(true)) return Injected(folder_);
    content_.append(bytes);
    return {};
  }
  Result<ByteView> Map() override {
    std::lock_guard lock(disk_.mutex_);
    if (disk_.Fails(true)) return Injected(folder_);
    return ByteView(content_);
  }

 private:
  FaultyFileSystem& disk_;
  const std::string folder_;
  Bytes content_;
};

FaultyFileSystem::FaultyFileSystem(const FaultyFileSystem& other) {
  std::lock_guard lock(other.mutex_);
  random_ = other.random_;
  for (const auto& [path, node] : other.names_) {
    names_[path] = std::make_shared<Node>(Node{node->content, node->content});
  }
  durable_names_ = names_;
}

bool FaultyFileSystem::Fails(bool needs_room) {
  if (dead_) return true;
  ++calls_;
  if (full_ ? calls_ < fail_at_ || !needs_room : calls_ != fail_at_) return false;
  failed_ = true;
  dead_ = dies_;
  return true;
}

uint64_t FaultyFileSystem::FreeBytes(const std::string&) {
  std::lock_guard lock(mutex_);
  return full_ && calls_ + 1 >= fail_at_ ? 0 : UINT64_MAX;
}

bool FaultyFileSystem::LiesAt(SyncSite site) {
  ++syncs_[static_cast<size_t>(site)];
  return lie_ || site == lie_at_;
}

uint64_t FaultyFileSystem::syncs(SyncSite site) const {
  std::lock_guard lock(mutex_);
  return syncs_[static_cast<size_t>(site)];
}

// Returns the kind of a sync of this folder, determined by the names in it that changed since the
// previous sync.
SyncSite FaultyFileSystem::FolderSite(const std::string& folder) const {
  const auto any = [&](const auto& holds) {
    return std::any_of(unsynced_names_.begin(), unsynced_names_.end(), [&](const auto& change) {
      return StandsIn(folder, change.to) && holds(change.to);
    });
  };
  if (any([](const std::string& name) { return name.ends_with("/MANIFEST"); })) {
    return SyncSite::kFolderOfManifest;
  }
  if (any([](const std::string& name) {
        return name.ends_with(".cells") || name.ends_with(".points");
      })) {
    return SyncSite::kFolderOfFiles;
  }
  return any([](const std::string& name) { return name.ends_with(".log"); })
             ? SyncSite::kFolderOfLog
             : SyncSite::kFolderOfFiles;
}

void FaultyFileSystem::FailCall(uint64_t n) {
  std::lock_guard lock(mutex_);
  calls_ = 0;
  fail_at_ = n;
  failed_ = false;
  dead_ = false;
  dies_ = false;
  full_ = false;
}

void FaultyFileSystem::DieAtCall(uint64_t n) {
  FailCall(n);
  std::lock_guard lock(mutex_);
  dies_ = true;
}

void FaultyFileSystem::FillUpAtCall(uint64_t n) {
  FailCall(n);
  std::lock_guard lock(mutex_);
  full_ = true;
}

void FaultyFileSystem::FailRead(uint64_t n) {
  std::lock_guard lock(mutex_);
  reads_ = 0;
  fail_read_at_ = n;
}

void FaultyFileSystem::FailAllCalls() {
  std::lock_guard lock(mutex_);
  dead_ = true;
}

uint64_t FaultyFileSystem::calls() const {
  std::lock_guard lock(mutex_);
  return calls_;
}

bool FaultyFileSystem::failed() const {
  std::lock_guard lock(mutex_);
  return failed_;
}

// Synced content survives. Of unsynced content, either a prefix or any of its pages survives.
Bytes FaultyFileSystem::AfterCut(const Node& node) {
  Bytes result = node.durable;
  if (node.content == node.durable) return result;
  const size_t size = random_() % 2 == 0 ? node.content.size() : node.durable.size();
  result.resize(size);
  const size_t shared = std::min(size, node.content.size());
  const bool prefix = random_() % 2 == 0;
  const size_t end = prefix ? random_() % (shared + 1) : shared;
  for (size_t at = 0; at < end; at += kPageBytes) {
    if (!prefix && random_() % 2 == 0) continue;
    const size_t n = std::min(kPageBytes, end - at);
    result.replace(at, n, node.content, at, n);
  }
  return result;
}

// Decides which changed names survive: none, a prefix or any subset. A change that depends on a
// lost change is lost too.
void FaultyFileSystem::ReplayNames() {
  names_ = durable_names_;
  const uint64_t how = random_() % 3;
  const size_t end = how == 1 ? random_() % (unsynced_names_.size() + 1) : unsynced_names_.size();
  for (size_t i = 0; how != 0 && i < end; ++i) {
    const NameChange& change = unsynced_names_[i];
    if (how == 2 && random_() % 2 == 0) continue;
    if (!change.from.empty()) {
      auto it = names_.find(change.from);
      if (it == names_.end() || it->second != change.node) continue;
      names_.erase(it);
    }
    if (!change.to.empty()) names_[change.to] = change.node;
  }
  unsynced_names_.clear();
  durable_names_ = names_;
}

void FaultyFileSystem::PowerCut() {
  std::lock_guard lock(mutex_);
  ReplayNames();
  for (auto& [path, node] : names_) {
    node->content = AfterCut(*node);
    node->durable = node->content;
  }
}

void FaultyFileSystem::PowerCutBelow(const std::string& folder) {
  std::lock_guard lock(mutex_);
  const auto inside = [&](const auto& entry) { return entry.first.starts_with(folder + "/"); };
  std::erase_if(names_, inside);
  for (const auto& entry : durable_names_) {
    if (inside(entry)) names_.insert(entry);
  }
  std::erase_if(unsynced_names_, [&](const NameChange& change) {
    return (change.to.empty() ? change.from : change.to).starts_with(folder + "/");
  });
  for (auto& [path, node] : names_) {
    if (!path.starts_with(folder + "/")) continue;
    node->content = AfterCut(*node);
    node->durable = node->content;
  }
}

void FaultyFileSystem::FlipBit(const std::string& path, uint64_t byte, int bit) {
  std::lock_guard lock(mutex_);
  Node& node = *names_.at(path);
  node.content.at(byte) = static_cast<char>(node.content.at(byte) ^ (1 << bit));
  node.durable = node.content;
}

Result<std::unique_ptr<File>> FaultyFileSystem::Open(const std::string& path, OpenMode mode) {
  std::lock_guard lock(mutex_);
  auto it = names_.find(path);
  if (mode == OpenMode::kCreate || mode == OpenMode::kCreateNew) {
    if (Fails(true)) return Injected(path);
    if (mode == OpenMode::kCreateNew && it != names_.end()) {
      return Status::IoError(path + ": exists");
    }
    if (it == names_.end()) {
      it = names_.emplace(path, std::make_shared<Node>()).first;
      unsynced_names_.push_back({"", path, it->second});
    }
    it->second->content.clear();
  } else if (it == names_.end()) {
    return Status::NotFound(path + ": no such file");
  }
  return std::unique_ptr<File>(std::make_unique<FaultyFile>(*this, it->second, path));
}

Status FaultyFileSystem::Rename(const std::string& from, const std::string& to) {
  std::lock_guard lock(mutex_);
  if (Fails()) return Injected(from);
  auto it = names_.find(from);
  if (it == names_.end()) return Status::NotFound(from + ": no such file");
  auto node = it->second;
  names_.erase(it);
  unsynced_names_.push_back({from, to, node});
  names_[to] = std::move(node);
  return {};
}

Status FaultyFileSystem::Remove(const std::string& path) {
  std::lock_guard lock(mutex_);
  if (Fails()) return Injected(path);
  auto it = names_.find(path);
  if (it == names_.end()) return Status::NotFound(path + ": no such file");
  unsynced_names_.push_back({path, "", it->second});
  names_.erase(it);
  return {};
}

Status FaultyFileSystem::Link(const std::string& from, const std::string& to) {
  std::lock_guard lock(mutex_);
  if (cannot_link_) return FileSystem::Link(from, to);
  if (Fails(true)) return Injected(to);
  auto it = names_.find(from);
  if (it == names_.end()) return Status::NotFound(from + ": no such file");
  if (names_.count(to) > 0) return Status::IoError(to + ": exists");
  unsynced_names_.push_back({"", to, it->second});
  names_[to] = it->second;
  return {};
}

bool FaultyFileSystem::Exists(const std::string& path) {
  std::lock_guard lock(mutex_);
  return names_.count(path) > 0;
}

Result<std::vector<std::string>> FaultyFileSystem::List(const std::string& folder) {
  std::lock_guard lock(mutex_);
  std::vector<std::string> found;
  for (const auto& [path, node] : names_) {
    if (StandsIn(folder, path)) found.push_back(path.substr(folder.size() + 1));
  }
  return found;
}

Result<std::vector<std::string>> FaultyFileSystem::ListFolders(const std::string& folder) {
  std::lock_guard lock(mutex_);
  std::set<std::string> found;
  for (const auto& [path, node] : names_) {
    const size_t slash = path.find('/', folder.size() + 1);
    if (path.starts_with(folder + "/") && slash != std::string::npos) {
      found.insert(path.substr(folder.size() + 1, slash - folder.size() - 1));
    }
  }
  return std::vector<std::string>(found.begin(), found.end());
}

Status FaultyFileSystem::SyncFolder(const std::string& folder) {
  std::lock_guard lock(mutex_);
  if (Fails()) return Injected(folder);
  if (LiesAt(FolderSite(folder))) return {};
  std::erase_if(unsynced_names_, [&](const NameChange& change) {
    return StandsIn(folder, change.to.empty() ? change.from : change.to);
  });
  std::erase_if(durable_names_, [&](const auto& entry) { return StandsIn(folder, entry.first); });
  for (const auto& [path, node] : names_) {
    if (StandsIn(folder, path)) durable_names_[path] = node;
  }
  return {};
}

Result<std::unique_ptr<ScratchFile>> FaultyFileSystem::MakeScratch(const std::string& folder) {
  std::lock_guard lock(mutex_);
  if (cannot_make_scratch_) return FileSystem::MakeScratch(folder);
  if (Fails(true)) return Injected(folder);
  return std::unique_ptr<ScratchFile>(std::make_unique<FaultyScratch>(*this, folder));
}

Result<std::unique_ptr<FileLock>> FaultyFileSystem::Lock(const std::string& path,
                                                         const std::string& note) {
  std::lock_guard lock(mutex_);
  if (auto [it, fresh] = locks_.try_emplace(path, note); !fresh) {
    return Status::Busy(path + ": in use (" + it->second + ")");
  }
  return std::unique_ptr<FileLock>(std::make_unique<FaultyLock>(*this, path));
}

}  // namespace hg
