#pragma once
// A scan of the points door over the engine: series after series, each with its hours ascending
// (engine.md §7). What it does stands in three files: embedded_scan.cc finds which rows there are,
// and walks over them; embedded_scan_columns.cc gives those that are points alone;
// embedded_scan_stored.cc all others.

#include <map>
#include <memory>
#include <optional>
#include <span>
#include <unordered_map>
#include <utility>
#include <vector>

#include "storage/base/work_watch.h"
#include "storage/engine/engine.h"
#include "storage/points/hours_ahead.h"
#include "storage/points/points.h"
#include "storage/points/row_codec.h"
#include "storage/points/series_again.h"

namespace hg::points {

/// One thread at a time. The engine outlives it. Unsettled rows are told to `listener` if it is
/// set.
class EmbeddedScan : public PointScan, public SeriesAgain, public HoursAhead {
 public:
  static Result<std::unique_ptr<EmbeddedScan>> Open(const Engine& engine, const PointScanSpec& spec,
                                                    const ReconcileOptions& options,
                                                    UnsettledRowListener listener);

  Result<bool> Next(RowHour* row) override;
  Status Load(RowHour* row) override;
  std::span<const HourStatistics> StatisticsAhead() override;
  void Pass(size_t rows) override { next_base_ += rows; }
  [[nodiscard]] bool GivesSeriesAgain() const override;
  void GiveSeriesAgain() override;
  [[nodiscard]] uint32_t StepMs() const override;
  [[nodiscard]] uint64_t RowsExpected() const override;
  [[nodiscard]] bool ExpectsStatistics() const override;
  std::vector<std::unique_ptr<PointScan>> Cut(size_t parts) override;

  /// The key of the next row that matches, points or not, or false at the end; instead of Next.
  Result<bool> NextKey(Bytes* key);

 private:
  using RowId = std::pair<uint32_t, uint32_t>;  // series, base
  struct IrregularRow {
    Bytes key;
    uint32_t base;
  };
  struct MemoryRow {
    uint32_t base;
    size_t source;
    const RowHourMemory* row;
  };

  // The rows (sorted by base) of that base. None of it stands before *at, which moves to the first.
  template <typename Rows>
  static auto RowsOf(const Rows& rows, uint32_t base, size_t* at) {
    while (*at < rows.size() && rows[*at].base < base) ++*at;
    const auto first = rows.begin() + static_cast<ptrdiff_t>(*at);
    auto end = first;
    while (end != rows.end() && end->base == base) ++end;
    return std::pair(first, end);
  }

  EmbeddedScan(const Engine& engine, std::shared_ptr<const Version> version,
               std::vector<uint32_t> series, PointScanSpec spec, const ReconcileOptions& options,
               UnsettledRowListener listener);
  Status LoadCells();
  Status LoadCellsOfBucket(ByteView start, ByteView stop);
  Status NoteKey(const Bytes& key, size_t source, lsm::CellRow* row);
  Result<bool> NextPlace(bool* irregular, uint32_t* series, uint32_t* base);
  Status ReadIrregular(StoredRow* row);
  Status StartSeries(uint32_t series);
  Status Step(uint64_t steps);
  Status LookAhead();
  Status ReadFileRows(ByteView tsuid);
  Status ReadRunRows(const Run& run, size_t source, ByteView tsuid, const RowRange& bases);
  Status ReadRow(uint32_t series, uint32_t base, StoredRow* row);
  Result<bool> GiveStored(bool irregular, uint32_t series, uint32_t base, RowHour* row);
  Result<bool> GiveStatistics(uint32_t base, RowHour* row);
  Result<bool> GiveColumns(uint32_t series, uint32_t base, RowHour* row);
  Result<bool> ReadColumns(uint32_t base, RowForm* form);
  void PrefetchPast(size_t row);
  void Give(const Part& part, RowHour* row);
  void Give(const std::vector<codec::StoredPoint>& points, RowHour* row);

  const Engine& engine_;
  const PointScanSpec spec_;
  const ReconcileOptions options_;
  const UnsettledRowListener listener_;
  const RenderOptions render_options_;  // of the moment at which the scan began
  const int64_t oldest_ms_;             // points before have expired by then
  const std::shared_ptr<const Version> version_;
  std::vector<uint32_t> series_;  // that match, by TSUID
  size_t next_series_ = 0;
  std::vector<uint32_t> bases_;  // of the current series
  size_t next_base_ = 0;

  // Cells beside the points, read when the scan is opened: most stores have few. Sources are the
  // generations, then the runs of the row's region, newest first.
  std::map<RowId, std::vector<std::pair<size_t, lsm::CellRow>>> cells_;
  std::vector<IrregularRow> irregular_;
  size_t next_irregular_ = 0;
  Status misfit_;

  MemoryTally memory_;      // cells, and the rows of the current series
  uint64_t steps_ = 0;      // not told to the watch yet
  int64_t file_bytes_ = 0;  // of that, file_rows_

  // Rows of the current series in files, by base, newest first; their cursors go forward with the
  // series.
  struct FileRow {
    uint32_t base;
    size_t source;
    ByteView encoded;  // in one of the blocks
  };
  std::vector<FileRow> file_rows_;
  std::vector<std::shared_ptr<const Bytes>> file_blocks_;
  size_t file_at_ = 0, memory_at_ = 0;      // rows before are of hours that were given
  std::span<const MemoryRow> memory_rows_;  // likewise, in ahead_
  // Rows in memory of this series and the next ones: found together and fetched by the processor
  // together, as one after the other each would cost a wait for memory.
  std::vector<MemoryRow> ahead_;    // series after series, each by base, newest first
  std::vector<size_t> ahead_ends_;  // of each series of the batch, in ahead_
  size_t ahead_series_ = 0;         // place in series_ of the first of them
  size_t prefetched_ = 0;           // rows of ahead_ that were
  struct RunCursor {
    std::optional<lsm::BlockFileScan> scan;  // none: the run holds other times than are asked for
    bool beyond = false;  // the scan stands at an entry behind those of the series read last
  };
  std::map<const Run*, RunCursor> cursors_;  // of each run that was met
  std::vector<region::SeriesSlice> slices_;  // of the current series
  RowColumns columns_;
  RowStatistics statistics_;     // of the row given last, and
  ByteView unloaded_;            // its encoding, in file_rows_
  bool in_files_alone_ = false;  // the rows of the current series, each in one
  // Of file_rows_ from hours_begin_ on, as far as they were looked at together.
  std::vector<HourStatistics> hours_;
  size_t hours_begin_ = 0;

  Bytes key_;
  Bytes tsuid_;
  Bytes first_key_;  // scratch
  std::vector<uint32_t> offsets_;
  std::vector<uint64_t> values_;
  std::vector<uint8_t> is_double_;
  std::vector<Cell> objects_;
};

}  // namespace hg::points
