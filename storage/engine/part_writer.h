#pragma once
// Writes the files of one part: cells ordered by key, points ordered by series. Creates each file
// when the first row for it is added.

#include <memory>
#include <optional>
#include <string>

#include "storage/engine/day_index.h"
#include "storage/engine/stored_row.h"
#include "storage/lsm/block_file.h"
#include "storage/lsm/cell_row.h"
#include "storage/lsm/manifest.h"
#include "storage/points/row_part.h"
#include "storage/region/row_windows.h"

namespace hg::engine {

/// The encoding of points. A flush uses kPlain, which is fast. A merge uses kPacked, which needs
/// less space (row_block.h).
enum class RowDensity : uint8_t { kPlain, kPacked };

/// Use on one thread at a time. After a failure the files are unusable.
class PartWriter {
 public:
  /// `folder` is an existing folder for the files. `table` is the table of the rows, which must
  /// outlive the writer. Its families determine compression, block size and filter. `table` is null
  /// for the table of series and for an unknown table; defaults then apply until a merge rewrites
  /// the files. `registry` has the numbers for the day indexes of a points table, and must outlive
  /// the writer. If `registry` is null, the writer writes no day indexes; a merge of the files adds
  /// them.
  PartWriter(FileSystem& files, std::string folder, const KeyLayout& layout, uint64_t number,
             const Table* table, const Registry* registry, RowDensity density = RowDensity::kPlain);

  /// Adds a row of cells. The caller must add rows in ascending order of keys.
  Status AddCells(ByteView key, const lsm::CellRow& row);
  /// Adds a row of the table of series.
  Status AddSeries(uint32_t number, ByteView tsuid);
  /// Adds a row of points. Writes the points and the form of `row_part`. The caller must add series
  /// in the order of RowFileOrder, and the rows of each series in ascending order of `base`.
  /// `number` is the number of the series, or nullopt if the caller does not know it.
  Status AddPoints(ByteView tsuid, std::optional<uint32_t> number, uint32_t base,
                   const points::RowPart& row_part);
  /// Like AddPoints, for a row in the encoded form that another points file has.
  Status AddEncodedPoints(ByteView file_key, ByteView value);
  /// Completes and syncs the files, but not their folder. Sets the members of `entry` that describe
  /// the files: sizes, checksums, whether they have tombstones, and for a points table the range of
  /// rows. `entry` must have the part number of this writer.
  Status Finish(lsm::PartEntry* entry);
  /// Returns the number of bytes written so far to both files.
  [[nodiscard]] uint64_t bytes() const;

 private:
  [[nodiscard]] lsm::BlockWriting Writing() const;
  void NoteTimes(ByteView key, const lsm::CellRow& row);
  Status WritePoints(ByteView file_key, ByteView value);
  /// Adds a row to a day index. If the series is not registered, the file gets no day index.
  void NoteDay(ByteView tsuid, std::optional<uint32_t> number, uint32_t base,
               std::optional<DayIndexWriter>* days) const;

  FileSystem& files_;
  const std::string folder_;
  const KeyLayout layout_;
  const uint64_t number_;
  const Table* const table_;
  const Registry* const registry_;
  const RowDensity density_;
  std::unique_ptr<lsm::BlockFileWriter> cells_;
  std::unique_ptr<lsm::BlockFileWriter> points_;
  // The day indexes of both files; nullopt: the files get none.
  std::optional<DayIndexWriter> cell_days_, point_days_;
  Bytes last_series_;  // the file key of the last row without its base
  Bytes value_;
  bool tombstones_ = false;
  region::RowSpan rows_ = region::RowSpan::None();
  Bytes split_;
};

}  // namespace hg::engine
