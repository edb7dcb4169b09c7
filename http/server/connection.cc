#include "http/server/connection.h"

#include <algorithm>
#include <utility>

#include "http/request/request.h"
#include "http/server/loop.h"

namespace hg::http {
namespace {

/// The first byte of a TLS connection.
constexpr char kTlsHandshake = 0x16;
/// Size in bytes of the receive buffer of an HTTP connection whose data does not fit into
/// kFreeBodyBytes. Most requests fit into it.
constexpr size_t kHttpRoom = 64 * 1024;
/// Size of the receive buffer for telnet lines in bytes. Clients send many lines at once, and a
/// smaller buffer costs 20 % of the speed (ingest-measurements.md §4).
constexpr size_t kTelnetRoom = 256 * 1024;
constexpr int64_t kReleaseAfterS = 10;
/// Bytes of a request per connection that are not charged to the memory budgets. Most requests are
/// smaller.
constexpr uint64_t kFreeBodyBytes = 16 * 1024;
/// Like kFreeBodyBytes, for a request that has not arrived completely. Most request heads are
/// smaller.
constexpr uint64_t kFreeUnfinishedBytes = 2 * 1024;
/// A receive buffer above this size shrinks to this size after the reply.
constexpr size_t kKeptBytes = 1 << 20;
constexpr int64_t kLingerS = 2;
/// Maximum duration of a TLS handshake in seconds.
constexpr int64_t kHandshakeS = 10;
/// Memory of an unfinished TLS handshake. OpenSSL allocates its own structures and the size that
/// the first message of the client announces, which is at most 128 KiB.
constexpr uint64_t kHandshakeBytes = 192 * 1024;
constexpr auto kHandshakePause = std::chrono::milliseconds(100);
/// Number of sent bytes after which they are removed from the front of out_.
constexpr size_t kSentBytesKept = 64 * 1024;
/// Many telnet clients never read replies. When replies have been unread for this time, the
/// client's lines run again, and further replies are dropped.
constexpr int64_t kDeafAfterS = 5;

}  // namespace

Connection::Connection(Stream stream, Loop& loop, bool checks_hosts)
    : loop_(loop),
      edge_(loop.edge()),
      stream_(std::move(stream)),
      checks_hosts_(checks_hosts),
      body_memory_(edge_.memory, kFreeBodyBytes),
      unfinished_memory_(edge_.memory, kFreeUnfinishedBytes),
      kept_memory_(edge_.kept_buffers, kFreeBodyBytes),
      unread_memory_(edge_.unread_replies, 0),
      handshake_memory_(edge_.handshakes, 0) {
  loop_.Add(this);
}

Connection::~Connection() {
  loop_.Remove(this);
  loop_.load().fetch_sub(1, std::memory_order_relaxed);
  edge_.services.counters.connections_open.fetch_sub(1, std::memory_order_relaxed);
}

void Connection::Start() {
  stream_.Prepare(edge_.options.tcp_no_delay, edge_.options.keep_alive);
  active_s_ = loop_.now_s();
  if (stopping()) return Close();
  WaitReadable();
}

bool Connection::stopping() const { return edge_.stopping.load(std::memory_order_relaxed); }

void Connection::Advance() {
  while (state_ == State::kReading) {
    if (std::exchange(gives_way_, false) && buffer_.size() > 0) {
      loop_.ContinueLater(shared_from_this());
      in_backlog_ = true;
      return;
    }
    if (buffer_.size() > 0) {
      if (protocol_ == Protocol::kUnknown) {
        const char first = buffer_.view()[0];
        // The client begins a TLS handshake on a port without TLS. The client may be a browser that
        // an attacker's page controls. The attacker can choose parts of the handshake, so its bytes
        // must not be read as telnet lines.
        if (first == kTlsHandshake) {
          edge_.services.counters.exceptions_unknown.fetch_add(1, std::memory_order_relaxed);
          return Close();
        }
        protocol_ = first >= 'A' && first <= 'Z' ? Protocol::kHttp : Protocol::kTelnet;
      }
      if (protocol_ == Protocol::kHttp ? AdvanceHttp() : AdvanceTelnet()) continue;
      if (state_ != State::kReading) break;
    }
    // The last reply may still be pending; OnWritten calls Advance again.
    if (end_of_input_ && write_pending_) return;
    if (end_of_input_ || (stopping() && buffer_.size() == 0)) {
      return Close();
    }
    break;
  }
  // Most telnet clients send few lines at once, so their small buffers are kept. Larger ones are
  // freed.
  if (state_ == State::kReading && protocol_ == Protocol::kTelnet &&
      buffer_.written() > kFreeBodyBytes) {
    LetGoBuffer();
  }
  // While a handler works, reading only detects that the client has closed.
  if (state_ == State::kReading || state_ == State::kHandling || state_ == State::kLingering) {
    WaitReadable();
  }
}

void Connection::Continue() {
  in_backlog_ = false;
  if (state_ == State::kReading) Advance();
}

void Connection::WaitReadable() {
  if (waiting_readable_ || end_of_input_) return;
  waiting_readable_ = true;
  stream_.WaitToReceive([self = shared_from_this()](const boost::system::error_code& error) {
    const Turn turn(self->loop_.turns(), [&] { return self->Doing(); });
    self->waiting_readable_ = false;
    if (self->state_ == State::kClosed) return;
    if (error) return self->Close();
    self->OnReadable();
  });
}

void Connection::PauseThen(std::chrono::milliseconds pause, State state,
                           void (Connection::*then)()) {
  if (retry_timer_ == nullptr)
    retry_timer_ = std::make_unique<boost::asio::steady_timer>(loop_.io());
  retry_timer_->expires_after(pause);
  retry_timer_->async_wait(
      [self = shared_from_this(), state, then](const boost::system::error_code& error) {
        if (error || self->state_ != state) return;
        const Turn turn(self->loop_.turns(), [&] { return self->Doing(); });
        ((*self).*then)();
      });
}

void Connection::OnReadable() {
  // The connection reads no more while received requests wait in the backlog. Otherwise its buffer
  // would grow without limit, because a client may send faster than its requests are handled.
  // Continue waits for more bytes after it has handled the received ones.
  if (in_backlog_) return;
  if (state_ == State::kReading) {
    if (Receive()) Advance();
    return;
  }
  if (state_ == State::kLingering) {
    buffer_.Reserve(kHttpRoom);
    size_t dropped = 0;
    const Transfer transfer = stream_.Receive(buffer_.room(), buffer_.room_size(), &dropped);
    if (transfer == Transfer::kEnd || transfer == Transfer::kFailed) return Close();
    return WaitReadable();
  }
  if (state_ != State::kHandling) return;
  // The handler still uses the buffer, so this code does not read. It only checks whether bytes
  // have arrived.
  const Transfer seen = stream_.Look();
  if (seen == Transfer::kSome) return;  // The next request stays in the stream.
  if (seen == Transfer::kLater) return WaitReadable();
  ClientLeft();
  if (seen == Transfer::kFailed) Close();
}

void Connection::ClientLeft() {
  end_of_input_ = true;
  if (replies_ != nullptr) replies_->Cancel();
}

bool Connection::Receive() {
  const bool in_handshake = stream_.InHandshake();
  if (in_handshake && !handshake_memory_.Cover(kHandshakeBytes)) {
    // Sweep disconnects the client if the handshake, including these pauses, lasts longer than
    // kHandshakeS.
    PauseThen(kHandshakePause, State::kReading, &Connection::OnReadable);
    return false;
  }
  // If the length of the body is known, the buffer already has space for the whole request, so that
  // few system calls are needed. Otherwise it gets space for one read. That space doubles as the
  // request grows.
  size_t room = protocol_ == Protocol::kTelnet ? kTelnetRoom : kHttpRoom;
  // The buffer starts with kFreeBodyBytes. It gets `room` bytes only after it has been filled once,
  // and only while the limit for the buffers of all connections allows it.
  const bool filled = buffer_.written() >= kFreeBodyBytes;
  if (buffer_.capacity() < room && !(filled && kept_memory_.Cover(room))) room = kFreeBodyBytes;
  const size_t wanted =
      request_bytes_ > buffer_.size() ? request_bytes_ - buffer_.size() : room / 4;
  if (buffer_.room_size() < std::min(wanted, room / 4)) {
    buffer_.Reserve(buffer_.size() + std::max(room, buffer_.size()));
  }
  size_t received = 0;
  const Transfer transfer = stream_.Receive(buffer_.room(), buffer_.room_size(), &received);
  if (in_handshake && !stream_.InHandshake()) handshake_memory_.GiveAll();
  switch (transfer) {
    case Transfer::kLater:
      WaitReadable();
      return false;
    case Transfer::kFailed:
      edge_.services.counters.exceptions_reset.fetch_add(1, std::memory_order_relaxed);
      Close();
      return false;
    case Transfer::kEnd:
      end_of_input_ = true;
      break;
    case Transfer::kSome:
      buffer_.Grow(received);
      received_bytes_ += received;
      break;
  }
  active_s_ = loop_.now_s();
  return true;
}

void Connection::Transmit(std::string_view bytes) {
  if (state_ == State::kClosed || bytes.empty()) return;
  active_s_ = loop_.now_s();
  if (!write_pending_) {
    size_t sent = 0;
    if (stream_.Send(bytes, &sent) == Transfer::kFailed) return Close();
    sent_bytes_ += sent;
    bytes.remove_prefix(sent);
    if (bytes.empty()) return;
  }
  out_.append(bytes);
  if (write_pending_) return;
  write_pending_ = true;
  WaitWritable();
}

void Connection::WaitWritable() {
  stream_.WaitToSend([self = shared_from_this()](const boost::system::error_code& error) {
    const Turn turn(self->loop_.turns(), [&] { return self->Doing(); });
    if (self->state_ == State::kClosed) return;
    if (error) return self->Close();
    self->OnWritable();
  });
}

void Connection::OnWritable() {
  size_t sent = 0;
  if (stream_.Send(std::string_view(out_).substr(out_sent_), &sent) == Transfer::kFailed)
    return Close();
  active_s_ = loop_.now_s();
  sent_bytes_ += sent;
  out_sent_ += sent;
  if (out_sent_ < out_.size()) {
    if (out_sent_ > kSentBytesKept) out_.erase(0, std::exchange(out_sent_, 0));
    return WaitWritable();
  }
  out_.clear();
  out_sent_ = 0;
  write_pending_ = false;
  OnWritten();
}

void Connection::OnWritten() {
  deaf_ = false;
  if (out_.capacity() > kSentBytesKept || protocol_ == Protocol::kTelnet) out_.shrink_to_fit();
  unread_memory_.GiveAll();
  unread_refused_ = false;
  if (state_ == State::kUnread) state_ = State::kReading;
  if (state_ == State::kHandling) return Pump();
  if (state_ == State::kLingering) return ShutdownSend();
  if (state_ == State::kReplying) ReplySent();
  if (state_ == State::kReading) Advance();
}

void Connection::Linger() {
  // If the socket were closed while received bytes are unread, the kernel would reset the
  // connection and the client would lose the reply.
  state_ = State::kLingering;
  linger_until_s_ = loop_.now_s() + kLingerS;
  buffer_.Consume(buffer_.size());
  LetGoBody();
  if (!write_pending_) ShutdownSend();
  if (state_ == State::kLingering) WaitReadable();
}

bool Connection::RefuseUnfinished() {
  if (unfinished_memory_.Cover(std::min<uint64_t>(buffer_.size(), kFreeBodyBytes))) return false;
  RefuseMemory(unfinished_memory_.refusal());
  return true;
}

void Connection::LetGoBody() {
  body_memory_.GiveAll();
  unfinished_memory_.GiveAll();
  buffer_.Trim(kKeptBytes);
  kept_memory_.GiveAll();
  LetGoBuffer();
}

void Connection::LetGoBuffer() {
  // The next request of this client needs the buffer again, so the buffer is kept while the limit
  // for the buffers of all waiting connections allows it.
  if (kept_memory_.Cover(buffer_.capacity())) return;
  kept_memory_.GiveAll();
  buffer_.Trim(kFreeBodyBytes);
}

void Connection::ShutdownSend() {
  stream_.EndSending();
  if (end_of_input_ || stopping()) Close();
}

void Connection::Sweep() {
  const int64_t now = loop_.now_s();
  if (state_ == State::kLingering && now > linger_until_s_) return Close();
  // If bytes of the next request are unread, OnReadable does not see the end of the stream.
  const bool bytes_wait = state_ == State::kHandling && !waiting_readable_ && !end_of_input_;
  if (bytes_wait && stream_.ClientClosed()) ClientLeft();
  const int64_t idle = now - active_s_;
  if (state_ == State::kUnread && idle > kDeafAfterS) {
    deaf_ = true;
    state_ = State::kReading;
    return Advance();
  }
  if (stream_.InHandshake() && idle > kHandshakeS) {
    edge_.services.counters.exceptions_timeout.fetch_add(1, std::memory_order_relaxed);
    return Close();
  }
  const bool replying = protocol_ == Protocol::kHttp && write_pending_;
  // The pace is measured by the bytes that the client has acknowledged. The bytes accepted by the
  // kernel are no measure: its send buffer takes megabytes at once and then nothing for a while.
  const bool slow =
      reply_pace_.TooSlow(now, write_pending_, write_pending_ ? TakenBytes() : sent_bytes_);
  // A client must make progress while it sends an HTTP request. Between requests, and between
  // telnet lines, it may idle.
  const bool sending =
      protocol_ == Protocol::kHttp && state_ == State::kReading && buffer_.size() > 0;
  const bool unfinished = request_pace_.TooSlow(now, sending, received_bytes_);
  if (!replying && state_ != State::kReading) return;
  const auto timeout = static_cast<int64_t>(edge_.options.idle_timeout_s);
  if ((timeout > 0 && idle > timeout) || (replying && slow) || (sending && unfinished)) {
    edge_.services.counters.exceptions_timeout.fetch_add(1, std::memory_order_relaxed);
    return Close();
  }
  if (idle > kReleaseAfterS && buffer_.size() == 0 && state_ == State::kReading) {
    buffer_.Release();
    kept_memory_.GiveAll();
  }
}

uint64_t Connection::TakenBytes() {
  return sent_bytes_ - std::min(sent_bytes_, stream_.UntakenBytes());
}

void Connection::Close() {
  if (state_ == State::kClosed) return;
  // Waking the handlers below can release the last other reference to this connection.
  const auto self = shared_from_this();
  state_ = State::kClosed;
  if (replies_ != nullptr) replies_->Abandon();
  if (retry_timer_ != nullptr) retry_timer_->cancel();
  // If the end of the connection may be the end of the body, only a reset tells the client that the
  // body is incomplete.
  const bool ends_body = protocol_ == Protocol::kHttp && !(head_.http11 && head_.keep_alive);
  if (ends_body && (replies_ != nullptr || write_pending_)) return stream_.Reset();
  stream_.Close();
}

std::string Connection::Doing() const {
  switch (protocol_) {
    case Protocol::kHttp:
      return endpoint_;
    case Protocol::kTelnet:
      return "lines of the telnet protocol";
    case Protocol::kUnknown:
      break;
  }
  return "a new connection";
}

void Connection::CloseWhenIdle() {
  close_after_reply_ = true;
  if (state_ == State::kLingering) return Close();
  if (state_ == State::kReading && !write_pending_) Close();
}

void Connection::Committed(const Status& status) {
  if (state_ != State::kCommitting) return;
  if (protocol_ == Protocol::kHttp) return PutCommitted(status);
  LinesCommitted(status);
}

}  // namespace hg::http
