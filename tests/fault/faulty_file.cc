#include "tests/fault/faulty_file.h"

#include <algorithm>

namespace hg {
namespace {

constexpr size_t kPageBytes = 4096;

Status Injected(const std::string& path) { return Status::IoError(path + ": injected failure"); }

}  // namespace

class FaultyFile : public File {
 public:
  FaultyFile(FaultyFileSystem& disk, std::shared_ptr<FaultyFileSystem::Node> node, std::string path)
      : disk_(disk), node_(std::move(node)), path_(std::move(path)) {}

  Status ReadAt(uint64_t offset, size_t size, Bytes* out) const override {
    std::lock_guard lock(disk_.mutex_);
    out->clear();
    if (offset < node_->content.size()) *out = node_->content.substr(offset, size);
    return {};
  }

  Status WriteAt(uint64_t offset, ByteView bytes) override {
    std::lock_guard lock(disk_.mutex_);
    const bool fails = disk_.Fails();
    if (fails) bytes = bytes.substr(0, disk_.dead_ ? 0 : disk_.random_() % (bytes.size() + 1));
    if (node_->content.size() < offset + bytes.size()) node_->content.resize(offset + bytes.size());
    std::copy(bytes.begin(), bytes.end(), node_->content.begin() + static_cast<ptrdiff_t>(offset));
    return fails ? Injected(path_) : Status();
  }

  Status Allocate(uint64_t size) override {
    std::lock_guard lock(disk_.mutex_);
    if (disk_.Fails()) return Injected(path_);
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
    if (!disk_.lie_) node_->durable = node_->content;
    return {};
  }

  Result<uint64_t> Size() const override {
    std::lock_guard lock(disk_.mutex_);
    return static_cast<uint64_t>(node_->content.size());
  }

 private:
  FaultyFileSystem& disk_;
  const std::shared_ptr<FaultyFileSystem::Node> node_;
  const std::string path_;
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

bool FaultyFileSystem::Fails() {
  if (dead_) return true;
  if (++calls_ != fail_at_) return false;
  failed_ = true;
  return true;
}

void FaultyFileSystem::FailCall(uint64_t n) {
  std::lock_guard lock(mutex_);
  calls_ = 0;
  fail_at_ = n;
  failed_ = false;
  dead_ = false;
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

// What is synced is kept. Of the rest either a beginning arrived, or any of its pages.
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

void FaultyFileSystem::PowerCut() {
  std::lock_guard lock(mutex_);
  names_ = durable_names_;
  for (auto& [path, node] : names_) {
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
  if (mode == OpenMode::kCreate) {
    if (Fails()) return Injected(path);
    if (it == names_.end()) it = names_.emplace(path, std::make_shared<Node>()).first;
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
  names_[to] = std::move(node);
  return {};
}

Status FaultyFileSystem::Remove(const std::string& path) {
  std::lock_guard lock(mutex_);
  if (Fails()) return Injected(path);
  return names_.erase(path) > 0 ? Status() : Status::NotFound(path + ": no such file");
}

bool FaultyFileSystem::Exists(const std::string& path) {
  std::lock_guard lock(mutex_);
  return names_.count(path) > 0;
}

Result<std::vector<std::string>> FaultyFileSystem::List(const std::string& folder) {
  std::lock_guard lock(mutex_);
  std::vector<std::string> found;
  for (const auto& [path, node] : names_) {
    if (path.substr(0, folder.size() + 1) == folder + "/") {
      found.push_back(path.substr(folder.size() + 1));
    }
  }
  return found;
}

Status FaultyFileSystem::SyncFolder(const std::string& folder) {
  std::lock_guard lock(mutex_);
  if (Fails()) return Injected(folder);
  if (lie_) return {};
  auto inside = [&](const std::string& path) {
    return path.substr(0, folder.size() + 1) == folder + "/";
  };
  std::erase_if(durable_names_, [&](const auto& entry) { return inside(entry.first); });
  for (const auto& [path, node] : names_) {
    if (inside(path)) durable_names_[path] = node;
  }
  return {};
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
