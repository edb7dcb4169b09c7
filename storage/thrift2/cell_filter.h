#pragma once
// Decodes and evaluates HBase's serialized filters (filterBytes), like HBase (hbase-backend.md §7).
// storage/hbase/filter_bytes.h encodes them.

#include <memory>

#include "storage/base/request_context.h"
#include "storage/base/status.h"
#include "storage/store.h"

namespace hg::thrift2 {

/// One filter of a scan. It has a state for the current row. Not thread-safe.
class CellFilter {
 public:
  virtual ~CellFilter() = default;
  /// Called once before the cells of each row.
  virtual void StartRow() {}
  /// Called once for each cell of a row, in order. Returns false to leave out the cell. The
  /// function may change the cell. Reports its work to the context and fails with errors of the
  /// context. LimitExceeded: a regular expression takes too many steps.
  virtual Result<bool> Passes(ByteView key, Cell* cell, RequestContext* context) = 0;
};

/// The maximum size of filterBytes in bytes.
inline constexpr size_t kFilterBytesMax = 1 << 20;

/// The maximum number of filter lists inside each other.
inline constexpr int kFilterDepthMax = 32;

/// Decodes filterBytes. InvalidArgument: the bytes cannot be decoded, or a regular expression is
/// invalid. LimitExceeded: the bytes are too long or nested too deeply, or their regular
/// expressions take too much memory. Unsupported: Hourglass does not have the filter class.
Result<std::unique_ptr<CellFilter>> ReadCellFilter(ByteView bytes);

/// Returns whether a regular expression matches the whole text. InvalidArgument: the expression is
/// invalid. LimitExceeded: matching takes too many steps.
Result<bool> MatchesWhole(ByteView pattern, ByteView text, RequestContext* context);

}  // namespace hg::thrift2
