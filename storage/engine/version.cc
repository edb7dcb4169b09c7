#include "storage/engine/version.h"

#include <algorithm>
#include <exception>

#include "storage/engine/day_index.h"
#include "storage/engine/row_block.h"
#include "storage/engine/stored_files.h"

namespace hg::engine {
namespace {

std::string Path(const std::string& folder, uint64_t number, const char* ending) {
  std::string digits = std::to_string(number);
  if (digits.size() < 9) digits.insert(0, 9 - digits.size(), '0');
  return folder + "/" + digits + ending;
}

}  // namespace

std::string Part::CellsPath(const std::string& folder, uint64_t number) {
  return Path(folder, number, ".cells");
}
std::string Part::PointsPath(const std::string& folder, uint64_t number) {
  return Path(folder, number, ".points");
}

Result<std::shared_ptr<const PartFiles>> PartFiles::Open(
    FileSystem& files, const std::string& folder, const lsm::PartEntry& entry,
    lsm::BlockReading reading, std::shared_ptr<std::atomic<uint64_t>> total) {
  const std::string place = lsm::NamespaceFolder(folder, entry.space);
  std::shared_ptr<PartFiles> part(new PartFiles(files, place, entry.number, std::move(total)));
  if (entry.cells_bytes > 0) {
    ASSIGN_OR_RETURN(part->cells_, OpenNamed(files, Part::CellsPath(place, entry.number),
                                             entry.cells_bytes, entry.cells_crc, reading));
  }
  if (entry.points_bytes > 0) {
    reading.packer = &RowBlockPacker();
    ASSIGN_OR_RETURN(part->points_, OpenNamed(files, Part::PointsPath(place, entry.number),
                                              entry.points_bytes, entry.points_crc, reading));
  }
  for (const auto* file : {&part->cells_, &part->points_}) {
    if (*file != nullptr) part->counted_ += (*file)->memory_bytes();
  }
  *part->total_ += part->counted_;
  return std::shared_ptr<const PartFiles>(std::move(part));
}

void PartFiles::ForgetCached() const {
  for (const auto* file : {&cells_, &points_}) {
    if (*file != nullptr) (*file)->ForgetCached();
  }
}

Result<std::shared_ptr<const Bytes>> PartFiles::DayIndexOf(const lsm::BlockFile& file,
                                                           const Registry& registry,
                                                           lsm::CacheUse use,
                                                           RequestContext* watch) const {
  std::atomic<Numbers>& numbers = &file == cells_.get() ? cell_numbers_ : point_numbers_;
  if (!file.has_meta() || numbers == Numbers::kOther) return std::shared_ptr<const Bytes>();
  ASSIGN_OR_RETURN(auto index, file.ReadMeta(use, watch));
  if (numbers == Numbers::kSame) return index;
  if (watch != nullptr) RETURN_IF_ERROR(watch->MayWait());  // the check reads many TSUIDs
  ASSIGN_OR_RETURN(const bool same, HasNumbersOf(*index, registry, watch));
  numbers = same ? Numbers::kSame : Numbers::kOther;
  if (!same) index = nullptr;
  return index;
}

lsm::TimeSpan Part::times() const {
  lsm::TimeSpan all;
  for (const auto* file : {&cells(), &points()}) {
    if (*file == nullptr) continue;
    const lsm::TimeSpan& times = (*file)->times();
    if (!times.known()) return {};
    all.Add(times.min_ms);
    all.Add(times.max_ms);
  }
  return all;
}

// Returns the range of base times. After a repair, the manifest may lack this range. It is then
// derived from the files.
region::RowSpan Part::RowsOf() const {
  region::RowSpan rows{entry_.first_base, entry_.last_base, entry_.loose};
  if (rows != region::RowSpan()) return rows;
  rows.loose = cells() != nullptr;
  const lsm::TimeSpan span = times();
  if (!span.known()) return rows;
  const auto base = [](int64_t time_ms) {
    return static_cast<uint32_t>(std::clamp<int64_t>(time_ms / 1000, 0, UINT32_MAX));
  };
  rows.first_base = base(span.min_ms);
  rows.last_base = base(span.max_ms);
  return rows;
}

// Files that cannot be removed now are removed at the next start.
PartFiles::~PartFiles() {
  *total_ -= counted_;
  if (!retired_) return;
  try {
    if (cells_ != nullptr) (void)files_.Remove(Part::CellsPath(folder_, number_));
    if (points_ != nullptr) (void)files_.Remove(Part::PointsPath(folder_, number_));
  } catch (const std::exception&) {
    // If there is no memory for the file names, the files are removed at the next start.
  }
}

}  // namespace hg::engine
