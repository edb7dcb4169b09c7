// The complete program with the HBase client, whose gateway (tests/support/hbase/gateway.h) serves
// the store in memory of model_tsdb in the same process. It runs the recorded suites through every
// call of the protocol without a JVM. It stores its data in the same way as model_tsdb.

#include <iostream>

#include "storage/hbase/hbase_store.h"
#include "tests/support/hbase/gateway.h"
#include "tests/support/model_backend.h"
#include "tsd/hbase_backend.h"
#include "tsd/program.h"
#include "tsd/settings.h"

namespace hg::tsd {
namespace {

struct GatewayAndClient {
  explicit GatewayAndClient(Store& model) : gateway([&model]() -> Store& { return model; }, {}) {}

  hbase::FakeGateway gateway;
  std::unique_ptr<Store> client;
};

Result<std::unique_ptr<Backend>> OpenGatewayBackend(const Config& config, const std::string&,
                                                    StoreUse) {
  ASSIGN_OR_RETURN(const KeyLayout layout, ReadKeyLayout(config));
  return OpenModelBackendThrough(config, [&](Store& model) -> Result<std::shared_ptr<Store>> {
    auto both = std::make_shared<GatewayAndClient>(model);
    hbase::HbaseOptions options = both->gateway.ClientOptions();
    options.layout = layout;
    ASSIGN_OR_RETURN(both->client, hbase::HbaseStore::Connect(options));
    RETURN_IF_ERROR(EnsureHbaseTables(config, *both->client, StoreUse::kWork));
    Store* const client = both->client.get();
    return std::shared_ptr<Store>(std::move(both), client);
  });
}

}  // namespace
}  // namespace hg::tsd

int main(int argc, char** argv) {
  return hg::tsd::RunProgram({argv + 1, argv + argc}, hg::tsd::OpenGatewayBackend, std::cin,
                             std::cout, std::cerr);
}
