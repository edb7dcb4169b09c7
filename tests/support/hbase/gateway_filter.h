#pragma once
// What HBase does with the filters of its gateway (spec hbase-backend.md §7), as far as the client
// sends them. Pure.

#include <memory>
#include <string_view>
#include <vector>

#include "storage/base/status.h"
#include "storage/store.h"

namespace hg::hbase {

/// One filter of a scan; it may hold state of the row that it is asked about.
class GatewayFilter {
 public:
  virtual ~GatewayFilter() = default;
  /// Called once for each cell of a row, in order; false: it is not given. It may change the cell.
  virtual bool Passes(ByteView key, Cell* cell) = 0;
  virtual void StartRow() {}
};

/// From filterBytes. InvalidArgument: they cannot be read. Unsupported: a class that is not known.
Result<std::unique_ptr<GatewayFilter>> ReadGatewayFilter(ByteView bytes);

}  // namespace hg::hbase
