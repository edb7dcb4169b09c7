// The part of Connection that handles telnet (connection.h).

#include <algorithm>

#include "http/intake/failure.h"
#include "http/request/shut_down.h"
#include "http/server/connection.h"
#include "http/server/lent_connection.h"
#include "http/server/loop.h"
#include "http/telnet/lines.h"
#include "http/wire/telnet_line.h"
#include "storage/model/write_context.h"

namespace hg::http {
namespace {

/// Maximum bytes of replies that the client has not read. If there are more, or if all connections
/// together hold too much memory, the next lines wait until the client has read replies.
constexpr size_t kUnreadBytesMax = 64 * 1024;
/// Pause before lines are tried again after the store refused them. It doubles up to kBusyPauseMax.
constexpr auto kBusyPause = std::chrono::milliseconds(20);
constexpr auto kBusyPauseMax = std::chrono::milliseconds(1000);
/// Time after which the waiting lines of a client are dropped if the client has closed the
/// connection. The lines were never acknowledged, and they occupy a connection.
constexpr int64_t kGoneS = 60;

}  // namespace

bool Connection::AdvanceTelnet() {
  if (TooMuchUnread() && !deaf_) {
    state_ = State::kUnread;
    return true;
  }
  const std::string_view bytes = buffer_.view();
  const size_t last_lf = bytes.rfind('\n');
  if (last_lf == std::string_view::npos) {
    if (bytes.size() > edge_.options.line_bytes_max) Close();
    return false;
  }
  std::string_view lines = bytes.substr(0, last_lf + 1);
  if (Guarded() && !AdmitLines(&lines)) return true;
  line_bytes_ = lines.size();
  if (!TryLines(lines)) RunLines(lines);
  return true;
}

bool Connection::TryLines(std::string_view lines) {
  if (edge_.options.mode == Mode::kReadOnly || !May(Role::kWrite)) return false;
  auto& points = loop_.points;
  if (!ParsePutLines(lines, &points)) return false;
  WriteContext context(RequestContext::Unlimited(), writer().get());
  const auto appended = edge_.services.sink.AppendKeyed(points, context);
  if (!appended.ok()) {
    // After other failures, the slow path reports an error per line.
    const Failure failure = FailureOf(appended.status());
    if (!RefusesAll(failure)) return false;
    CountFailure(failure, points.size(), &edge_.services.counters);
    RetryLater();
    return true;
  }
  if (!appended->known) return false;
  line_points_ = points.size();
  state_ = State::kCommitting;
  loop_.CommitLater(shared_from_this(), appended->position);
  return true;
}

void Connection::LinesCommitted(const Status& status) {
  Counters& counters = edge_.services.counters;
  const Failure failure = FailureOf(status);
  CountFailure(failure, line_points_, &counters);
  if (RefusesAll(failure)) return RetryLater();
  retries_ = 0;
  counters.rpc_telnet.fetch_add(line_points_, std::memory_order_relaxed);
  counters.rpc_put.fetch_add(line_points_, std::memory_order_relaxed);
  if (status.ok()) counters.points_added.fetch_add(line_points_, std::memory_order_relaxed);
  if (!status.ok() && edge_.options.telnet_return_errors)
    SendTelnet("put: HBase error: " + std::string(status.message()) + "\n");
  FinishLines();
  Advance();
}

void Connection::RetryLater() {
  if (edge_.overdue.load(std::memory_order_relaxed)) return Close();
  // The telnet protocol has no "retry later" reply. So the lines wait and run again later, and the
  // socket is not read meanwhile.
  state_ = State::kRetrying;
  if (retries_ == 0) gone_since_s_.reset();
  const auto pause = std::min(kBusyPause * (1 << std::min(retries_, 10)), kBusyPauseMax);
  ++retries_;
  PauseThen(pause, State::kRetrying, &Connection::RetryLines);
}

void Connection::RetryLines() {
  if (GoneTooLong()) return Close();
  state_ = State::kReading;
  Advance();
}

bool Connection::GoneTooLong() {
  if (!stream_.ClientClosed()) return false;
  if (!gone_since_s_) gone_since_s_ = loop_.now_s();
  if (loop_.now_s() - *gone_since_s_ < kGoneS) return false;
  edge_.services.counters.exceptions_timeout.fetch_add(1, std::memory_order_relaxed);
  return true;
}

void Connection::RunLines(std::string_view lines) {
  state_ = State::kHandling;
  const LinesCall call{.muted = TooMuchUnread(),
                       .after_busy = retries_ > 0,
                       .roles = roles(),
                       .context = &edge_.lines_context,
                       .writer = writer().get()};
  // `call` refers to the writer of the connection. The writer lives as long as the connection, and
  // the connection does no other work while the job runs.
  auto run = [lines, call, lent = LentConnection(shared_from_this(), loop_),
              result = std::make_shared<LinesResult>(),
              &services = edge_.services](WorkerPool::Turn&) mutable {
    if (!Survive([&] { *result = RunTelnetLines(lines, services, call); }).ok()) {
      services.counters.rpc_exceptions.fetch_add(1, std::memory_order_relaxed);
      return lent.GiveBack([](Connection& connection) { connection.Close(); });
    }
    if (result->shut_down) RequestShutDown();
    lent.GiveBack([result](Connection& connection) { connection.LinesDone(*result); });
  };
  if (!edge_.writes.Post(std::move(run))) RetryLater();
}

void Connection::LinesDone(const LinesResult& result) {
  close_after_reply_ |= result.close || result.shut_down;
  SendTelnet(result.text);
  if (state_ != State::kHandling) return;
  line_bytes_ = result.used;
  if (result.used > 0) retries_ = 0;
  FinishLines();
  if (result.busy && state_ == State::kReading) RetryLater();
  Advance();
}

bool Connection::TooMuchUnread() const {
  return unread_refused_ || out_.size() - out_sent_ > kUnreadBytesMax;
}

void Connection::SendTelnet(std::string_view text) {
  if (TooMuchUnread()) return;
  Transmit(text);
  // The lines have already run, so their reply is kept even if the memory budget refuses its
  // memory.
  unread_refused_ = write_pending_ && !unread_memory_.Cover(out_.capacity());
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
  gives_way_ = true;
}

}  // namespace hg::http
