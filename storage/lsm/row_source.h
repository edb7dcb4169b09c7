#pragma once
// Iterates over the rows of one memtable or file in key order, and merges several such sources.

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
  /// Moves to the next row. Returns false at the end.
  virtual Result<bool> Next() = 0;
  /// Makes the next call of Next continue with the first row ≥ start. `start` must be after the
  /// current row.
  virtual void Seek(Bytes start) = 0;
  /// Returns the key of the current row, which is valid until the next call of Next.
  [[nodiscard]] virtual const Bytes& key() const = 0;
  /// Returns the selected columns of the current row. Call this function at most once for each row.
  /// `memory` is charged before the columns are copied, and if that fails, its error is returned;
  /// null means no limit. Corruption: the row cannot be read.
  virtual Result<CellRow> TakeRow(const ColumnChoice& wanted, MemoryTally* memory) = 0;
  /// Returns all columns of the current row, without a memory limit.
  Result<CellRow> TakeRow() { return TakeRow({}, nullptr); }
};

/// Returns the rows of a memtable in [start, stop). An empty stop means no end. The source copies
/// rows in small batches, so the memtable may change meanwhile. The memtable must outlive the
/// source.
std::unique_ptr<RowSource> ScanMemory(const CellMemory& memory, Bytes start, Bytes stop);

/// Merges several sources: returns the rows in ascending order of keys, and merges the content of
/// each row from all of them. Not thread-safe.
class MergedRows {
 public:
  /// `sources` must be ordered from newest to oldest.
  MergedRows(CellOrder order, std::vector<std::unique_ptr<RowSource>> sources)
      : order_(order), sources_(std::move(sources)), live_(sources_.size(), false) {}

  /// Moves to the next row. Returns false at the end.
  Result<bool> Next();
  /// Returns the key of the current row, which is valid until the next call of Next.
  [[nodiscard]] const Bytes& key() const { return key_; }
  /// Returns the current row. Call this function at most once for each row. Corruption: a source
  /// cannot be read.
  Result<CellRow> TakeRow();

 private:
  const CellOrder order_;
  const std::vector<std::unique_ptr<RowSource>> sources_;
  std::vector<bool> live_;
  bool started_ = false;
  Bytes key_;
};

}  // namespace hg::lsm
