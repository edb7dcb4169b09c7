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

TEST_CASE("the model fulfils the contract of the cell store") {
  CheckStoreContract([] { return std::make_unique<ModelSubject>(); });
}

TEST_CASE("the model fulfils the contract for reading") {
  CheckReadContract([] { return std::make_unique<ModelSubject>(); });
}

}  // namespace
}  // namespace hg
