#pragma once
// Writes the files of one run: cells by key, points by series. A file is made when its first row
// comes.

#include <memory>
#include <string>

#include "storage/engine/stored_row.h"
#include "storage/lsm/block_file.h"
#include "storage/lsm/cell_row.h"
#include "storage/lsm/manifest.h"
#include "storage/points/part.h"
#include "storage/region/row_windows.h"

namespace hg::points {

/// How rows of points are written: a flush is in a hurry, a merge makes them small (row_block.h).
enum class RowDensity : uint8_t { kPlain, kPacked };

/// One thread at a time. After a failure the files are rubbish.
class RunWriter {
 public:
  /// `folder`: in which the files stand, it exists. `table`: whose rows they are, for how its
  /// families want their files; outlives the writer. Null: of the table of series, or of a table
  /// that is not at hand; a merge will see to its wishes.
  RunWriter(FileSystem& files, std::string folder, const KeyLayout& layout, uint64_t number,
            const Table* table, RowDensity density = RowDensity::kPlain);

  /// Ascending by key.
  Status AddCells(ByteView key, const lsm::CellRow& row);
  /// Ascending in the order of row files, then base; the points and the form of the part.
  Status AddPoints(ByteView tsuid, uint32_t base, const Part& part);
  /// The same for a row as another points file holds it.
  Status AddEncodedPoints(ByteView file_key, ByteView value);
  /// Completes and syncs the files; their sizes, marks and, of a points table, times of rows go
  /// into the entry. The folder is not synced.
  Status Finish(lsm::RunEntry* entry);
  /// Of both files so far.
  [[nodiscard]] uint64_t bytes() const;

 private:
  [[nodiscard]] lsm::BlockWriting Writing() const;
  void NoteTimes(ByteView key, const lsm::CellRow& row);

  FileSystem& files_;
  const std::string folder_;
  const KeyLayout layout_;
  const uint64_t number_;
  const Table* const table_;
  const RowDensity density_;
  std::unique_ptr<lsm::BlockFileWriter> cells_;
  std::unique_ptr<lsm::BlockFileWriter> points_;
  Bytes value_;
  bool marks_ = false;
  region::RowSpan rows_ = region::RowSpan::None();
  Bytes split_;
};

}  // namespace hg::points
