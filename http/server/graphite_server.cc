#include "http/server/graphite_server.h"

#include <atomic>
#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/steady_timer.hpp>
#include <memory>
#include <thread>
#include <unordered_set>
#include <vector>

#include "http/access/client_limits.h"
#include "http/intake/graphite_intake.h"
#include "http/request/turn_watch.h"
#include "http/server/listener.h"
#include "http/wire/graphite_line.h"
#include "http/wire/pickle.h"
#include "storage/base/bytes.h"
#include "storage/model/writer.h"

namespace hg::http {
namespace {

namespace asio = boost::asio;
using asio::ip::tcp;

constexpr size_t kReadBytes = 65536;
constexpr size_t kFrameHeadBytes = 4;
constexpr auto kAcceptPause = std::chrono::milliseconds(100);
constexpr auto kSweepInterval = std::chrono::seconds(1);

enum class Form : uint8_t { kLines, kPickle };

/// Returns true if the first line of a connection is an HTTP request line or the start of a TLS
/// connection. A web page of any site can make a browser send these, followed by lines of points.
bool IsAnotherProtocol(std::string_view line) {
  constexpr char kTlsHandshake = 0x16;
  if (line.starts_with(kTlsHandshake)) return true;
  if (line.ends_with('\r')) line.remove_suffix(1);
  return line.ends_with(" HTTP/1.1") || line.ends_with(" HTTP/1.0");
}

/// A connection. It lives while a read is pending.
class GraphiteConnection : public std::enable_shared_from_this<GraphiteConnection> {
 public:
  /// Creates a connection. `writer`: write limits of the client; null = unlimited.
  GraphiteConnection(tcp::socket socket, Form form, GraphiteIntake& intake, TurnWatch& turns,
                     std::shared_ptr<Writer> writer, std::unordered_set<GraphiteConnection*>& all)
      : socket_(std::move(socket)),
        form_(form),
        intake_(intake),
        turns_(turns),
        writer_(std::move(writer)),
        all_(all) {
    all_.insert(this);
    active_ms_ = intake_.MonotonicMs();
  }
  ~GraphiteConnection() { all_.erase(this); }

  void Read() {
    const size_t had = bytes_.size();
    bytes_.resize(had + kReadBytes);
    socket_.async_read_some(
        asio::buffer(bytes_.data() + had, kReadBytes),
        [self = shared_from_this(), had](const boost::system::error_code& error, size_t size) {
          if (self->intake_.stopping()) return;
          const Turn turn(self->turns_, [&] { return "a Graphite " + self->What(); });
          self->bytes_.resize(had + size);
          const bool good = self->Take();
          self->active_ms_ = self->intake_.MonotonicMs();
          if (error && !self->bytes_.empty()) {
            self->intake_.Refuse(
                Status::InvalidArgument("a connection ended within a " + self->What()));
          }
          if (good && !error) self->Read();
        });
  }
  /// Returns true if nothing arrived for that time. Bytes in the kernel's buffer count as arrived,
  /// because the thread does not read while the store is busy.
  [[nodiscard]] bool IdleFor(int64_t seconds) const {
    boost::system::error_code ignored;
    return intake_.MonotonicMs() - active_ms_ > seconds * 1000 && socket_.available(ignored) == 0;
  }
  void Close() {
    boost::system::error_code ignored;
    socket_.close(ignored);
  }

 private:
  [[nodiscard]] std::string What() const { return form_ == Form::kLines ? "line" : "frame"; }

  /// Handles the complete lines or frames in bytes_. Returns false if one is too long, so that
  /// reading must stop.
  bool Take() {
    try {
      return form_ == Form::kLines ? TakeLines() : TakeFrames();
    } catch (...) {
      intake_.Drop();
      throw;
    }
  }

