#pragma once
// Evaluates the filters that the client sends, like HBase (hbase-backend.md §7). Pure functions.

#include <memory>
#include <string_view>
#include <vector>

#include "storage/base/status.h"
#include "storage/store.h"

namespace hg::hbase {

/// One filter of a scan. It may keep state of the current row.
class GatewayFilter {
 public:
  virtual ~GatewayFilter() = default;
  /// Called once for each cell of a row, in order. Returns false to leave out the cell. It may
  /// change the cell.
  virtual bool Passes(ByteView key, Cell* cell) = 0;
  virtual void StartRow() {}
};

/// Decodes filterBytes. InvalidArgument: they cannot be read. Unsupported: an unknown class.
Result<std::unique_ptr<GatewayFilter>> ReadGatewayFilter(ByteView bytes);

}  // namespace hg::hbase
