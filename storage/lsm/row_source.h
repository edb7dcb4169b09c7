#pragma once
// Ordered streams of row parts, and their merge.

#include <memory>
#include <vector>

#include "storage/base/status.h"
#include "storage/lsm/cell_memory.h"
#include "storage/lsm/cell_row.h"

namespace hg::lsm {

/// Rows ascending by key. One thread at a time.
class RowSource {
 public:
  virtual ~RowSource() = default;
  /// Moves to the next row; false at the end.
  virtual Result<bool> Next() = 0;
  /// The next row is the first one ≥ start, which lies behind the row moved to.
  virtual void Seek(Bytes start) = 0;
  /// Of the row moved to; until the next Next.
  [[nodiscard]] virtual const Bytes& key() const = 0;
  /// May be taken once per row.
  virtual CellRow TakeRow() = 0;
};

/// Rows of memory in [start, stop) (stop "" = no end), copied in small batches; the memory may
/// change meanwhile and outlives the source.
std::unique_ptr<RowSource> ScanMemory(const CellMemory& memory, Bytes start, Bytes stop);

/// The merge of parts; `sources` newest first.
std::unique_ptr<RowSource> MergeSources(CellOrder order,
                                        std::vector<std::unique_ptr<RowSource>> sources);

}  // namespace hg::lsm
