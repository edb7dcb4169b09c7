#include "storage/engine/series_within.h"

#include <algorithm>
#include <roaring/roaring.hh>
#include <set>

#include "storage/engine/day_index.h"
#include "storage/engine/row_file.h"
#include "storage/lsm/row_source.h"
#include "storage/points/points_over_cells.h"

namespace hg::engine {
namespace {

// The costs of a file, of a row of cells in memory and of a series, in steps of a RequestContext.
constexpr uint64_t kFileSteps = 64, kBytesPerStep = 64, kCellRowSteps = 4, kListedSeriesSteps = 1;
constexpr uint64_t kStepsPerReport = 4096;

class Search {
 public:
  Search(const Engine& engine, const Version& version, const RowRange& rows, RequestContext* watch)
      : engine_(engine),
        version_(version),
        table_(*engine.points_table()),
        rows_(rows),
        last_base_(static_cast<uint32_t>(std::min<uint64_t>(rows.end - 1, UINT32_MAX))),
        memory_(watch) {}

  /// Searches the files and the cells in memory. Returns false if a file has no valid day index.
  Result<bool> FindRows(ByteView metric) {
    std::vector<ScanSpec> scans = {ScanSpec()};
    if (!metric.empty()) {
      scans = points::BucketScans(engine_.layout(), table_.descriptor.name, metric, rows_,
                                  ScanSpec().batch_rows);
    }
    const region::RegionMap& regions = version_.RegionsOf(table_.id);
    for (const ScanSpec& scan : scans) {
      RETURN_IF_ERROR(FindCellsInMemory(scan));
      const auto [first, end] = regions.Overlapping(scan.start, scan.stop);
      for (size_t region = first; region < end; ++region) {
        for (const auto& part : version_.PartsOf(table_.id, regions.Id(region))) {
          ASSIGN_OR_RETURN(const bool indexed, FindInPart(*part));
          if (!indexed) return false;
        }
      }
    }
    return true;
  }

  /// Removes the series that FindRows did not find and that have no points in memory.
  Status Keep(std::vector<uint32_t>* series) {
    Status status;
    std::erase_if(*series, [&](uint32_t number) {
      if (!status.ok()) return false;
      const bool found = found_.contains(number) || IsInMemory(number);
      if (steps_ >= kStepsPerReport) status = memory_.Step(std::exchange(steps_, 0));
      return !found;
    });
    RETURN_IF_ERROR(status);
    return memory_.Step(steps_);
  }

 private:
  [[nodiscard]] bool IsInRange(uint32_t base) const {
    return base >= rows_.begin && base <= last_base_;
  }

  bool IsInMemory(uint32_t number) {
    steps_ += kListedSeriesSteps;
    for (const auto& memtable : version_.memtables) {
      for (const RowHourMemory* row = memtable->rows.Newest(number); row != nullptr;
           row = row->older()) {
        if (IsInRange(row->base())) return true;
        ++steps_;
      }
    }
    return false;
  }

  Status FindCellsInMemory(const ScanSpec& scan) {
    Bytes tsuid;
    uint32_t base;
    for (const auto& memtable : version_.memtables) {
      const lsm::CellMemory* const cells = memtable->Cells(table_.id);
      if (cells == nullptr) continue;
      const auto rows = lsm::ScanMemory(*cells, scan.start, scan.stop);
      for (;;) {
        ASSIGN_OR_RETURN(const bool more, rows->Next());
        if (!more) break;
        RETURN_IF_ERROR(memory_.Step(kCellRowSteps));
        if (!IsRegularKey(engine_.layout(), rows->key(), &tsuid, &base) || !IsInRange(base)) {
          continue;
        }
        RETURN_IF_ERROR(memory_.Step(engine_.registry().find_steps()));
        if (const auto number = engine_.registry().Find(tsuid)) found_.add(*number);
      }
    }
    return ChargeFound();
  }

  Result<bool> FindInPart(const Part& part) {
    RETURN_IF_ERROR(memory_.Step(kFileSteps));
    if (!part.rows().Meets({rows_.begin, last_base_, false})) return true;
    // After a split, several regions share the files of the region that was split. Each file is
    // read once.
    if (!seen_.insert(part.files().get()).second) return true;
    for (const auto* file : {&part.points(), &part.cells()}) {
      if (*file == nullptr || !(*file)->MayHoldTime(TimesOf(rows_))) continue;
      // Two copies: the block, and the numbers that are decoded from it.
      MemoryTally of_index(memory_.context());
      RETURN_IF_ERROR(of_index.Add(static_cast<int64_t>(2 * (*file)->meta_bytes())));
      ASSIGN_OR_RETURN(const auto index,
                       part.files()->DayIndexOf(**file, engine_.registry(), lsm::CacheUse::kKeep,
                                                memory_.context()));
      if (index == nullptr) return false;
      RETURN_IF_ERROR(memory_.Step(index->size() / kBytesPerStep));
      if (!AddSeriesOfDays(*index, rows_.begin / kIndexedDayS, last_base_ / kIndexedDayS,
                           &found_)) {
        return (*file)->DamagedMeta("the day index cannot be read");
      }
      RETURN_IF_ERROR(ChargeFound());
    }
    return true;
  }

  Status ChargeFound() {
    const auto bytes = static_cast<int64_t>(found_.getSizeInBytes());
    RETURN_IF_ERROR(memory_.Add(std::max<int64_t>(bytes - found_bytes_, 0)));
    found_bytes_ = std::max(found_bytes_, bytes);
    return {};
  }

  const Engine& engine_;
  const Version& version_;
  const Table& table_;
  const RowRange rows_;
  const uint32_t last_base_;
  MemoryTally memory_;
  uint64_t steps_ = 0;  // steps that were not reported yet
  Roaring found_;
  int64_t found_bytes_ = 0;  // the part of memory_ that is charged for found_
  std::set<const PartFiles*> seen_;
};

}  // namespace

Status KeepSeriesWithin(const Engine& engine, const Version& version, ByteView metric,
                        const RowRange& rows, RequestContext* watch,
                        std::vector<uint32_t>* series) {
  if (rows.begin >= rows.end) {
    series->clear();
    return {};
  }
  if (series->empty()) return {};
  Search search(engine, version, rows, watch);
  ASSIGN_OR_RETURN(const bool indexed, search.FindRows(metric));
  return indexed ? search.Keep(series) : Status();
}

}  // namespace hg::engine
