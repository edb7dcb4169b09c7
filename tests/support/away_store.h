#pragma once
// A store that cannot be reached, like HBase while all its gateways are down.

#include <vector>

#include "tests/support/model_store.h"

namespace hg {

/// A store that returns Unavailable for each read of a row. The store counts these reads.
class AwayStore : public ModelStore {
 public:
  Result<Row> GetCells(const std::string& /*table*/, ByteView /*key*/,
                       const CellSelection& /*wanted*/) override {
    ++gets;
    return Status::Unavailable("away");
  }
  int gets = 0;
};

}  // namespace hg
