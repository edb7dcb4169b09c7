// The cells door to HBase, by way of a gateway over the embedded store.

#include <doctest/doctest.h>

#include "storage/hbase/hbase_store.h"
#include "tests/storage/points/embedded/embedded_subject.h"
#include "tests/support/hbase/gateway.h"

namespace hg::hbase {
namespace {

class GatewaySubject : public StoreSubject {
 public:
  GatewaySubject()
      : engine_(KeyLayout{}, {{"unused", {{"t"}}, true}}, 1'000'000),
        gateway_([this]() -> Store& { return engine_.store(); }, {}) {
    auto connected = HbaseStore::Connect(gateway_.ClientOptions());
    REQUIRE(connected.ok());
    store_ = std::move(*connected);
  }

  Store& store() override { return *store_; }
  ManualClock& clock() override { return engine_.clock(); }
  [[nodiscard]] bool mutations_in_order() const override { return false; }
  void Disturb() override {
    // A scan that nobody goes on with would hold the store open.
    gateway_.ForgetScanners();
    engine_.Disturb();
  }

 private:
  EmbeddedSubject engine_;
  FakeGateway gateway_;
  std::unique_ptr<Store> store_;
};

TEST_CASE("the store of HBase keeps the contract of the cells door") {
  CheckStoreContract([] { return std::make_unique<GatewaySubject>(); });
}

TEST_CASE("the store of HBase gives readers what they may ask for") {
  CheckReadContract([] { return std::make_unique<GatewaySubject>(); });
}

}  // namespace
}  // namespace hg::hbase
