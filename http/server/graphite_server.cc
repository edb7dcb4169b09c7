#include "http/server/graphite_server.h"

#include <algorithm>
#include <atomic>
#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/steady_timer.hpp>
#include <deque>
#include <future>
#include <list>
#include <memory>
#include <optional>
#include <thread>
#include <vector>

#include "http/access/client_limits.h"
#include "http/intake/graphite_intake.h"
#include "http/request/turn_watch.h"
#include "http/server/listener.h"
#include "http/server/receive_buffer.h"
#include "http/server/server.h"
#include "http/server/transfer_pace.h"
#include "http/wire/graphite_line.h"
#include "http/wire/pickle.h"
#include "http/wire/request_memory.h"
#include "storage/base/bytes.h"
#include "storage/model/writer.h"

namespace hg::http {
namespace {

namespace asio = boost::asio;
using asio::ip::tcp;

constexpr size_t kReadBytes = 65536;
constexpr size_t kFrameHeadBytes = 4;
/// Number of refused points and frames after which the turn of a connection ends.
constexpr size_t kRefusedMax = 256;
/// Maximum frames of a turn, which may have no points.
constexpr size_t kFramesMax = 1024;
constexpr auto kSweepInterval = std::chrono::seconds(1);

enum class Form : uint8_t { kLines, kPickle };

/// Returns true if the first line of a connection is an HTTP request line or the start of a TLS
/// connection. A web page of any site can make a browser send such a line, followed by lines of
/// points.
bool IsAnotherProtocol(std::string_view line) {
  constexpr char kTlsHandshake = 0x16;
  if (line.starts_with(kTlsHandshake)) return true;
  if (line.ends_with('\r')) line.remove_suffix(1);
  return line.ends_with(" HTTP/1.1") || line.ends_with(" HTTP/1.0");
}

class GraphiteConnection;

/// Objects of the server that all its connections share. They must outlive the connections.
struct Shared {
  const std::atomic<bool>& stopping;  // whether the connections stop reading
  GraphiteIntake& intake;
  TurnWatch& turns;
  RequestMemory& memory;                 // the memory of received frames
  std::list<GraphiteConnection*>& open;  // the connection that received bytes last is at the end
  // Connections with complete frames, in the order in which they wait for their next turn. A turn
  // stores at most one batch of points, so that a large frame does not hold up the lines of other
  // clients.
  // Only the first connection has a parsed frame, because its objects need much more memory than
  // its bytes. The exception is a connection that stores its frames at once, because the memory for
  // received frames is used up.
  std::deque<std::shared_ptr<GraphiteConnection>>& with_frames;
  bool turn_posted = false;  // whether the next turn waits in the event loop
};

/// A connection. Its pending wait for bytes, or its place in Shared::with_frames, keeps it alive.
/// Between two callbacks it holds memory for an unfinished line or frame, or for the frames that
/// wait for their turns.
class GraphiteConnection : public std::enable_shared_from_this<GraphiteConnection> {
 public:
  /// Creates a connection. `writer`: write limits of the client; null = unlimited.
  GraphiteConnection(tcp::socket socket, Form form, Shared& shared, std::shared_ptr<Writer> writer)
      : socket_(std::move(socket)),
        form_(form),
        shared_(shared),
        intake_(shared.intake),
        writer_(std::move(writer)),
        memory_(shared.memory, GraphiteServer::kLineBytesMax) {
    boost::system::error_code ignored;
    socket_.non_blocking(true, ignored);
    active_ms_ = intake_.MonotonicMs();
    place_ = shared_.open.insert(shared_.open.end(), this);
  }
  GraphiteConnection(const GraphiteConnection&) = delete;
  GraphiteConnection& operator=(const GraphiteConnection&) = delete;
  ~GraphiteConnection() { Close(); }

