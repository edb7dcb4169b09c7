#pragma once
// A store that cannot be reached, as HBase's when its gateways are away.

#include <vector>

#include "tests/support/model_store.h"

namespace hg {

/// Unavailable for each Get, which it counts.
class AwayStore : public ModelStore {
 public:
  Result<Row> Get(const std::string& /*table*/, ByteView /*key*/, ByteView /*family*/,
                  const std::vector<Bytes>& /*qualifiers*/) override {
    ++gets;
    return Status::Unavailable("away");
  }
  int gets = 0;
};

}  // namespace hg
