// The cell store over HBase, through a gateway over the embedded store.

#include <doctest/doctest.h>

#include <cstdlib>
#include <set>

#include "storage/hbase/hbase_store.h"
#include "tests/storage/engine/embedded_subject.h"
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
    // An abandoned scan would keep the store open.
    gateway_.ForgetScanners();
    engine_.Disturb();
  }

 private:
  EmbeddedSubject engine_;
  FakeGateway gateway_;
  std::unique_ptr<Store> store_;
};

// Tables of a cluster, which are dropped at the end. The clock is that of the cluster.
class ClusterSubject : public StoreSubject {
 public:
  ClusterSubject() {
    HbaseOptions options;
    options.gateways = {{"127.0.0.1", std::atoi(Port())}};
    auto connected = HbaseStore::Connect(options);
    INFO(connected.status().ToString());
    REQUIRE(connected.ok());
    store_ = std::move(*connected);
    before_ = TableNames();
  }
  ~ClusterSubject() override {
    for (const std::string& table : TableNames()) {
      if (!before_.contains(table)) CHECK(store_->DropTable(table).ok());
    }
  }

  /// The address of a gateway on this machine; null: there is none.
  static const char* Port() { return std::getenv("TESTBED_THRIFT_PORT"); }

  Store& store() override { return *store_; }
  ManualClock& clock() override { return unheard_; }
  [[nodiscard]] bool obeys_clock() const override { return false; }
  /// To find the region of a row, HBase builds a key from the name of the table and the key of the
  /// row.
  [[nodiscard]] size_t key_bytes_max() const override { return 32700; }
  [[nodiscard]] bool mutations_in_order() const override { return false; }

 private:
  std::set<std::string> TableNames() {
    auto tables = store_->ListTables();
    REQUIRE(tables.ok());
    std::set<std::string> names;
    for (const TableDescriptor& table : *tables) names.insert(table.name);
    return names;
  }

  ManualClock unheard_{1'000'000};
  std::unique_ptr<Store> store_;
  std::set<std::string> before_;
};

TEST_CASE("HBase itself fulfils the contract" * doctest::skip(ClusterSubject::Port() == nullptr)) {
  CheckStoreContract([] { return std::make_unique<ClusterSubject>(); });
}

TEST_CASE("HBase itself fulfils the contract for reading" *
          doctest::skip(ClusterSubject::Port() == nullptr)) {
  CheckReadContract([] { return std::make_unique<ClusterSubject>(); });
}

TEST_CASE("the HBase store fulfils the contract of the cell store") {
  CheckStoreContract([] { return std::make_unique<GatewaySubject>(); });
}

TEST_CASE("the HBase store fulfils the contract for reading") {
  CheckReadContract([] { return std::make_unique<GatewaySubject>(); });
}

}  // namespace
}  // namespace hg::hbase