  void Read() {
    socket_.async_wait(
        tcp::socket::wait_read, [self = shared_from_this()](boost::system::error_code error) {
          if (self->shared_.stopping.load()) return;
          const Turn turn(self->shared_.turns, [&] { return "a Graphite " + self->What(); });
          // The socket may have been closed between the end of the wait and this callback.
          if (!self->socket_.is_open()) error = asio::error::operation_aborted;
          bool good = true;
          if (!error) good = self->Receive(&error);
          if (error && self->buffer_.size() > 0) {
            self->intake_.Refuse(
                Status::InvalidArgument("a connection ended within a " + self->What()));
          }
          if (good && !error) self->GoOn();
        });
  }
  /// Returns true if nothing arrived for more than `seconds`.
  [[nodiscard]] bool IdleFor(int64_t seconds) const {
    return !HasFrame() && intake_.MonotonicMs() - active_ms_ > seconds * 1000 && NothingWaits();
  }
  /// Returns true if the client sends a frame too slowly. Call about once a second.
  bool TooSlow() {
    const bool waiting =
        form_ == Form::kPickle && buffer_.size() > 0 && !HasFrame() && NothingWaits();
    return pace_.TooSlow(intake_.MonotonicMs() / 1000, waiting, received_bytes_);
  }
  /// Lets the first connection of Shared::with_frames store a batch, soon. Does nothing if the next
  /// turn is already posted. Call this function also from time to time, because posting fails if
  /// memory runs out.
  void PostTurn() {
    if (shared_.turn_posted) return;
    asio::post(socket_.get_executor(), [&shared = shared_] {
      shared.turn_posted = false;
      const std::shared_ptr<GraphiteConnection> self = std::move(shared.with_frames.front());
      shared.with_frames.pop_front();
      if (!shared.with_frames.empty()) self->PostTurn();
      const Turn turn(shared.turns, [] { return std::string("a Graphite frame"); });
      const bool good = self->Take();
      self->active_ms_ = self->intake_.MonotonicMs();
      if (good && self->Hold()) self->GoOn();
    });
    shared_.turn_posted = true;
  }
  /// Closes the socket and removes the connection from Shared::open. Idempotent.
  void Close() {
    if (!socket_.is_open()) return;
    boost::system::error_code ignored;
    socket_.close(ignored);
    shared_.open.erase(place_);
  }

 private:
  [[nodiscard]] std::string What() const { return form_ == Form::kLines ? "line" : "frame"; }

  /// Returns true if the kernel's receive buffer is empty. Bytes in that buffer count as activity
  /// of the client, because this thread does not read while the store is busy.
  [[nodiscard]] bool NothingWaits() const {
    boost::system::error_code ignored;
    return socket_.available(ignored) == 0;
  }

  /// Returns whether the buffer begins with a complete frame, which is perhaps stored in part.
  [[nodiscard]] bool HasFrame() const {
    if (form_ != Form::kPickle || buffer_.size() < kFrameHeadBytes) return false;
    return buffer_.size() - kFrameHeadBytes >= ReadBig32(buffer_.view().data());
  }

  /// Waits for the next turn if there is a complete frame, or else for bytes.
  void GoOn() {
    if (!HasFrame()) return Read();
    auto& waiting = shared_.with_frames;
    frame_ ? waiting.push_front(shared_from_this()) : waiting.push_back(shared_from_this());
    PostTurn();
  }

  /// Reads once. Then handles all complete lines, or a batch of points of complete frames. Returns
  /// false if the connection must end.
  bool Receive(boost::system::error_code* error) {
    constexpr size_t kBytesMax = kFrameHeadBytes + GraphiteServer::kFrameBytesMax;
    const size_t had = buffer_.size();
    if (buffer_.room_size() < std::min(kReadBytes / 4, kBytesMax - had))
      buffer_.Reserve(std::min(had + std::max(had, kReadBytes), kBytesMax));
    const size_t size =
        socket_.read_some(asio::buffer(buffer_.room(), buffer_.room_size()), *error);
    if (*error == asio::error::would_block) error->clear();
    buffer_.Grow(size);
    received_bytes_ += size;
    // If other connections wait for their turn with a frame, this connection waits behind them.
    const bool good = (HasFrame() && !shared_.with_frames.empty()) || Take();
    active_ms_ = intake_.MonotonicMs();
    shared_.open.splice(shared_.open.end(), shared_.open, place_);
    return good && Hold();
  }