  bool TakeLines() {
    const Timestamp now = intake_.Now();
    std::string_view rest = bytes_;
    for (GraphitePoint point;;) {
      if (TakePlainGraphiteLine(&rest, &point)) {
        intake_.Add(point, writer_.get());
        continue;
      }
      const size_t end = rest.find('\n');
      if (end == std::string_view::npos) break;
      if (IsAnotherProtocol(rest.substr(0, end))) return Leave();
      TakeOtherLine(rest.substr(0, end), now);
      rest.remove_prefix(end + 1);
    }
    intake_.Flush(writer_.get());
    return Keep(rest, rest.size(), GraphiteServer::kLineBytesMax);
  }

  /// Refuses the rest of the connection without reading it.
  bool Leave() {
    intake_.Refuse(Status::InvalidArgument("a client speaks HTTP or TLS, not lines"));
    intake_.Flush(writer_.get());
    bytes_.clear();
    return false;
  }

  void TakeOtherLine(std::string_view line, Timestamp now) {
    if (line.find_first_not_of(" \t\r") == std::string_view::npos) return;
    const Result<GraphitePoint> point = ParseGraphiteLine(line, now);
    point.ok() ? intake_.Add(*point, writer_.get()) : intake_.Refuse(point.status());
  }

  bool TakeFrames() {
    std::string_view rest = bytes_;
    size_t size = 0;  // size of an incomplete frame
    while (rest.size() >= kFrameHeadBytes) {
      size = ReadBig32(rest.data());
      if (size > GraphiteServer::kFrameBytesMax || rest.size() - kFrameHeadBytes < size) break;
      TakePickle(rest.substr(kFrameHeadBytes, size));
      rest.remove_prefix(kFrameHeadBytes + size);
      size = 0;
    }
    intake_.Flush(writer_.get());
    return Keep(rest, size, GraphiteServer::kFrameBytesMax);
  }

  void TakePickle(std::string_view pickle) {
    const auto take = [this](const Result<GraphitePoint>& point) {
      if (intake_.stopping()) return;
      point.ok() ? intake_.AddCopy(*point, writer_.get()) : intake_.Refuse(point.status());
    };
    if (const Status read = ReadPickledPoints(pickle, intake_.Now(), take); !read.ok())
      intake_.Refuse(read);
  }

  bool Keep(std::string_view rest, size_t size, size_t size_max) {
    bytes_.erase(0, bytes_.size() - rest.size());
    if (size <= size_max) return true;
    intake_.Refuse(Status::InvalidArgument("a " + What() + " of " + std::to_string(size) +
                                           " bytes is longer than " + std::to_string(size_max)));
    bytes_.clear();
    return false;
  }

  tcp::socket socket_;
  const Form form_;
  GraphiteIntake& intake_;
  TurnWatch& turns_;
  const std::shared_ptr<Writer> writer_;
  std::unordered_set<GraphiteConnection*>& all_;
  std::string bytes_;  // received bytes of an incomplete line or frame
  int64_t active_ms_ = 0;
};

}  // namespace

class GraphiteServer::Impl {
 public:
  Impl(const Options& options, Services& services)
      : options_(options),
        services_(services),
        intake_(options, services, stopping_),
        turns_(TurnWatch::Measure::kCpuTime, services) {}
  ~Impl() { Stop(); }

  Status Start() {
    for (const Form form : {Form::kLines, Form::kPickle}) {
      const auto& port =
          form == Form::kLines ? options_.graphite_port : options_.graphite_pickle_port;
      if (!port) continue;
      tcp::acceptor& acceptor = acceptors_[Index(form)];
      ASSIGN_OR_RETURN(ports_[Index(form)], Listen(options_, options_.bind, *port, &acceptor));
      Accept(form);
    }
    if (options_.idle_timeout_s > 0) SweepLater();
    if (ports_[0] != 0 || ports_[1] != 0) thread_ = std::thread([this] { Run(); });
    return {};
  }

  [[nodiscard]] uint16_t port(Form form) const { return ports_[Index(form)]; }

  void Stop() {
    if (!thread_.joinable()) return;
    stopping_.store(true);
    asio::post(io_, [this] {
      boost::system::error_code ignored;
      for (tcp::acceptor& acceptor : acceptors_) acceptor.close(ignored);
      for (asio::steady_timer& pause : pauses_) pause.cancel();
      sweep_.cancel();
      for (GraphiteConnection* connection : connections_) connection->Close();
    });
    thread_.join();
  }

