#include <doctest/doctest.h>

#include "tests/storage/store_contract.h"
#include "tests/support/model_store.h"

namespace hg {
namespace {

class ModelSubject : public StoreSubject {
 public:
  Store& store() override { return store_; }
  ManualClock& clock() override { return clock_; }

 private:
  ManualClock clock_{1'000'000};
  ModelStore store_{clock_};
};

TEST_CASE("the model keeps the contract of the cells door") {
  CheckStoreContract([] { return std::make_unique<ModelSubject>(); });
}

TEST_CASE("the model gives readers what they may ask for") {
  CheckReadContract([] { return std::make_unique<ModelSubject>(); });
}

}  // namespace
}  // namespace hg