  /// Frees unused memory of buffer_ and charges the rest to the memory budget. If the budget
  /// refuses it, stores the complete frames at once. Returns false if the budget refuses the rest,
  /// too, so that the connection must end.
  bool Hold() {
    if (Charge()) return true;
    while (HasFrame()) {
      if (!Take()) return false;
    }
    if (Charge()) return true;
    intake_.TurnAway("a connection was closed because unfinished frames take too much memory");
    buffer_.Consume(buffer_.size());
    return false;
  }
  bool Charge() {
    if (!frame_) buffer_.Trim(0);
    memory_.GiveAll();
    return memory_.Cover(buffer_.capacity());
  }

  /// Handles the complete lines or frames in buffer_. Returns false if one is too long, so that
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
    std::string_view rest = buffer_.view();
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

  /// Rejects a client that speaks HTTP or TLS and discards the bytes received. Returns false, so
  /// that the connection ends.
  bool Leave() {
    intake_.Refuse(Status::InvalidArgument("a client speaks HTTP or TLS, not lines"));
    intake_.Flush(writer_.get());
    buffer_.Consume(buffer_.size());
    return false;
  }

  void TakeOtherLine(std::string_view line, Timestamp now) {
    if (line.find_first_not_of(" \t\r") == std::string_view::npos) return;
    const Result<GraphitePoint> point = ParseGraphiteLine(line, now);
    if (!point.ok()) return intake_.Refuse(point.status());
    intake_.Add(*point, writer_.get());
  }

  /// Handles complete frames until the turn must end.
  bool TakeFrames() {
    bool ends = false;
    refused_ = 0;
    size_t frames = 0;
    while (!ends && HasFrame()) {
      const size_t size = ReadBig32(buffer_.view().data());
      if (size > GraphiteServer::kFrameBytesMax) break;
      if (!frame_) {
        Result<PickledPoints> points =
            PickledPoints::Parse(buffer_.view().substr(kFrameHeadBytes, size), intake_.Now());
        if (points.ok()) {
          frame_.emplace(std::move(*points));
        } else {
          intake_.Refuse(points.status());
          ends = ++refused_ == kRefusedMax;
        }
      }
      if (frame_ && !TakePoints(&*frame_)) {
        ends = true;
        continue;
      }
      frame_.reset();
      buffer_.Consume(kFrameHeadBytes + size);
      pace_.End();
      if (++frames == kFramesMax) ends = true;
    }
    intake_.Flush(writer_.get());
    const bool has_size = !ends && buffer_.size() >= kFrameHeadBytes;
    return Keep(buffer_.view(), has_size ? ReadBig32(buffer_.view().data()) : 0,
                GraphiteServer::kFrameBytesMax);
  }

  /// Adds points of a frame to the batch. Returns false if the batch was stored before the last
  /// point was added, or if many points were invalid, so that the turn must end.
  bool TakePoints(PickledPoints* points) {
    while (const auto point = points->Next()) {
      if (intake_.overdue()) continue;
      if (!point->ok()) {
        intake_.Refuse(point->status());
        if (++refused_ == kRefusedMax) return false;
      } else if (intake_.AddCopy(**point, writer_.get())) {
        return false;
      }
    }
    return true;
  }

  bool Keep(std::string_view rest, size_t size, size_t size_max) {
    buffer_.Consume(buffer_.size() - rest.size());
    if (size <= size_max) return true;
    intake_.Refuse(Status::InvalidArgument("a " + What() + " of " + std::to_string(size) +
                                           " bytes is longer than " + std::to_string(size_max)));
    buffer_.Consume(buffer_.size());
    return false;
  }

