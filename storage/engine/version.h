#pragma once
// A version is a snapshot of memory and files. As long as a reader holds the version, nothing in it
// is freed or reused.

#include <atomic>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "storage/base/file.h"
#include "storage/engine/memtable.h"
#include "storage/lsm/block_file.h"
#include "storage/lsm/manifest.h"
#include "storage/region/region_map.h"
#include "storage/region/row_windows.h"

namespace hg::engine {

class Registry;

/// The open files of a part, which all regions with this part share. If the files are in no
/// manifest any more, the thread that drops the last reference removes them.
class PartFiles {
 public:
  /// Opens the files of a part. `folder` is the folder of the store. As long as the files are open,
  /// the memory of their indexes and filters in bytes is added to `total`.
  static Result<std::shared_ptr<const PartFiles>> Open(
      FileSystem& files, const std::string& folder, const lsm::PartEntry& entry,
      lsm::BlockReading reading, std::shared_ptr<std::atomic<uint64_t>> total);
  ~PartFiles();

  // Return the cell file and the points file; null if the part has no such file.
  [[nodiscard]] const std::shared_ptr<const lsm::BlockFile>& cells() const { return cells_; }
  [[nodiscard]] const std::shared_ptr<const lsm::BlockFile>& points() const { return points_; }
  /// Advises the operating system to drop the files from its page cache. Call this function after a
  /// merge has read or written the files completely.
  void ForgetCached() const;
  /// Returns the day index of `file`, which is cells() or points(). Returns null if the file has
  /// none, or if the numbers in the index are not those of the registry. All calls must pass the
  /// same registry.
  Result<std::shared_ptr<const Bytes>> DayIndexOf(const lsm::BlockFile& file,
                                                  const Registry& registry,
                                                  RequestContext* watch) const;
  /// Marks the files for removal by the thread that drops the last reference. Call this function
  /// when the files are in no manifest any more.
  void Retire() const { retired_ = true; }

 private:
  PartFiles(FileSystem& files, std::string folder, uint64_t number,
            std::shared_ptr<std::atomic<uint64_t>> total)
      : files_(files), folder_(std::move(folder)), number_(number), total_(std::move(total)) {}

  FileSystem& files_;
  const std::string folder_;
  const uint64_t number_;
  const std::shared_ptr<std::atomic<uint64_t>> total_;
  uint64_t counted_ = 0;  // the memory that this object has added to total_
  std::shared_ptr<const lsm::BlockFile> cells_;
  std::shared_ptr<const lsm::BlockFile> points_;
  mutable std::atomic<bool> retired_{false};
  // Whether the day indexes of the cell file and of the points file have the numbers of the
  // registry. It is checked when a day index is read first.
  enum class Numbers : uint8_t { kUnknown, kSame, kOther };
  mutable std::atomic<Numbers> cell_numbers_{Numbers::kUnknown};
  mutable std::atomic<Numbers> point_numbers_{Numbers::kUnknown};
};

/// A part as seen by one region. Its files may also have rows of other regions, so readers must
/// ignore rows outside the region's key range. Immutable.
class Part {
 public:
  Part(const lsm::PartEntry& entry, std::shared_ptr<const PartFiles> files)
      : entry_(entry), files_(std::move(files)), rows_(RowsOf()) {}

  [[nodiscard]] const lsm::PartEntry& entry() const { return entry_; }
  [[nodiscard]] uint64_t bytes() const { return entry_.cells_bytes + entry_.points_bytes; }
  [[nodiscard]] const std::shared_ptr<const PartFiles>& files() const { return files_; }
  /// Returns the sequence number of points that were stored without a sequence number (PartPoint).
  [[nodiscard]] uint64_t last_sequence() const { return entry_.last_sequence; }
  // Return the cell file and the points file; null if the part has no such file.
  [[nodiscard]] const std::shared_ptr<const lsm::BlockFile>& cells() const {
    return files_->cells();
  }
  [[nodiscard]] const std::shared_ptr<const lsm::BlockFile>& points() const {
    return files_->points();
  }

  /// Returns the time span of both files. The result is unknown if the span of one file is unknown.
  [[nodiscard]] lsm::TimeSpan times() const;
  /// Returns the range that contains all rows of this part, if it belongs to a points table.
  [[nodiscard]] const region::RowSpan& rows() const { return rows_; }

  // Returns the path of a cell file. `folder` is the folder of the store, or the folder of the
  // namespace to which the file belongs.
  static std::string CellsPath(const std::string& folder, uint64_t number);
  static std::string PointsPath(const std::string& folder, uint64_t number);

 private:
  [[nodiscard]] region::RowSpan RowsOf() const;

  const lsm::PartEntry entry_;
  const std::shared_ptr<const PartFiles> files_;
  const region::RowSpan rows_;
};

using Parts = std::vector<std::shared_ptr<const Part>>;  // newest first
using RegionPlace = std::pair<uint32_t, uint32_t>;       // ids of table and region

/// A snapshot of memory and files. Immutable.
struct Version {
  std::vector<std::shared_ptr<Memtable>> memtables;  // newest first; the first is active
  std::map<RegionPlace, Parts> parts;
  std::map<uint32_t, std::shared_ptr<const region::RegionMap>> regions;  // key: table id

  [[nodiscard]] const region::RegionMap& RegionsOf(uint32_t table) const {
    static const region::RegionMap kOne;
    auto it = regions.find(table);
    return it == regions.end() ? kOne : *it->second;
  }
  [[nodiscard]] const Parts& PartsOf(uint32_t table, uint32_t region) const {
    static const Parts kNone;
    auto it = parts.find({table, region});
    return it == parts.end() ? kNone : it->second;
  }
};

}  // namespace hg::engine
