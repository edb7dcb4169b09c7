#pragma once
// A scan of the embedded point store. It returns the rows of one series after the other, and the
// rows of each series in ascending order of hours. Rows whose keys are not regular come last.
// embedded_scan.cc finds the rows and iterates over them. embedded_scan_columns.cc returns rows
// that contain only points. embedded_scan_stored.cc returns all other rows.

#include <map>
#include <memory>
#include <optional>
#include <set>
#include <span>
#include <unordered_map>
#include <utility>
#include <vector>

#include "storage/base/request_context.h"
#include "storage/engine/engine.h"
#include "storage/engine/running_scans.h"
#include "storage/lsm/row_source.h"
#include "storage/points/points.h"
#include "storage/points/row_codec.h"

namespace hg::engine {

/// Returns the part of `rows` without the hours in which all rows have expired.
RowRange NotExpired(const Engine& engine, const RowRange& rows);

/// A scan of one embedded store. Not thread-safe. The engine must outlive the scan. `listener` may
/// be empty (UnsettledRowListener). Open may wait for other queries (RequestContext::Step).
class EmbeddedScan : public PointScan {
 public:
  /// Whether the store may end the request of the scan (RequestContext::GiveUp), if the scan keeps
  /// flushed memtables in memory and writes need this memory.
  enum class MayEnd : uint8_t { kNo, kYes };
  static Result<std::unique_ptr<EmbeddedScan>> Open(const Engine& engine, const PointScanSpec& spec,
                                                    const ReconcileOptions& options,
                                                    UnsettledRowListener listener,
                                                    MayEnd may_end = MayEnd::kYes);

  Result<bool> Next(RowHour* row) override;
  Status Load(RowHour* row) override;
  std::span<const HourStatistics> StatisticsAhead() override;
  void Pass(size_t rows) override { next_base_ += rows; }
  [[nodiscard]] bool RepeatsSeries() const override;
  void RepeatSeries() override;
  [[nodiscard]] uint32_t StepMs() const override;
  [[nodiscard]] uint64_t RowsExpected() const override;
  [[nodiscard]] bool ExpectsStatistics() const override;
  std::vector<std::unique_ptr<PointScan>> Cut(size_t parts) override;

  /// Sets *key to the key of the next matching row that has points or raw cells. Returns false at
  /// the end of the scan. For one scan, call either NextKey or Next, not both.
  Result<bool> NextKey(Bytes* key);

 private:
  using RowId = std::pair<uint32_t, uint32_t>;  // series number and base time
  struct IrregularRow {
    Bytes key;
    uint32_t base;
  };
  struct MemoryRow {
    uint32_t base;
    size_t source;
    const RowHourMemory* row;
  };

  // Returns the rows with the base time `base`. `rows` is sorted by base time. The search starts at
  // index *at, which must not be after the first row with this base time. Sets *at to the index of
  // the first row whose base time is `base` or later.
  template <typename Rows>
  static auto RowsOf(const Rows& rows, uint32_t base, size_t* at) {
    while (*at < rows.size() && rows[*at].base < base) ++*at;
    const auto first = rows.begin() + static_cast<ptrdiff_t>(*at);
    auto end = first;
    while (end != rows.end() && end->base == base) ++end;
    return std::pair(first, end);
  }

  EmbeddedScan(const Engine& engine, std::shared_ptr<const Version> version, FoundSeries series,
               PointScanSpec spec, const ReconcileOptions& options, UnsettledRowListener listener,
               MayEnd may_end);
  Status LoadCells();
  Status LoadCellsOfBucket(ByteView start, ByteView stop);
  /// Returns whether the row belongs to a matching series of the metric.
  [[nodiscard]] bool MatchesKey(const Bytes& key) const;
  /// Reads the current row of a file. Each piece of the row is charged before the next one is read.
  /// Annotations and histograms are returned without their values if the scan does not need them.
  Result<lsm::CellRow> ReadCells(lsm::RowSource* rows);
  /// Records the matching row `key` of a memtable or file, and the cells that were read from it.
  Status NoteKey(const Bytes& key, size_t source, lsm::CellRow* row);
  Result<bool> NextPlace(bool* irregular, uint32_t* series, uint32_t* base);
  Status ReadIrregular(StoredRow* row);
  Status StartSeries(uint32_t series);
  Status Step(uint64_t steps);
  Status ExpectEntries(uint64_t entries, size_t bytes_each);
  Status LookAhead();
  Status ReadFileRows(ByteView tsuid);
  Status ReadPartRows(const Part& part, size_t source, ByteView tsuid, const RowRange& bases);
  Status ReadRow(uint32_t series, uint32_t base, StoredRow* row);
  Result<bool> GiveStored(bool irregular, uint32_t series, uint32_t base, RowHour* row);
  Result<bool> GiveStatistics(uint32_t base, RowHour* row);
  Result<bool> GiveColumns(uint32_t series, uint32_t base, RowHour* row);
  Result<bool> ReadColumns(uint32_t base, points::RowForm* form);
  void PrefetchPast(size_t row);
  void Give(const points::RowPart& row_part, RowHour* row);
  void Give(const std::vector<codec::StoredPoint>& points, RowHour* row);

