#pragma once
// Decodes and evaluates HBase's serialized filters (filterBytes) as HBase does (hbase-backend.md
// §7). storage/hbase/filter_bytes.h encodes such filters.

#include <memory>

#include "storage/base/request_context.h"
#include "storage/base/status.h"
#include "storage/store.h"

namespace hg::thrift2 {

/// One filter of a scan. The filter has a state for the current row. Not thread-safe.
class CellFilter {
 public:
  virtual ~CellFilter() = default;
  /// The scan calls this function once before the cells of each row.
  virtual void StartRow() {}
  /// The scan calls this function once for each cell of a row, in order. Returns false to leave out
  /// the cell. The function may change the cell. It reports its work to the context and fails if
  /// the context reports an error. Returns LimitExceeded if a regular expression takes too many
  /// steps.
  virtual Result<bool> Passes(ByteView key, Cell* cell, RequestContext* context) = 0;
};

/// The maximum size of filterBytes in bytes.
inline constexpr size_t kFilterBytesMax = 1 << 20;

/// The maximum number of protobuf fields of a filter, including the filters inside it.
inline constexpr size_t kFilterFieldsMax = 32'768;

/// The maximum depth of nested filter lists.
inline constexpr int kFilterDepthMax = 32;

/// Decodes filterBytes. Returns InvalidArgument if the bytes cannot be decoded, or if a regular
/// expression is invalid. Returns LimitExceeded if the bytes are too long or nested too deeply, if
/// they have too many fields, or if their regular expressions take too much memory. Returns
/// Unsupported if Hourglass does not have the filter class.
Result<std::unique_ptr<CellFilter>> ReadCellFilter(ByteView bytes);

/// Returns whether a regular expression matches the whole text. Returns InvalidArgument if the
/// expression is invalid, and LimitExceeded if matching takes too many steps.
Result<bool> MatchesWhole(ByteView pattern, ByteView text, RequestContext* context);

}  // namespace hg::thrift2
