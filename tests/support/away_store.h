#pragma once
// A store that cannot be reached, like HBase's when its gateways are down.

#include <vector>

#include "tests/support/model_store.h"

namespace hg {

/// Returns Unavailable for each read of a row, and counts the calls.
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
