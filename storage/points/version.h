#pragma once
// What a reader pins: memory and files as of one moment (engine.md §4). Nothing it holds is freed
// or reused.

#include <atomic>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "storage/base/file.h"
#include "storage/lsm/block_file.h"
#include "storage/lsm/manifest.h"
#include "storage/points/generation.h"

namespace hg::points {

/// The files of one run, open. The last reader of a run that was merged away removes its files.
class Run {
 public:
  static Result<std::shared_ptr<const Run>> Open(FileSystem& files, const std::string& folder,
                                                 const lsm::RunEntry& entry);
  ~Run();

  [[nodiscard]] const lsm::RunEntry& entry() const { return entry_; }
  /// Of points that are stored without one (part.h, Later).
  [[nodiscard]] uint32_t generation() const { return static_cast<uint32_t>(entry_.last_sequence); }
  // Null: the run has none.
  [[nodiscard]] const std::shared_ptr<const lsm::BlockFile>& cells() const { return cells_; }
  [[nodiscard]] const std::shared_ptr<const lsm::BlockFile>& points() const { return points_; }
  /// No manifest names it any more.
  void Retire() const { retired_ = true; }

  static std::string CellsPath(const std::string& folder, uint64_t number);
  static std::string PointsPath(const std::string& folder, uint64_t number);

 private:
  Run(FileSystem& files, std::string folder, const lsm::RunEntry& entry)
      : files_(files), folder_(std::move(folder)), entry_(entry) {}

  FileSystem& files_;
  const std::string folder_;
  const lsm::RunEntry entry_;
  std::shared_ptr<const lsm::BlockFile> cells_;
  std::shared_ptr<const lsm::BlockFile> points_;
  mutable std::atomic<bool> retired_{false};
};

using Runs = std::vector<std::shared_ptr<const Run>>;  // newest first

/// Immutable.
struct Version {
  std::vector<std::shared_ptr<Generation>> generations;  // newest first; the first one is active
  std::map<std::pair<uint32_t, uint32_t>, Runs> runs;    // by table and region

  [[nodiscard]] const Runs& RunsOf(uint32_t table, uint32_t region) const {
    static const Runs kNone;
    auto it = runs.find({table, region});
    return it == runs.end() ? kNone : it->second;
  }
};

}  // namespace hg::points
