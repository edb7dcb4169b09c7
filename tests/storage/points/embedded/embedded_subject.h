#pragma once
// The embedded store as the subject of the contracts: Disturb flushes, merges, or closes and opens
// again, in turn or by chance.

#include <doctest/doctest.h>

#include <memory>
#include <random>

#include "storage/points/embedded.h"
#include "tests/storage/points/embedded/temp_folder.h"
#include "tests/storage/points_contract.h"
#include "tests/storage/store_contract.h"
#include "tests/support/manual_clock.h"

namespace hg {

class EmbeddedSubject : public StoreSubject, public PointsSubject {
 public:
  EmbeddedSubject(const KeyLayout& layout, std::vector<TableDescriptor> tables, int64_t now_ms)
      : clock_(now_ms) {
    options_.path = folder_.path() + "/data";
    options_.layout = layout;
    options_.tables = std::move(tables);
    options_.background = false;
    options_.log_file_bytes = 1 << 16;
    Reopen();
  }

  Store& store() override { return store_->cells(); }
  Store& cells() override { return store_->cells(); }
  Points& points() override { return store_->points(); }
  ManualClock& clock() override { return clock_; }
  Embedded& embedded() { return *store_; }

  void Disturb() override {
    switch (random_() % 4) {
      case 0:
        REQUIRE(store_->cells().Flush().ok());
        break;
      case 1:
        REQUIRE(store_->cells().Compact().ok());
        break;
      case 2:
        REQUIRE(store_->cells().Flush().ok());
        REQUIRE(store_->cells().Compact().ok());
        break;
      default:
        Reopen();
    }
  }

  void Reopen() {
    store_.reset();
    auto opened = Embedded::Open(options_, PosixFileSystem(), clock_);
    INFO(opened.status().ToString());
    REQUIRE(opened.ok());
    store_ = std::move(*opened);
  }

 private:
  TempFolder folder_;
  ManualClock clock_;
  EmbeddedOptions options_;
  std::mt19937 random_{7};
  std::unique_ptr<Embedded> store_;
};

}  // namespace hg