  tcp::socket socket_;
  const Form form_;
  Shared& shared_;
  GraphiteIntake& intake_;
  const std::shared_ptr<Writer> writer_;
  ReceiveBuffer buffer_;                // received bytes of a line or of frames
  size_t refused_ = 0;                  // points and frames that were refused in this turn
  std::optional<PickledPoints> frame_;  // the first frame in buffer_, if a part of it is stored
  RequestMemory::Share memory_;         // for the capacity of buffer_
  TransferPace pace_{kSlowRequestBytes};
  uint64_t received_bytes_ = 0;
  std::list<GraphiteConnection*>::iterator place_;  // in Shared::open, while the socket is open
  int64_t active_ms_ = 0;
};

}  // namespace

class GraphiteServer::Impl {
 public:
  Impl(const Options& options, Services& services)
      : options_(options),
        services_(services),
        intake_(options, services, overdue_),
        turns_(TurnWatch::Measure::kCpuTime, services),
        memory_(options.request_memory_bytes_max / 4) {}
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
    if (ports_[0] == 0 && ports_[1] == 0) return {};
    SweepLater();
    thread_ = std::thread([this] {
      Run();
      ended_.set_value();
    });
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
      while (!open_.empty()) open_.front()->Close();
    });
    const auto grace = std::chrono::milliseconds(Server::kRequestGraceMs);
    if (ended_.get_future().wait_for(grace) != std::future_status::ready) overdue_.store(true);
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
  /// Accepts again after a pause. Accepting failed, probably because the process has no free file
  /// descriptors, so retrying at once would only waste CPU time.
  void AcceptLater(Form form) {
    asio::steady_timer& pause = pauses_[Index(form)];
    pause.expires_after(kAcceptPause);
    pause.async_wait([this, form](const boost::system::error_code& error) {
      if (!error && !stopping_.load()) Accept(form);
    });
  }
  void Admit(tcp::socket socket, Form form) {
    if (open_.size() >= kConnectionsMax && !CloseSilent())
      return intake_.TurnAway("a connection was refused, because " +
                              std::to_string(kConnectionsMax) + " connections are open");
    boost::system::error_code ignored;
    socket.set_option(asio::socket_base::keep_alive(options_.keep_alive), ignored);
    std::shared_ptr<Writer> writer;
    if (services_.client_limits != nullptr) {
      const auto remote = socket.remote_endpoint(ignored);
      writer = services_.client_limits->OfAddress(remote.address().to_string());
    }
    std::make_shared<GraphiteConnection>(std::move(socket), form, shared_, std::move(writer))
        ->Read();
  }
  /// Closes the connection that has been silent longest, if that is more than kSilentS. Returns
  /// false if no connection has been silent that long.
  bool CloseSilent() {
    const auto silent = std::find_if(open_.begin(), open_.end(), [](const auto* connection) {
      return connection->IdleFor(kSilentS);
    });
    if (silent == open_.end()) return false;
    services_.counters.exceptions_timeout.fetch_add(1, std::memory_order_relaxed);
    intake_.Tell("a silent connection was closed in favour of a new one, because there are " +
                 std::to_string(kConnectionsMax));
    (*silent)->Close();
    return true;
  }
  /// Closes idle connections and connections that send a frame too slowly, once per kSweepInterval.
  void SweepLater() {
    sweep_.expires_after(kSweepInterval);
    sweep_.async_wait([this](const boost::system::error_code& error) {
      if (error || stopping_.load()) return;
      const Turn turn(turns_, [] { return std::string("the check of connections"); });
      SweepLater();
      if (!with_frames_.empty()) with_frames_.front()->PostTurn();
      for (auto next = open_.begin(); next != open_.end();) {
        GraphiteConnection* const connection = *next++;
        const bool slow = connection->TooSlow();
        const bool idle =
            options_.idle_timeout_s > 0 && connection->IdleFor(options_.idle_timeout_s);
        if (!slow && !idle) continue;
        services_.counters.exceptions_timeout.fetch_add(1, std::memory_order_relaxed);
        connection->Close();
      }
    });
  }

  const Options& options_;
  Services& services_;
  std::atomic<bool> stopping_{false};
  std::atomic<bool> overdue_{false};  // set Server::kRequestGraceMs after a stop began
  std::promise<void> ended_;          // set when thread_ ends
  GraphiteIntake intake_;
  TurnWatch turns_;
  RequestMemory memory_;
  std::list<GraphiteConnection*> open_;  // used on thread_ only
  Shared shared_{stopping_, intake_, turns_, memory_, open_, with_frames_};
  asio::io_context io_{1};
  std::deque<std::shared_ptr<GraphiteConnection>> with_frames_;            // used on thread_ only
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
