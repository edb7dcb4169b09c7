#pragma once
// A disk in memory that fails in the ways in which a real disk may fail (the fault model of
// tests/fault):
//
//   power cut   If a file has content without a later successful Sync, this content is lost from a
//               random byte on, or in random pages. If names were created, renamed or removed
//               without a later SyncFolder, none of these changes, the first ones or a random
//               subset of them take effect.
//   call n      The changing call n fails once with an I/O error. A write leaves some of its bytes.
//   full disk   From call n on, every call that needs space fails.
//   read n      The read n fails once with an I/O error.
//   a lie       Sync returns OK and does nothing, everywhere or at one kind of place. The tests of
//               durability must detect this.

#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <random>
#include <string>
#include <vector>

#include "storage/base/file.h"

namespace hg {

/// The kinds of files and folders that the engine syncs. The disk distinguishes them by their
/// names.
enum class SyncSite : uint8_t {
  kLogWritten,        // a log file to which writes were appended since it was opened
  kLogRecovered,      // a log file that was replayed when the store was opened, and not written
  kCells,             // a file with cells
  kPoints,            // a file with points
  kReplacement,       // the new manifest file, before it replaces the old one
  kFolderOfLog,       // the folder, after new log files were created
  kFolderOfFiles,     // the folder, after new files were created that the manifest will list
  kFolderOfManifest,  // the folder, after the manifest file was replaced
  kCount
};

/// A disk in memory that fails as a test requests. Thread-safe. Close all files and release all
/// locks before you call PowerCut.
class FaultyFileSystem : public FileSystem {
 public:
  explicit FaultyFileSystem(uint64_t seed) : random_(seed) {}

  /// Returns a new disk with the same content. All content of the new disk is durable.
  [[nodiscard]] FaultyFileSystem Copy() const { return FaultyFileSystem(*this); }

  /// Makes the n-th changing call from now on fail; if n is 0, no call fails. Also ends the effects
  /// of earlier calls of FailCall, DieAtCall, FillUpAtCall and FailAllCalls, and sets calls() to 0.
  void FailCall(uint64_t n);
  /// Makes the n-th changing call from now on and all changing calls after it fail, as if the
  /// process had died or the power had failed during the n-th call. FailCall ends this.
  void DieAtCall(uint64_t n);
  /// Makes the disk full from the n-th changing call from now on: each call that needs space fails,
  /// until FailCall is called.
  void FillUpAtCall(uint64_t n);
  /// Makes the n-th read from now on fail; if n is 0, no read fails.
  void FailRead(uint64_t n);
  /// Makes all changing calls fail from now on, as if the process had died. FailCall ends this.
  void FailAllCalls();
  /// Returns the number of changing calls since the previous call of FailCall, DieAtCall or
  /// FillUpAtCall.
  [[nodiscard]] uint64_t calls() const;
  /// Returns whether a call has failed because of FailCall, DieAtCall or FillUpAtCall.
  [[nodiscard]] bool failed() const;
  void LieAboutSync(bool lie) { lie_ = lie; }
  void LieAboutSyncAt(SyncSite site) { lie_at_ = site; }
  /// Returns the number of syncs of this kind of file or folder since the disk was created.
  [[nodiscard]] uint64_t syncs(SyncSite site) const;
  void PowerCut();
  /// Simulates a power cut only for the files in one folder, as if the folder were on a disk of its
  /// own.
  void PowerCutBelow(const std::string& folder);
  /// If `cannot` is true, all calls of Link return Unsupported. Otherwise, Link works.
  void CannotLink(bool cannot) { cannot_link_ = cannot; }
  /// If `cannot` is true, MakeScratch returns Unsupported.
  void CannotMakeScratch(bool cannot) { cannot_make_scratch_ = cannot; }
  /// Changes one bit in the content of a file. The change is durable.
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
  Result<std::unique_ptr<ScratchFile>> MakeScratch(const std::string& folder) override;
  uint64_t FreeBytes(const std::string& folder) override;
  Result<std::unique_ptr<FileLock>> Lock(const std::string& path, const std::string& note) override;

 private:
  FaultyFileSystem(const FaultyFileSystem& other);
  friend class FaultyFile;
  friend class FaultyLock;
  friend class FaultyScratch;
  struct Node {
    Bytes content;
    Bytes durable;
  };
  using Names = std::map<std::string, std::shared_ptr<Node>>;
  // A change of a name in a folder: a name was created (`from` is ""), renamed, or removed (`to` is
  // "").
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
  /// The changes of names after which SyncFolder was not called yet, in the order in which they
  /// were made.
  std::vector<NameChange> unsynced_names_;
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
  bool cannot_make_scratch_ = false;
};

}  // namespace hg
