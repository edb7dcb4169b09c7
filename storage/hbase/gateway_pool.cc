#include "storage/hbase/gateway_pool.h"

#include <poll.h>
#include <thrift/protocol/TBinaryProtocol.h>
#include <thrift/protocol/TCompactProtocol.h>
#include <thrift/transport/TBufferTransports.h>
#include <thrift/transport/THttpClient.h>
#include <thrift/transport/TSocket.h>

#include <algorithm>
#include <utility>

namespace hg::hbase {

namespace thrift = apache::thrift;
using std::chrono::milliseconds;
using std::chrono::steady_clock;

class Connection {
 public:
  Connection(const HbaseOptions& options, const Gateway& gateway) {
    const auto limits = std::make_shared<thrift::TConfiguration>(options.message_bytes_max,
                                                                 options.message_bytes_max);
    socket_ = std::make_shared<thrift::transport::TSocket>(gateway.host, gateway.port, limits);
    socket_->setConnTimeout(options.connect_timeout_ms);
    socket_->setSendTimeout(options.send_timeout_ms);
    socket_->setRecvTimeout(options.receive_timeout_ms);
    socket_->setNoDelay(true);
    socket_->setKeepAlive(true);
    switch (options.transport) {
      case Transport::kBuffered:
        // The default buffer of 512 bytes would split a batch into thousands of writes.
        transport_ =
            std::make_shared<thrift::transport::TBufferedTransport>(socket_, 65536, limits);
        break;
      case Transport::kFramed:
        transport_ = std::make_shared<thrift::transport::TFramedTransport>(socket_, limits);
        break;
      case Transport::kHttp:
        // The default empty path makes a request line that no server accepts.
        transport_ =
            std::make_shared<thrift::transport::THttpClient>(socket_, gateway.host, "/", limits);
        break;
    }
    std::shared_ptr<thrift::protocol::TProtocol> protocol;
    if (options.compact) {
      protocol = std::make_shared<thrift::protocol::TCompactProtocol>(transport_);
    } else {
      protocol = std::make_shared<thrift::protocol::TBinaryProtocol>(transport_);
    }
    client_ = std::make_unique<wire::THBaseServiceClient>(protocol);
  }

  /// Connects and reads the first response. Throws the exceptions of Thrift.
  wire::TThriftServerType::type Greet(const HbaseOptions& options) {
    transport_->open();
    socket_->setRecvTimeout(options.greeting_timeout_ms);
    const auto type = client_->getThriftServerType();
    socket_->setRecvTimeout(options.receive_timeout_ms);
    return type;
  }

  /// Returns whether an idle connection can be used: neither data nor the end of the stream has
  /// arrived.
  [[nodiscard]] bool Quiet() const {
    pollfd poll_for{socket_->getSocketFD(), POLLIN, 0};
    return poll(&poll_for, 1, 0) == 0;
  }

  wire::THBaseServiceClient& client() { return *client_; }
  Deadline used_at;  // written by the pool

