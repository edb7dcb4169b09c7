#pragma once
// A disk in memory that behaves as badly as a real one may (the fault model of tests/fault):
//
//   power cut   content that was not followed by an ok Sync of its file is lost from some byte on,
//   or page by page, by
//               chance; names not followed by an ok SyncFolder go back to what they were
//   call n      fails once with an I/O error; a write then leaves some of its bytes
//   a lie       Sync says ok and does nothing: the canary, which every test of durability must
//   notice

#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <random>
#include <string>
#include <vector>

#include "storage/base/file.h"

namespace hg {

/// Thread-safe. Open files and locks must be gone before PowerCut.
class FaultyFileSystem : public FileSystem {
 public:
  explicit FaultyFileSystem(uint64_t seed) : random_(seed) {}

  /// The n-th call from now on that changes something fails; 0 = none. Counting starts anew.
  void FailCall(uint64_t n);
  /// All calls that change something fail until FailCall: the process is as good as dead.
  void FailAllCalls();
  /// Calls that change something since FailCall.
  [[nodiscard]] uint64_t calls() const;
  /// True once the call has failed.
  [[nodiscard]] bool failed() const;
  void LieAboutSync(bool lie) { lie_ = lie; }
  void PowerCut();
  /// Flips one bit of a file's content, durably.
  void FlipBit(const std::string& path, uint64_t byte, int bit);

  Result<std::unique_ptr<File>> Open(const std::string& path, OpenMode mode) override;
  Status Rename(const std::string& from, const std::string& to) override;
  Status Remove(const std::string& path) override;
  bool Exists(const std::string& path) override;
  Result<std::vector<std::string>> List(const std::string& folder) override;
  Status CreateFolder(const std::string&) override { return {}; }
  Status SyncFolder(const std::string& folder) override;
  Result<std::unique_ptr<FileLock>> Lock(const std::string& path, const std::string& note) override;

 private:
  friend class FaultyFile;
  friend class FaultyLock;
  struct Node {
    Bytes content;
    Bytes durable;
  };
  using Names = std::map<std::string, std::shared_ptr<Node>>;

  // All expect mutex_ to be held.
  bool Fails();
  Bytes AfterCut(const Node& node);

  mutable std::mutex mutex_;
  std::mt19937_64 random_;
  Names names_;
  Names durable_names_;
  std::map<std::string, std::string> locks_;
  uint64_t calls_ = 0;
  uint64_t fail_at_ = 0;
  bool failed_ = false;
  bool dead_ = false;
  bool lie_ = false;
};

}  // namespace hg