 private:
  static size_t Index(Form form) { return static_cast<size_t>(form); }

  /// Runs the event loop. After an exception (out of memory), only the connection of the failed
  /// callback is closed.
  void Run() {
    for (;;) {
      try {
        io_.run();
        return;
      } catch (...) {
        services_.counters.exceptions_unknown.fetch_add(1, std::memory_order_relaxed);
      }
    }
  }

  void Accept(Form form) {
    acceptors_[Index(form)].async_accept(
        [this, form](const boost::system::error_code& error, tcp::socket socket) {
          if (stopping_.load()) return;
          if (error) {
            intake_.Tell("no connection could be accepted: " + error.message());
            return AcceptLater(form);
          }
          try {
            Admit(std::move(socket), form);
          } catch (...) {
            services_.counters.exceptions_unknown.fetch_add(1, std::memory_order_relaxed);
          }
          Accept(form);
        });
  }
  /// Accepts again after a pause. The process has probably no free file descriptors, so retrying at
  /// once would only waste CPU time.
  void AcceptLater(Form form) {
    asio::steady_timer& pause = pauses_[Index(form)];
    pause.expires_after(kAcceptPause);
    pause.async_wait([this, form](const boost::system::error_code& error) {
      if (!error && !stopping_.load()) Accept(form);
    });
  }
  void Admit(tcp::socket socket, Form form) {
    if (connections_.size() >= kConnectionsMax) {
      services_.counters.connections_rejected.fetch_add(1, std::memory_order_relaxed);
      return intake_.Tell("a connection beyond " + std::to_string(kConnectionsMax) +
                          " was turned away");
    }
    boost::system::error_code ignored;
    socket.set_option(asio::socket_base::keep_alive(options_.keep_alive), ignored);
    std::shared_ptr<Writer> writer;
    if (services_.client_limits != nullptr) {
      const auto remote = socket.remote_endpoint(ignored);
      writer = services_.client_limits->OfAddress(remote.address().to_string());
    }
    std::make_shared<GraphiteConnection>(std::move(socket), form, intake_, turns_,
                                         std::move(writer), connections_)
        ->Read();
  }
  /// Closes idle connections once per interval.
  void SweepLater() {
    sweep_.expires_after(kSweepInterval);
    sweep_.async_wait([this](const boost::system::error_code& error) {
      if (error || stopping_.load()) return;
      const Turn turn(turns_, [] { return std::string("the check for idle connections"); });
      SweepLater();
      for (GraphiteConnection* connection : connections_) {
        if (!connection->IdleFor(options_.idle_timeout_s)) continue;
        services_.counters.exceptions_timeout.fetch_add(1, std::memory_order_relaxed);
        connection->Close();
      }
    });
  }

  const Options& options_;
  Services& services_;
  std::atomic<bool> stopping_{false};
  GraphiteIntake intake_;
  TurnWatch turns_;
  std::unordered_set<GraphiteConnection*> connections_;  // used on thread_ only
  asio::io_context io_{1};
  tcp::acceptor acceptors_[2] = {tcp::acceptor(io_), tcp::acceptor(io_)};  // indexed by Form
  asio::steady_timer pauses_[2] = {asio::steady_timer(io_), asio::steady_timer(io_)};
  asio::steady_timer sweep_{io_};
  uint16_t ports_[2] = {0, 0};
  std::thread thread_;
};

GraphiteServer::GraphiteServer(const Options& options, Services& services)
    : impl_(std::make_unique<Impl>(options, services)) {}

GraphiteServer::~GraphiteServer() = default;

Status GraphiteServer::Start() { return impl_->Start(); }

uint16_t GraphiteServer::port() const { return impl_->port(Form::kLines); }

uint16_t GraphiteServer::pickle_port() const { return impl_->port(Form::kPickle); }

void GraphiteServer::Stop() { impl_->Stop(); }

}  // namespace hg::http
