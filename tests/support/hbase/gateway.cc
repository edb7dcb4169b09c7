#include "tests/support/hbase/gateway.h"

#include <thrift/TProcessor.h>
#include <thrift/protocol/TBinaryProtocol.h>
#include <thrift/protocol/TCompactProtocol.h>
#include <thrift/transport/TBufferTransports.h>
#include <thrift/transport/THttpServer.h>

#include <stdexcept>
#include <utility>

#include "storage/thrift2/thrift2_server.h"

namespace hg::hbase {

namespace thrift = apache::thrift;
using thrift::protocol::TProtocol;
using thrift::transport::TTransport;

namespace {

class Hooked : public thrift::TProcessorEventHandler {
 public:
  explicit Hooked(const GatewayOptions& options) : hook_(options.hook) {}
  void* getContext(const char* name, void*) override {
    return const_cast<char*>(name);  // NOLINT: only read again
  }
  void postRead(void*, const char* method, uint32_t) override { Ask(method, Stage::kBefore); }
  void preWrite(void*, const char* method) override { Ask(method, Stage::kAfter); }

 private:
  void Ask(const std::string& method, Stage stage) const {
    // Methods come as "THBaseService.get".
    if (!hook_ || hook_(method.substr(method.find('.') + 1), stage) == Fate::kGoOn) return;
    throw thrift::transport::TTransportException("dropped on purpose");
  }

  const std::function<Fate(const std::string&, Stage)> hook_;
};

// Returns the protocol of the gateway. It accepts only the form in `options`, as HBase's gateways
// do.
std::shared_ptr<TProtocol> ProtocolOf(const GatewayOptions& options,
                                      const std::shared_ptr<TTransport>& bytes) {
  std::shared_ptr<TTransport> transport = std::make_shared<thrift::transport::THttpServer>(bytes);
  if (options.transport == Transport::kFramed) {
    transport = std::make_shared<thrift::transport::TFramedTransport>(
        bytes,
        std::make_shared<thrift::TConfiguration>(options.frame_bytes_max, options.frame_bytes_max));
  }
  if (options.compact) return std::make_shared<thrift::protocol::TCompactProtocol>(transport);
  return std::make_shared<thrift::protocol::TBinaryProtocol>(transport);
}

}  // namespace

struct FakeGateway::Parts {
  GatewayOptions options;
  std::unique_ptr<thrift2::Thrift2Server> server;
  int port = 0;
};

FakeGateway::FakeGateway(std::function<Store&()> store, GatewayOptions options)
    : parts_(std::make_unique<Parts>()) {
  Parts& p = *parts_;
  p.options = std::move(options);
  thrift2::Thrift2Options with;
  with.port = static_cast<uint16_t>(p.options.port);
  with.events = std::make_shared<Hooked>(p.options);
  if (p.options.transport != Transport::kBuffered) {
    with.protocol = [&p](const std::shared_ptr<TTransport>& bytes) {
      return ProtocolOf(p.options, bytes);
    };
  }
  auto started = thrift2::Thrift2Server::Start(std::move(store), std::move(with));
  if (!started.ok()) throw std::runtime_error(started.status().ToString());
  p.server = std::move(*started);
  p.port = p.server->port();
}

FakeGateway::~FakeGateway() = default;

int FakeGateway::port() const { return parts_->port; }

HbaseOptions FakeGateway::ClientOptions() const {
  HbaseOptions options;
  options.gateways = {{"127.0.0.1", parts_->port}};
  options.transport = parts_->options.transport;
  options.compact = parts_->options.compact;
  return options;
}

void FakeGateway::ForgetScanners() { parts_->server->CloseScanners(); }
size_t FakeGateway::scanner_count() const { return parts_->server->Stats().scanners; }
void FakeGateway::Stop() { parts_->server->Stop(); }

}  // namespace hg::hbase
