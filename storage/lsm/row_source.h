#pragma once
// Iterates over the rows of one memtable or file in key order, and merges the rows of several
// memtables and files.

#include <memory>
#include <vector>

#include "storage/base/status.h"
#include "storage/lsm/cell_memory.h"
#include "storage/lsm/cell_row.h"

namespace hg::lsm {

/// The rows of one memtable or file, in ascending order of keys. Not thread-safe.
class RowSource {
 public:
  virtual ~RowSource() = default;
  /// Moves to the next row. Returns false if there are no more. Fails as BlockFileScan::Next does.
  virtual Result<bool> Next() = 0;
  /// Makes the next call of Next return the first row with key ≥ start. `start` must be after the
  /// key of the current row.
  virtual void Seek(Bytes start) = 0;
  /// Returns the key of the current row, which is valid until the next call of Next or Seek.
  [[nodiscard]] virtual const Bytes& key() const = 0;
  /// Appends the selected columns of the next piece of the current row to `row`, which has the
  /// columns of the previous pieces or is empty. Returns whether the row has more pieces. Only wide
  /// rows in files have more than one piece. The memory of the columns is charged to `memory`
  /// before they are copied. If the charge fails, TakePiece returns its error. If `memory` is null,
  /// there is no limit. Returns Corruption if the piece cannot be read.
  virtual Result<bool> TakePiece(const ColumnChoice& wanted, MemoryTally* memory, CellRow* row) = 0;
  /// Returns the selected columns of all pieces of the current row. Call either TakeRow once or
  /// TakePiece for each piece. `memory` and errors are as for TakePiece.
  Result<CellRow> TakeRow(const ColumnChoice& wanted = {}, MemoryTally* memory = nullptr);
};

/// Returns a source of the rows of a memtable in [start, stop). An empty `stop` means that the
/// range has no end. The source copies rows in small batches, so the memtable may change meanwhile.
/// The memtable must outlive the source.
std::unique_ptr<RowSource> ScanMemory(const CellMemory& memory, Bytes start, Bytes stop);

/// Merges several sources. The merge returns the rows in ascending order of keys, and merges the
/// content of each row from all sources. Not thread-safe.
class MergedRows {
 public:
  /// `sources` must be ordered from the newest memtable or file to the oldest.
  MergedRows(CellOrder order, std::vector<std::unique_ptr<RowSource>> sources)
      : order_(order), sources_(std::move(sources)), live_(sources_.size(), false) {}

  /// Moves to the next row. Returns false if there are no more rows.
  Result<bool> Next();
  /// Returns the key of the current row, which is valid until the next call of Next.
  [[nodiscard]] const Bytes& key() const { return key_; }
  /// Returns the sources that have the current row, from the newest to the oldest.
  [[nodiscard]] std::vector<RowSource*> Sources() const;
  /// Returns the current row. Call this function at most once for each row, and not if you take
  /// pieces from the Sources. Returns Corruption if a source cannot be read.
  Result<CellRow> TakeRow();

 private:
  const CellOrder order_;
  const std::vector<std::unique_ptr<RowSource>> sources_;
  std::vector<bool> live_;
  bool started_ = false;
  Bytes key_;
};

}  // namespace hg::lsm
