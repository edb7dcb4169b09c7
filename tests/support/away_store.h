#pragma once
// A store that cannot be reached, like HBase's when its gateways are down.

#include <vector>

#include "tests/support/model_store.h"

namespace hg {

/// Returns Unavailable for each Get, and counts the calls.
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
