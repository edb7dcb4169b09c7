#pragma once
// A disk in memory that fails in the ways a real one may (the fault model of tests/fault):
//
//   power cut   Content without a later successful Sync of its file is lost from a random byte on,
//               or in random pages. Of created, renamed and removed names without a later
//               SyncFolder, none, the first ones or a random subset take effect.
//   call n      It fails once with an I/O error. A write leaves some of its bytes.
//   full disk   From call n on, every call that needs space fails.
//   read n      It fails once with an I/O error.
//   a lie       Sync returns ok and does nothing, everywhere or at one kind of place. The tests of
//               durability must detect it.

#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <random>
#include <string>
#include <vector>

#include "storage/base/file.h"

namespace hg {

/// The kinds of places at which the engine syncs, as far as a disk can distinguish them.
enum class SyncSite : uint8_t {
  kLogWritten,        // a log file to which writes are appended
  kLogRecovered,      // a log file that was replayed at start
  kCells,             // a cell file
  kPoints,            // a points file
  kReplacement,       // the file that will replace the manifest
  kFolderOfLog,       // names of new log files
  kFolderOfFiles,     // names of new files, before the manifest names them
  kFolderOfManifest,  // the name of the manifest
  kCount
};

/// Thread-safe. Close all files and release all locks before you call PowerCut.
class FaultyFileSystem : public FileSystem {
 public:
  explicit FaultyFileSystem(uint64_t seed) : random_(seed) {}

  /// Returns a new disk with the same content. All content of the new disk is durable.
  [[nodiscard]] FaultyFileSystem Copy() const { return FaultyFileSystem(*this); }

  /// Makes the n-th changing call from now on fail; 0 = none. Restarts the count of calls.
  void FailCall(uint64_t n);
  /// Makes the n-th changing call and all later ones fail, as if the process had died or the power
  /// had failed during the n-th call.
  void DieAtCall(uint64_t n);
  /// Makes calls that need space fail, from the n-th changing call on until FailCall is called.
  void FillUpAtCall(uint64_t n);
  /// Makes the n-th read from now on fail; 0 = none.
  void FailRead(uint64_t n);
  /// Makes all changing calls fail until FailCall is called, as if the process had died.
  void FailAllCalls();
  /// Returns the number of changing calls since the last call of FailCall.
  [[nodiscard]] uint64_t calls() const;
  /// Returns whether the call that FailCall, DieAtCall or FillUpAtCall selected has failed.
  [[nodiscard]] bool failed() const;
  void LieAboutSync(bool lie) { lie_ = lie; }
  void LieAboutSyncAt(SyncSite site) { lie_at_ = site; }
  /// Returns the number of syncs at this kind of place so far.
  [[nodiscard]] uint64_t syncs(SyncSite site) const;
  void PowerCut();
  /// Like PowerCut, but only for the files of one folder, as if the folder were a separate disk.
  void PowerCutBelow(const std::string& folder);
  /// Makes all calls of Link return Unsupported, or work again.
  void CannotLink(bool cannot) { cannot_link_ = cannot; }
  /// Flips one bit of a file's content. The change is durable.
  void FlipBit(const std::string& path, uint64_t byte, int bit);

  Result<std::unique_ptr<File>> Open(const std::string& path, OpenMode mode) override;
  Status Rename(const std::string& from, const std::string& to) override;
  Status Remove(const std::string& path) override;
  Status Link(const std::string& from, const std::string& to) override;
  bool Exists(const std::string& path) override;
  Result<std::vector<std::string>> List(const std::string& folder) override;
  Result<std::vector<std::string>> ListFolders(const std::string& folder) override;
  Status CreateFolder(const std::string&) override { return {}; }
  Status SyncFolder(const std::string& folder) override;
  uint64_t FreeBytes(const std::string& folder) override;
  Result<std::unique_ptr<FileLock>> Lock(const std::string& path, const std::string& note) override;

 private:
  FaultyFileSystem(const FaultyFileSystem& other);
  friend class FaultyFile;
  friend class FaultyLock;
  struct Node {
    Bytes content;
    Bytes durable;
  };
  using Names = std::map<std::string, std::shared_ptr<Node>>;
  // A name that was created (`from` is ""), renamed, or removed (`to` is "").
  struct NameChange {
    std::string from;
    std::string to;
    std::shared_ptr<Node> node;
  };

  // Callers of the following functions must hold mutex_.
  bool Fails(bool needs_room = false);
  bool LiesAt(SyncSite site);
  [[nodiscard]] SyncSite FolderSite(const std::string& folder) const;
  void ReplayNames();
  Bytes AfterCut(const Node& node);

  mutable std::mutex mutex_;
  std::mt19937_64 random_;
  Names names_;
  Names durable_names_;
  std::vector<NameChange> unsynced_names_;  // in the order of the changes
  std::map<std::string, std::string> locks_;
  uint64_t calls_ = 0;
  uint64_t fail_at_ = 0;
  bool failed_ = false;
  bool dead_ = false;
  bool dies_ = false;
  bool full_ = false;
  uint64_t reads_ = 0;
  uint64_t fail_read_at_ = 0;
  bool lie_ = false;
  SyncSite lie_at_ = SyncSite::kCount;
  uint64_t syncs_[static_cast<size_t>(SyncSite::kCount)] = {};
  bool cannot_link_ = false;
};

}  // namespace hg
