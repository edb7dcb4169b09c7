// The telnet half of a connection (connection.h).

#include <boost/asio/post.hpp>

#include "http/connection.h"
#include "http/loop.h"
#include "http/shut_down.h"
#include "http/telnet/lines.h"
#include "http/wire/telnet_line.h"

namespace hg::http {
namespace {

/// Replies that a client leaves unread; more are dropped, as its lines must not wait for it.
constexpr size_t kUnreadBytesMax = 64 * 1024;
constexpr int kBusyTries = 500;
constexpr auto kBusyPause = std::chrono::milliseconds(20);

}  // namespace

bool Connection::AdvanceTelnet() {
  const std::string_view bytes = buffer_.view();
  const size_t last_lf = bytes.rfind('\n');
  if (last_lf == std::string_view::npos) {
    if (bytes.size() > edge_.options.line_bytes_max) Close();
    return false;
  }
  line_bytes_ = last_lf + 1;
  const std::string_view lines = bytes.substr(0, line_bytes_);
  if (!TryLines(lines)) RunLines(lines);
  return true;
}

bool Connection::TryLines(std::string_view lines) {
  if (edge_.options.mode == Mode::kReadOnly) return false;
  auto& points = loop_.points;
  points.clear();
  for (std::string_view rest = lines; !rest.empty();) {
    if (!ParsePutLine(TakeLine(&rest), &points.emplace_back())) return false;
  }
  const auto appended = edge_.services.sink.AppendSpelled(points);
  Counters& counters = edge_.services.counters;
  if (!appended.ok()) {
    // A client of this dialect cannot be told to come again: its lines wait, and with them its
    // socket.
    counters.put_writes_blocked.fetch_add(1, std::memory_order_relaxed);
    if (appended.status().code() != StatusCode::kBusy || ++retries_ > kBusyTries) {
      retries_ = 0;
      SendTelnet("put: Please throttle writes: " + std::string(appended.status().message()) + "\n");
      FinishLines();
      return true;
    }
    state_ = State::kRetrying;
    if (retry_timer_ == nullptr)
      retry_timer_ = std::make_unique<boost::asio::steady_timer>(loop_.io());
    retry_timer_->expires_after(kBusyPause);
    retry_timer_->async_wait([self = shared_from_this()](const boost::system::error_code& error) {
      if (error || self->state_ != State::kRetrying) return;
      self->state_ = State::kReading;
      self->Advance();
    });
    return true;
  }
  if (!appended->known) return false;
  retries_ = 0;
  counters.rpc_telnet.fetch_add(points.size(), std::memory_order_relaxed);
  counters.rpc_put.fetch_add(points.size(), std::memory_order_relaxed);
  counters.points_added.fetch_add(points.size(), std::memory_order_relaxed);
  state_ = State::kCommitting;
  loop_.CommitLater(shared_from_this(), appended->position);
  return true;
}

void Connection::RunLines(std::string_view lines) {
  state_ = State::kHandling;
  auto run = [lines, self = shared_from_this(), &services = edge_.services]() mutable {
    LinesResult result = RunTelnetLines(lines, services);
    if (result.shut_down) RequestShutDown();
    boost::asio::io_context& io = self->loop_.io();
    boost::asio::post(io, [self = std::move(self), result = std::move(result)] {
      self->close_after_reply_ |= result.close || result.shut_down;
      self->SendTelnet(result.text);
      if (self->state_ != State::kHandling) return;
      self->FinishLines();
      self->Advance();
    });
  };
  if (edge_.writes.Post(std::move(run))) return;
  SendTelnet("put: Please throttle writes: too many requests are waiting\n");
  FinishLines();
}

void Connection::SendTelnet(std::string_view text) {
  if (out_.size() + writing_.size() > kUnreadBytesMax) return;
  Transmit(text);
}

void Connection::FinishLines() {
  if (state_ == State::kClosed) return;
  buffer_.Consume(line_bytes_);
  line_bytes_ = 0;
  if (close_after_reply_) {
    if (end_of_input_ && !write_pending_) return Close();
    return Linger();
  }
  state_ = State::kReading;
}

}  // namespace hg::http
