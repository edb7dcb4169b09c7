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
#include "storage/engine/generation.h"
#include "storage/lsm/block_file.h"
#include "storage/lsm/manifest.h"
#include "storage/region/region_map.h"
#include "storage/region/row_windows.h"

namespace hg::points {

/// The open files of a run, shared by the regions that name it. Whoever lets go of them last after
/// the manifest has removes them.
class RunFiles {
 public:
  /// `folder`: of the store.
  static Result<std::shared_ptr<const RunFiles>> Open(FileSystem& files, const std::string& folder,
                                                      const lsm::RunEntry& entry,
                                                      lsm::BlockReading reading);
  ~RunFiles();

  // Null: there is none.
  [[nodiscard]] const std::shared_ptr<const lsm::BlockFile>& cells() const { return cells_; }
  [[nodiscard]] const std::shared_ptr<const lsm::BlockFile>& points() const { return points_; }
  /// A merge has read or written them, and will not come again soon.
  void ForgetCached() const;
  /// No manifest names them any more.
  void Retire() const { retired_ = true; }

 private:
  RunFiles(FileSystem& files, std::string folder, uint64_t number)
      : files_(files), folder_(std::move(folder)), number_(number) {}

  FileSystem& files_;
  const std::string folder_;
  const uint64_t number_;
  std::shared_ptr<const lsm::BlockFile> cells_;
  std::shared_ptr<const lsm::BlockFile> points_;
  mutable std::atomic<bool> retired_{false};
};

/// A run as one region has it. Its files may hold rows of other regions: whoever reads keeps to the
/// region's keys. Immutable.
class Run {
 public:
  Run(const lsm::RunEntry& entry, std::shared_ptr<const RunFiles> files)
      : entry_(entry), files_(std::move(files)), rows_(RowsOf()) {}

  [[nodiscard]] const lsm::RunEntry& entry() const { return entry_; }
  [[nodiscard]] uint64_t bytes() const { return entry_.cells_bytes + entry_.points_bytes; }
  [[nodiscard]] const std::shared_ptr<const RunFiles>& files() const { return files_; }
  /// Of points that are stored without one (part.h, Later).
  [[nodiscard]] uint32_t generation() const { return static_cast<uint32_t>(entry_.last_sequence); }
  // Null: the run has none.
  [[nodiscard]] const std::shared_ptr<const lsm::BlockFile>& cells() const {
    return files_->cells();
  }
  [[nodiscard]] const std::shared_ptr<const lsm::BlockFile>& points() const {
    return files_->points();
  }

  /// Of all that its files hold; not known if one of them does not say.
  [[nodiscard]] lsm::TimeSpan times() const;
  /// Of a points table: which rows may be in it.
  [[nodiscard]] const region::RowSpan& rows() const { return rows_; }

  // `folder`: of the store or, for files that stand there, of the namespace.
  static std::string CellsPath(const std::string& folder, uint64_t number);
  static std::string PointsPath(const std::string& folder, uint64_t number);

 private:
  [[nodiscard]] region::RowSpan RowsOf() const;

  const lsm::RunEntry entry_;
  const std::shared_ptr<const RunFiles> files_;
  const region::RowSpan rows_;
};

using Runs = std::vector<std::shared_ptr<const Run>>;  // newest first

/// Immutable.
struct Version {
  std::vector<std::shared_ptr<Generation>> generations;  // newest first; the first one is active
  std::map<std::pair<uint32_t, uint32_t>, Runs> runs;    // by ids of table and region
  std::map<uint32_t, std::shared_ptr<const region::RegionMap>> regions;  // by id of the table

  [[nodiscard]] const region::RegionMap& RegionsOf(uint32_t table) const {
    static const region::RegionMap kOne;
    auto it = regions.find(table);
    return it == regions.end() ? kOne : *it->second;
  }
  [[nodiscard]] const Runs& RunsOf(uint32_t table, uint32_t region) const {
    static const Runs kNone;
    auto it = runs.find({table, region});
    return it == runs.end() ? kNone : it->second;
  }
};

}  // namespace hg::points
