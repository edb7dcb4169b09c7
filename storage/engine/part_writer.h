#pragma once
// Writes the files of one part: cells ordered by key, and points ordered by series. The writer
// creates each file when the first row for the file is added.

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

/// The encoding of points. A flush uses kPlain, which is faster than kPacked. A merge uses kPacked,
/// which needs less space than kPlain (row_block.h).
enum class RowDensity : uint8_t { kPlain, kPacked };

/// Writes one part. Use a PartWriter on one thread at a time. After a failure, its files are
/// unusable.
class PartWriter {
 public:
  /// `folder` is an existing folder for the files. `table` is the table of the rows and must
  /// outlive the writer. The families of `table` determine compression, block size and filter.
  /// `table` is null for the table of series and for an unknown table. In these cases, defaults
  /// apply until a merge rewrites the files. `registry` has the series numbers for the day indexes
  /// of a points table, and must outlive the writer. If `registry` is null, the writer writes no
  /// day indexes, and a merge of the files adds them.
  PartWriter(FileSystem& files, std::string folder, const KeyLayout& layout, uint64_t number,
             const Table* table, const Registry* registry, RowDensity density = RowDensity::kPlain);

  /// Adds a row of cells. The caller must add rows in ascending order of keys.
  Status AddCells(ByteView key, const lsm::CellRow& row);
  /// Adds further columns to the row of cells that was added last, which had the key `key`.
  /// lsm::AddColumns describes which columns are allowed.
  Status AddColumns(ByteView key, const lsm::CellRow& columns);
  /// Adds a row of the table of series.
  Status AddSeries(uint32_t number, ByteView tsuid);
  /// Adds a row of points: the points and the form of `row_part`. The caller must add series in the
  /// order of RowFileOrder, and the rows of each series in ascending order of `base`. `number` is
  /// the number of the series, or nullopt if the caller does not know the number.
  Status AddPoints(ByteView tsuid, std::optional<uint32_t> number, uint32_t base,
                   const points::RowPart& row_part);
  /// Adds a row of points whose encoded value was read from another points file, in the order of
  /// AddPoints. With kPacked, returns Corruption if `value` is not an encoded row.
  Status AddEncodedPoints(ByteView file_key, ByteView value);
  /// Completes and syncs the files of the part, but not their folder. Sets the members of `entry`
  /// that describe the files: sizes, checksums, whether the files have tombstones, and the range of
  /// rows (in a points table). `entry` must have the part number of this writer.
  Status Finish(lsm::PartEntry* entry);
  /// Returns the number of bytes written so far to the cell file and the points file together.
  [[nodiscard]] uint64_t bytes() const;

 private:
  [[nodiscard]] lsm::BlockWriting Writing() const;
  void NoteTimes(ByteView key, const lsm::CellRow& row);
  Status WritePoints(ByteView file_key, ByteView value);
  /// Adds a row to a day index. If the series is not registered, the writer writes no day index for
  /// the file.
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
  // The day indexes of the cell file and the points file. nullopt means that the file gets no day
  // index.
  std::optional<DayIndexWriter> cell_days_, point_days_;
  Bytes last_series_;  // the file key of the last row of points, without its base time
  Bytes value_;
  bool tombstones_ = false;
  region::RowSpan rows_ = region::RowSpan::None();
  Bytes split_;
};

}  // namespace hg::engine
