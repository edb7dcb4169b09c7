#include "tests/support/hbase/gateway.h"

#include <thrift/protocol/TBinaryProtocol.h>
#include <thrift/protocol/TCompactProtocol.h>
#include <thrift/server/TThreadedServer.h>
#include <thrift/transport/TBufferTransports.h>
#include <thrift/transport/THttpServer.h>
#include <thrift/transport/TServerSocket.h>

#include <future>
#include <thread>

#include "tests/support/hbase/gateway_service.h"

namespace hg::hbase {

namespace thrift = apache::thrift;
using thrift::protocol::TProtocolFactory;
using thrift::transport::TTransport;
using thrift::transport::TTransportFactory;

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

class FramedFactory : public TTransportFactory {
 public:
  explicit FramedFactory(int bytes_max)
      : limits_(std::make_shared<thrift::TConfiguration>(bytes_max, bytes_max)) {}
  std::shared_ptr<TTransport> getTransport(std::shared_ptr<TTransport> under) override {
    return std::make_shared<thrift::transport::TFramedTransport>(under, limits_);
  }

 private:
  std::shared_ptr<thrift::TConfiguration> limits_;
};

std::shared_ptr<TTransportFactory> TransportOf(const GatewayOptions& options) {
  switch (options.transport) {
    case Transport::kFramed:
      return std::make_shared<FramedFactory>(options.frame_bytes_max);
    case Transport::kHttp:
      return std::make_shared<thrift::transport::THttpServerTransportFactory>();
    case Transport::kBuffered:
      break;
  }
  return std::make_shared<thrift::transport::TBufferedTransportFactory>();
}

// Reports when the port is open.
class Listening : public thrift::server::TServerEventHandler {
 public:
  void preServe() override { open_.set_value(); }
  void Wait() { open_.get_future().wait(); }

 private:
  std::promise<void> open_;
};

}  // namespace

struct FakeGateway::Parts {
  GatewayOptions options;
  std::shared_ptr<GatewayService> service;
  std::shared_ptr<thrift::transport::TServerSocket> socket;
  std::unique_ptr<thrift::server::TThreadedServer> server;
  std::thread thread;
  int port = 0;
};

FakeGateway::FakeGateway(std::function<Store&()> store, GatewayOptions options)
    : parts_(std::make_unique<Parts>()) {
  thrift::GlobalOutput.setOutputFunction([](const char*) {});
  Parts& p = *parts_;
  p.options = std::move(options);
  p.service = std::make_shared<GatewayService>(std::move(store));
  p.socket = std::make_shared<thrift::transport::TServerSocket>("127.0.0.1", p.options.port);
  std::shared_ptr<TProtocolFactory> protocol;
  if (p.options.compact) {
    protocol = std::make_shared<thrift::protocol::TCompactProtocolFactory>();
  } else {
    protocol = std::make_shared<thrift::protocol::TBinaryProtocolFactory>();
  }
  auto processor = std::make_shared<wire::THBaseServiceProcessor>(p.service);
  processor->setEventHandler(std::make_shared<Hooked>(p.options));
  p.server = std::make_unique<thrift::server::TThreadedServer>(processor, p.socket,
                                                               TransportOf(p.options), protocol);
  auto listening = std::make_shared<Listening>();
  p.server->setServerEventHandler(listening);
  p.thread = std::thread([&p] { p.server->serve(); });
  listening->Wait();
  p.port = p.socket->getPort();
}

FakeGateway::~FakeGateway() { Stop(); }

int FakeGateway::port() const { return parts_->port; }

HbaseOptions FakeGateway::ClientOptions() const {
  HbaseOptions options;
  options.gateways = {{"127.0.0.1", parts_->port}};
  options.transport = parts_->options.transport;
  options.compact = parts_->options.compact;
  return options;
}

void FakeGateway::ForgetScanners() { parts_->service->ForgetScanners(); }
size_t FakeGateway::scanner_count() const { return parts_->service->scanner_count(); }

void FakeGateway::Stop() {
  if (!parts_->thread.joinable()) return;
  parts_->server->stop();
  parts_->thread.join();
  parts_->server.reset();
  parts_->socket->close();
}

}  // namespace hg::hbase
