#pragma once
// A version lists the memtables and files of a store at one moment. As long as a reader holds the
// version, no memory or file of the version is freed or reused.

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

/// The open files of a part. All regions that use the part share this object. If no manifest names
/// the files any more, the destructor removes them (FileSet::ReleaseUnused).
class PartFiles {
 public:
  /// Opens the files of a part, with the errors of OpenNamed. `folder` is the folder of the store.
  /// `total` includes the bytes of the indexes and filters as long as the files are open.
  static Result<std::shared_ptr<const PartFiles>> Open(
      FileSystem& files, const std::string& folder, const lsm::PartEntry& entry,
      lsm::BlockReading reading, std::shared_ptr<std::atomic<uint64_t>> total);
  ~PartFiles();

  // cells() returns the cell file of the part, and points() returns the points file. The result is
  // null if the part does not have the file.
  [[nodiscard]] const std::shared_ptr<const lsm::BlockFile>& cells() const { return cells_; }
  [[nodiscard]] const std::shared_ptr<const lsm::BlockFile>& points() const { return points_; }
  /// Advises the operating system to drop the files from its page cache. Call this function after a
  /// merge has read or written the files completely.
  void ForgetCached() const;
  /// Returns the day index of `file`, which is cells() or points(). Returns null if there is none,
  /// or if its numbers are not those of the registry, which must be the same in all calls. Returns
  /// Busy if it would wait and `watch` may not, and Corruption if the day index is damaged.
  Result<std::shared_ptr<const Bytes>> DayIndexOf(const lsm::BlockFile& file,
                                                  const Registry& registry, lsm::CacheUse use,
                                                  RequestContext* watch) const;
  /// Marks the files for removal by the destructor. Call this function when no manifest names the
  /// files any more.
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
  // Whether the day index of a file uses the series numbers of the registry. There is one value for
  // the cell file and one for the points file. The value is set when the day index is first read.
  enum class Numbers : uint8_t { kUnknown, kSame, kOther };
  mutable std::atomic<Numbers> cell_numbers_{Numbers::kUnknown};
  mutable std::atomic<Numbers> point_numbers_{Numbers::kUnknown};
};

/// A part as one region uses it. The files of the part may also have rows of other regions, so
/// readers must ignore rows outside the region's key range. Immutable.
class Part {
 public:
  Part(const lsm::PartEntry& entry, std::shared_ptr<const PartFiles> files)
      : entry_(entry), files_(std::move(files)), rows_(RowsOf()) {}

  [[nodiscard]] const lsm::PartEntry& entry() const { return entry_; }
  [[nodiscard]] uint64_t bytes() const { return entry_.cells_bytes + entry_.points_bytes; }
  [[nodiscard]] const std::shared_ptr<const PartFiles>& files() const { return files_; }
  /// Returns the sequence number for points that were stored without their own sequence number
  /// (PartPoint).
  [[nodiscard]] uint64_t last_sequence() const { return entry_.last_sequence; }
  // cells() returns the cell file of the part, and points() returns the points file. The result is
  // null if the part does not have the file.
  [[nodiscard]] const std::shared_ptr<const lsm::BlockFile>& cells() const {
    return files_->cells();
  }
  [[nodiscard]] const std::shared_ptr<const lsm::BlockFile>& points() const {
    return files_->points();
  }

  /// Returns the time span of the cell file and the points file together. The result is unknown if
  /// the span of one of the files is unknown.
  [[nodiscard]] lsm::TimeSpan times() const;
  /// Returns a range of rows that contains all rows of this part. The result is meaningful only in
  /// a points table.
  [[nodiscard]] const region::RowSpan& rows() const { return rows_; }

  // CellsPath returns the path of a cell file. PointsPath returns the path of a points file.
  // `folder` is the folder of the store, or the folder of the namespace to which the file belongs.
  static std::string CellsPath(const std::string& folder, uint64_t number);
  static std::string PointsPath(const std::string& folder, uint64_t number);

 private:
  [[nodiscard]] region::RowSpan RowsOf() const;

  const lsm::PartEntry entry_;
  const std::shared_ptr<const PartFiles> files_;
  const region::RowSpan rows_;
};

using Parts = std::vector<std::shared_ptr<const Part>>;  // newest part first
using RegionPlace = std::pair<uint32_t, uint32_t>;       // table id and region id

/// The memtables and files of a store at one moment. Only the active memtable still changes.
struct Version {
  std::vector<std::shared_ptr<Memtable>> memtables;  // newest first; memtables[0] is active
  std::map<RegionPlace, Parts> parts;
  /// Returns the parts of all regions. A caller that needs files for long keeps the parts instead
  /// of the version, because a version also keeps its memtables in memory.
  [[nodiscard]] Parts AllParts() const {
    Parts all;
    for (const auto& [place, of_region] : parts) {
      all.insert(all.end(), of_region.begin(), of_region.end());
    }
    return all;
  }
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
