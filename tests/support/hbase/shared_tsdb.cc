// The complete program over the store of another daemon (docs/shared-store.md), with both in one
// process: the embedded store, its Thrift2 server, and the HBase client that all calls go through.
// tests/compat/two_daemons runs the tools of the recorded suites with it.

#include <iostream>
#include <utility>

#include "storage/thrift2/thrift2_server.h"
#include "tsd/embedded_backend.h"
#include "tsd/hbase_backend.h"
#include "tsd/program.h"

namespace hg::tsd {
namespace {

class SharedBackend : public Backend {
 public:
  SharedBackend(std::unique_ptr<Backend> node, std::unique_ptr<thrift2::Thrift2Server> server,
                std::unique_ptr<Backend> client)
      : node_(std::move(node)), server_(std::move(server)), client_(std::move(client)) {}

  Store& cells() override { return client_->cells(); }
  Points& points() override { return client_->points(); }
  [[nodiscard]] bool remote() const override { return client_->remote(); }
  void ListenForWrittenRows(std::function<void(ByteView key, uint32_t base)> listener) override {
    client_->ListenForWrittenRows(std::move(listener));
  }
  void CollectStats(const StatVisitor& visit) override { client_->CollectStats(visit); }
  void CollectLatencies(const LatencyVisitor& visit) override { client_->CollectLatencies(visit); }
  Status Health() override { return client_->Health(); }
  Status Close() override {
    RETURN_IF_ERROR(client_->Close());
    server_->Stop();
    return node_->Close();
  }

 private:
  const std::unique_ptr<Backend> node_;
  const std::unique_ptr<thrift2::Thrift2Server> server_;
  const std::unique_ptr<Backend> client_;
};

Result<std::unique_ptr<Backend>> OpenSharedBackend(const Config& config, const std::string& words,
                                                   StoreUse use) {
  ASSIGN_OR_RETURN(auto node, OpenEmbeddedBackend(config, words, use));
  Store& cells = node->cells();
  ASSIGN_OR_RETURN(auto server,
                   thrift2::Thrift2Server::Start([&cells]() -> Store& { return cells; }, {}));
  Config of_client = config;
  of_client.Set("tsd.storage.hbase.thrift", "127.0.0.1:" + std::to_string(server->port()));
  // With kServe the client would have a spool, which would outlast the store.
  const StoreUse client_use = use == StoreUse::kServe ? StoreUse::kWork : use;
  ASSIGN_OR_RETURN(auto client, OpenHbaseBackend(of_client, words, client_use));
  return std::unique_ptr<Backend>(
      std::make_unique<SharedBackend>(std::move(node), std::move(server), std::move(client)));
}

}  // namespace
}  // namespace hg::tsd

int main(int argc, char** argv) {
  return hg::tsd::RunProgram({argv + 1, argv + argc}, hg::tsd::OpenSharedBackend, std::cin,
                             std::cout, std::cerr);
}