 private:
  std::shared_ptr<thrift::transport::TSocket> socket_;
  std::shared_ptr<thrift::transport::TTransport> transport_;
  std::unique_ptr<wire::THBaseServiceClient> client_;
};

GatewayPool::Lease::Lease(GatewayPool* pool, size_t gateway, uint64_t epoch,
                          std::unique_ptr<Connection> connection)
    : pool_(pool), gateway_(gateway), epoch_(epoch), connection_(std::move(connection)) {}

GatewayPool::Lease::Lease(Lease&& other) noexcept = default;

GatewayPool::Lease::~Lease() {
  if (connection_) pool_->GiveBack(gateway_, std::move(connection_));
}

wire::THBaseServiceClient& GatewayPool::Lease::client() { return connection_->client(); }

void GatewayPool::Lease::Break(const std::optional<Status>& away) {
  connection_.reset();
  pool_->Lose(gateway_, away);
}

GatewayPool::Entry::Entry(GatewayPool* looking, Status refusal)
    : looking_(looking), refusal_(std::move(refusal)) {}

GatewayPool::Entry::Entry(Entry&& other) noexcept
    : looking_(std::exchange(other.looking_, nullptr)), refusal_(std::move(other.refusal_)) {}

GatewayPool::Entry::~Entry() {
  if (looking_ != nullptr) looking_->EndLook();
}

GatewayPool::GatewayPool(const HbaseOptions& options)
    : options_(options), gateways_(options.gateways.size()) {
  // Suppresses Thrift's output on standard error. The same text is in its exceptions.
  thrift::GlobalOutput.setOutputFunction([](const char*) {});
}

GatewayPool::~GatewayPool() = default;

std::string GatewayPool::Name(size_t gateway) const {
  const Gateway& g = options_.gateways[gateway];
  return g.host + ":" + std::to_string(g.port);
}

std::vector<HbaseStats::Connections> GatewayPool::Connections() {
  const std::lock_guard lock(mutex_);
  std::vector<HbaseStats::Connections> all;
  for (size_t i = 0; i < gateways_.size(); ++i) {
    const State& state = gateways_[i];
    all.push_back({options_.gateways[i].host, options_.gateways[i].port, state.open,
                   state.idle.size(), state.opened, state.failures > 0});
  }
  return all;
}

bool GatewayPool::AllAway() const {
  return std::all_of(gateways_.begin(), gateways_.end(),
                     [](const State& state) { return state.failures > 0; });
}

Status GatewayPool::Reachable() {
  const std::lock_guard lock(mutex_);
  return AllAway() ? away_ : Status();
}

GatewayPool::Entry GatewayPool::Enter() {
  const std::lock_guard lock(mutex_);
  if (!AllAway()) return {nullptr, {}};
  if (looking_ || steady_clock::now() < look_at_) return {nullptr, away_};
  looking_ = true;
  return {this, {}};
}

void GatewayPool::EndLook() {
  const std::lock_guard lock(mutex_);
  looking_ = false;
  look_at_ = steady_clock::now() + milliseconds(options_.rest_ms);
}

// Returns the next gateway in turn that is not resting. If all are resting, returns the one whose
// rest ends first.
size_t GatewayPool::Choose(Deadline now) {
  size_t best = turn_ % gateways_.size();
  for (size_t i = 0; i < gateways_.size(); ++i) {
    const size_t candidate = (turn_ + i) % gateways_.size();
    if (gateways_[candidate].resting_until <= now) {
      best = candidate;
      break;
    }
    if (gateways_[candidate].resting_until < gateways_[best].resting_until) best = candidate;
  }
  turn_ = best + 1;
  return best;
}

void GatewayPool::Rest(State* state) {
  const int64_t doubled = int64_t{options_.rest_ms} << std::min(state->failures, 20);
  ++state->failures;
  state->resting_until =
      steady_clock::now() + milliseconds(std::min<int64_t>(doubled, options_.rest_max_ms));
}

std::vector<std::unique_ptr<Connection>> GatewayPool::TakeStale(State* state, Deadline now) {
  std::vector<std::unique_ptr<Connection>> stale;
  auto& idle = state->idle;
  const auto fresh = std::find_if(idle.begin(), idle.end(), [&](const auto& connection) {
    return now - connection->used_at < milliseconds(options_.idle_ms);
  });
  std::move(idle.begin(), fresh, std::back_inserter(stale));
  idle.erase(idle.begin(), fresh);
  state->open -= stale.size();
  // After these connections are closed, a restart of the gateway could go unnoticed. A restart
  // makes scanner ids invalid, so the epoch changes.
  if (!stale.empty()) ++state->epoch;
  return stale;
}

Result<GatewayPool::Lease> GatewayPool::Take(std::optional<size_t> wanted, Deadline deadline) {
  std::vector<std::unique_ptr<Connection>> stale;  // closed after the lock is released
  std::unique_lock lock(mutex_);
  const size_t gateway = wanted ? *wanted : Choose(steady_clock::now());
  State& state = gateways_[gateway];
  while (true) {
    for (auto& old : TakeStale(&state, steady_clock::now())) stale.push_back(std::move(old));
    while (!state.idle.empty()) {
      std::unique_ptr<Connection> connection = std::move(state.idle.back());
      state.idle.pop_back();
      if (connection->Quiet()) return Lease(this, gateway, state.epoch, std::move(connection));
      --state.open;
      ++state.epoch;
      stale.push_back(std::move(connection));
    }
    if (state.open < options_.connections) break;
    if (given_back_.wait_until(lock, deadline) == std::cv_status::timeout) {
      return Status::Busy("all " + std::to_string(options_.connections) + " connections to " +
                          Name(gateway) + " are in use");
    }
  }
  ++state.open;
  const uint64_t epoch = state.epoch;
  lock.unlock();
  auto opened = [&] {
    try {
      return Open(gateway);
    } catch (...) {  // for example bad_alloc: frees the connection slot
      Lose(gateway, std::nullopt);
      throw;
    }
  }();
  if (opened.ok()) {
    lock.lock();
    ++state.opened;
    lock.unlock();
    return Lease(this, gateway, epoch, std::move(*opened));
  }
  Lose(gateway, opened.status());
  return opened.status();
}

Result<std::unique_ptr<Connection>> GatewayPool::Open(size_t gateway) const {
  auto connection = std::make_unique<Connection>(options_, options_.gateways[gateway]);
  const std::string name = "HBase's Thrift2 gateway " + Name(gateway);
  try {
    if (connection->Greet(options_) == wire::TThriftServerType::TWO) return connection;
    return Status::Unavailable(name + " is a Thrift1 server");
  } catch (const thrift::transport::TTransportException& e) {
    if (e.getType() == thrift::transport::TTransportException::NOT_OPEN) {
      return Status::Unavailable(name + " cannot be reached: " + e.what());
    }
    return Status::Unavailable(name + " does not answer as expected (" + e.what() +
                               "); framing and protocol must be the ones that it was started with");
  } catch (const thrift::TException& e) {
    return Status::Unavailable(name + " does not answer as expected: " + e.what());
  }
}

void GatewayPool::GiveBack(size_t gateway, std::unique_ptr<Connection> connection) {
  {
    const std::lock_guard lock(mutex_);
    connection->used_at = steady_clock::now();
    gateways_[gateway].failures = 0;
    gateways_[gateway].resting_until = {};
    gateways_[gateway].idle.push_back(std::move(connection));
  }
  given_back_.notify_all();
}

void GatewayPool::Lose(size_t gateway, const std::optional<Status>& away) {
  {
    const std::lock_guard lock(mutex_);
    State& state = gateways_[gateway];
    --state.open;
    ++state.epoch;
    if (away) {
      Rest(&state);
      away_ = *away;
      look_at_ = steady_clock::now() + milliseconds(options_.rest_ms);
    }
  }
  given_back_.notify_all();
}

}  // namespace hg::hbase