  const Engine& engine_;
  PointScanSpec spec_;
  const ReconcileOptions options_;
  const UnsettledRowListener listener_;
  const points::RenderOptions render_options_;  // the options at the time when the scan was created
  const int64_t oldest_ms_;                     // points before this time have expired
  // Declared before version_, so that the scan stays registered until it has released the version.
  // Otherwise the store could end another request while this scan still keeps the memory.
  const RunningScans::Registration registration_;
  const std::shared_ptr<const Version> version_;
  std::vector<uint32_t> series_;  // numbers of the matching series, in the order of their TSUIDs
  const std::shared_ptr<const TsuidTable> tsuids_;  // contains the TSUIDs of series_
  size_t next_series_ = 0;
  std::vector<uint32_t> bases_;  // base times of the rows of the current series
  size_t next_base_ = 0;

  // The rows that have cells in addition to points. Open reads the cells of cell files, because
  // most stores have few of them. For cells in memtables, Open only notes the row, and the CellRow
  // is empty. The number in each pair is the source of the cells. Sources are numbered from newest
  // to oldest: first the memtables, and then the parts of the region.
  std::map<RowId, std::vector<std::pair<size_t, lsm::CellRow>>> cells_;
  std::vector<IrregularRow> irregular_;
  size_t next_irregular_ = 0;
  Status misfit_;  // the error for the first key that does not fit the layout; returned at the end

  MemoryTally memory_;      // memory charged for series, cells, and rows of the current series
  MemoryTally row_memory_;  // memory charged for the cells of the current row in memtables
  uint64_t steps_ = 0;      // steps that were not reported to the request context yet
  int64_t file_bytes_ = 0;  // the part of memory_ that is charged for file_rows_
  // The part of memory_ that is charged for the longest row so far. The buffers of that row are
  // kept for the next rows.
  int64_t row_bytes_ = 0;

  // A row of the current series in a file. The rows are ordered by base time. Rows with equal base
  // times are ordered from newest to oldest. The cursors of the files move forward from series to
  // series.
  struct FileRow {
    uint32_t base;
    size_t source;
    ByteView encoded;  // a view of one element of file_blocks_
  };
  std::vector<FileRow> file_rows_;
  std::vector<std::shared_ptr<const Bytes>> file_blocks_;
  // Indexes of the first row in files and of the first row in memory whose hour was not returned
  // yet.
  size_t file_at_ = 0, memory_at_ = 0;
  std::span<const MemoryRow> memory_rows_;  // rows of the current series; a range of ahead_
  // The rows in memory of the current series and of the following series (a batch). The scan looks
  // up and prefetches the rows of a batch together, because otherwise each look-up would wait for a
  // cache miss.
  // The rows are grouped by series. The rows of a series are ordered by base time; rows with equal
  // base times are ordered from newest to oldest.
  std::vector<MemoryRow> ahead_;
  // For each series of the batch, the index in ahead_ after the last row of the series.
  std::vector<size_t> ahead_ends_;
  size_t ahead_series_ = 0;  // index in series_ of the first series of the batch
  size_t prefetched_ = 0;    // number of prefetched rows in ahead_
  struct PartCursor {
    // nullopt if the part has no rows in the requested time range.
    std::optional<lsm::BlockFileScan> scan;
    // Whether the scan has moved past the entries of the series that was read last.
    bool beyond = false;
  };
  std::map<const Part*, PartCursor> cursors_;  // cursors of the parts that were read so far
  std::vector<region::SeriesSlice> slices_;    // slices of the current series, one per region
  std::set<uint32_t> regions_read_;            // ids of the regions that were counted as read
  points::RowColumns columns_;
  RowStatistics statistics_;  // statistics of the last row that was returned
  ByteView unloaded_;         // encoded form of the last returned row; a view of file_blocks_
  // Whether each row of the current series is in exactly one file and in no memtable.
  bool in_files_alone_ = false;
  // Statistics of consecutive rows of file_rows_. hours_begin_ is the index of the first of these
  // rows.
  std::vector<HourStatistics> hours_;
  size_t hours_begin_ = 0;

  Bytes key_;
  Bytes tsuid_;
  Bytes first_key_;  // working memory of NextKey
  std::vector<uint32_t> offsets_;
  std::vector<uint64_t> values_;
  std::vector<uint8_t> is_double_;
  std::vector<Cell> objects_;
};

}  // namespace hg::engine
