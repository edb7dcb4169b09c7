#include "bench/sender.h"

#include <arpa/inet.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <string_view>
#include <thread>

#include "bench/measuring.h"

namespace hg::bench {
namespace {

constexpr int kNoAnswerMax_s = 900;  // the slowest queries of the compared systems take minutes
constexpr auto kAfterRefusal = std::chrono::milliseconds(5);

}  // namespace

int Connect(uint16_t port) {
  const int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_port = htons(port);
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  if (fd < 0 || connect(fd, reinterpret_cast<sockaddr*>(&address), sizeof address) != 0) {
    Die("cannot connect to 127.0.0.1:" + std::to_string(port) + ": " + std::strerror(errno));
  }
  const int on = 1;
  setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
  return fd;
}

Sender::Sender(uint16_t port, size_t connections, int expected_status)
    : port_(port),
      expected_status_(expected_status),
      epoll_(epoll_create1(EPOLL_CLOEXEC)),
      connections_(connections) {
  for (Connection& connection : connections_) Open(connection);
}

Sender::~Sender() {
  for (const Connection& connection : connections_) close(connection.fd);
  close(epoll_);
}

void Sender::Open(Connection& connection) {
  if (connection.fd >= 0) close(connection.fd);
  connection = {};
  connection.fd = Connect(port_);
  fcntl(connection.fd, F_SETFL, fcntl(connection.fd, F_GETFL) | O_NONBLOCK);
  epoll_event event{};
  event.events = EPOLLIN;
  event.data.ptr = &connection;
  epoll_ctl(epoll_, EPOLL_CTL_ADD, connection.fd, &event);
}

double Sender::SendAll(const std::vector<std::string>& requests, double rate,
                       std::optional<Clock::time_point> first_due) {
  requests_ = &requests;
  next_ = 0;
  rate_ = rate;
  idle_.clear();
  for (auto it = connections_.rbegin(); it != connections_.rend(); ++it) idle_.push_back(&*it);
  const auto now = Clock::now();
  began_ = first_due.value_or(now);
  std::array<epoll_event, 64> events;
  for (;;) {
    StartWhatIsDue();
    if (next_ == requests.size() && idle_.size() == connections_.size()) break;
    auto patience = std::chrono::nanoseconds(std::chrono::seconds(kNoAnswerMax_s));
    const bool next_falls_due = next_ < requests.size() && !idle_.empty();
    if (next_falls_due) {
      patience = std::max(std::chrono::nanoseconds(0), DueOfNext() - Clock::now());
    }
    const timespec wait{static_cast<time_t>(patience.count() / 1'000'000'000),
                        static_cast<long>(patience.count() % 1'000'000'000)};
    const int count = epoll_pwait2(epoll_, events.data(), events.size(), &wait, nullptr);
    if (count == 0 && !next_falls_due) Die("no answer for a quarter of an hour");
    for (int i = 0; i < count; ++i) {
      Connection& connection = *static_cast<Connection*>(events[i].data.ptr);
      if (events[i].events & EPOLLOUT) Write(connection);
      if (events[i].events & (EPOLLIN | EPOLLHUP | EPOLLERR)) Read(connection);
    }
  }
  return std::chrono::duration<double>(Clock::now() - now).count();
}

Sender::Clock::time_point Sender::DueOfNext() const {
  return began_ + std::chrono::duration_cast<Clock::duration>(
                      std::chrono::duration<double>(static_cast<double>(next_) / rate_));
}

void Sender::StartWhatIsDue() {
  while (!idle_.empty() && next_ < requests_->size()) {
    const auto now = Clock::now();
    const auto due = rate_ > 0 ? DueOfNext() : now;
    if (due > now) return;
    Connection& connection = *idle_.back();
    idle_.pop_back();
    Start(connection, due);
  }
}

void Sender::Start(Connection& connection, Clock::time_point due) {
  connection.request = &(*requests_)[next_++];
  connection.sent = 0;
  connection.due = due;
  Write(connection);
}

void Sender::Write(Connection& connection) {
  while (connection.request != nullptr && connection.sent < connection.request->size()) {
    const ssize_t n = send(connection.fd, connection.request->data() + connection.sent,
                           connection.request->size() - connection.sent, MSG_NOSIGNAL);
    if (n < 0 && errno == EAGAIN) return WaitToWrite(connection, true);
    if (n < 0) Die(std::string("send: ") + std::strerror(errno));
    connection.sent += static_cast<size_t>(n);
  }
  WaitToWrite(connection, false);
}

void Sender::WaitToWrite(Connection& connection, bool wait) {
  if (connection.waits_to_write == wait) return;
  connection.waits_to_write = wait;
  epoll_event event{};
  event.events = EPOLLIN | (wait ? EPOLLOUT : 0U);
  event.data.ptr = &connection;
  epoll_ctl(epoll_, EPOLL_CTL_MOD, connection.fd, &event);
}

void Sender::Read(Connection& connection) {
  std::array<char, 65536> buffer;
  const ssize_t n = recv(connection.fd, buffer.data(), buffer.size(), 0);
  if (n < 0 && errno == EAGAIN) return;
  if (n <= 0) {
    // A server may close an idle connection.
    if (connection.request == nullptr) return Open(connection);
    Die("the server closed the connection before its answer was whole: " + connection.reply.text());
  }
  if (connection.request == nullptr) {
    Die("an answer to nothing: " + std::string(buffer.data(), static_cast<size_t>(n)));
  }
  if (connection.reply.Feed({buffer.data(), static_cast<size_t>(n)})) Finish(connection);
}

void Sender::Finish(Connection& connection) {
  const ReplyReader& reply = connection.reply;
  const bool refused = reply.status() == 503 && expected_status_ == 204;
  const bool closes = reply.closes();
  if (!refused && reply.status() != expected_status_) {
    Die(connection.request->substr(0, 1000) + "\nanswered: " + reply.text());
  }
  const std::string* request = connection.request;
  const auto due = connection.due;
  if (refused) {
    ++refused_;
    std::this_thread::sleep_for(kAfterRefusal);
  } else {
    latencies_.Add(static_cast<uint64_t>((Clock::now() - due).count()));
    body_bytes_.Add(reply.body_bytes());
  }
  connection.reply.Reset();
  connection.request = nullptr;
  if (closes) Open(connection);
  if (!refused) return idle_.push_back(&connection);
  connection.request = request;
  connection.sent = 0;
  connection.due = due;
  Write(connection);
}

}  // namespace hg::bench
