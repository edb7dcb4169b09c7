#pragma once
// Ordered streams of parts of rows, and their merge.

#include <memory>
#include <vector>

#include "storage/base/status.h"
#include "storage/lsm/cell_memory.h"
#include "storage/lsm/cell_row.h"

namespace hg::lsm {

/// Rows in ascending order of keys. Not thread-safe.
class RowSource {
 public:
  virtual ~RowSource() = default;
  /// Moves to the next row. Returns false at the end.
  virtual Result<bool> Next() = 0;
  /// Makes the first row ≥ start the next one. `start` must be after the current row.
  virtual void Seek(Bytes start) = 0;
  /// The key of the current row, valid until the next call of Next.
  [[nodiscard]] virtual const Bytes& key() const = 0;
  /// Returns the selected columns of the current row. Call it at most once per row. `memory` is
  /// charged before the columns are copied and may refuse; null means no limit. Corruption means
  /// that the row cannot be read.
  virtual Result<CellRow> TakeRow(const ColumnChoice& wanted, MemoryTally* memory) = 0;
  /// Returns all columns, without a memory limit.
  Result<CellRow> TakeRow() { return TakeRow({}, nullptr); }
};

/// Returns the rows of a memtable in [start, stop). An empty stop means no end. It copies rows in
/// small batches, so the memtable may change meanwhile. The memtable must outlive the source.
std::unique_ptr<RowSource> ScanMemory(const CellMemory& memory, Bytes start, Bytes stop);

/// Merges several sources: rows in ascending order of keys, with the parts of each row merged. Not
/// thread-safe.
class MergedRows {
 public:
  /// `sources` are ordered newest first.
  MergedRows(CellOrder order, std::vector<std::unique_ptr<RowSource>> sources)
      : order_(order), sources_(std::move(sources)), live_(sources_.size(), false) {}

  /// Moves to the next row. Returns false at the end.
  Result<bool> Next();
  /// The key of the current row, valid until the next call of Next.
  [[nodiscard]] const Bytes& key() const { return key_; }
  /// Returns the current row. Call it at most once per row. Corruption means that a part cannot be
  /// read.
  Result<CellRow> TakeRow();

 private:
  const CellOrder order_;
  const std::vector<std::unique_ptr<RowSource>> sources_;
  std::vector<bool> live_;
  bool started_ = false;
  Bytes key_;
};

}  // namespace hg::lsm
