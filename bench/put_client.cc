// put_client: sends a prepared load of points (bench/load.h) over N keep-alive connections and says
// how fast it was accepted and what it cost the server. One thread and epoll: it shares the machine
// with the server it measures.
//
//   put_client --port 4242 --pid PID [--batch 5000] [--connections 4] [--passes 5] [--lines] ...
//
// --lines: the line protocol. It has no acknowledgement, so a pass ends when the server has closed
// every connection after the client had closed its side: everything is read and parsed by then.
//
// Last line: points, seconds, points/s, CPU nanoseconds per point of process PID during the sending
// and with what it did afterwards (flush, merge) until --settle seconds had passed, median and p99
// of a request in microseconds.

#include <arpa/inet.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <array>
#include <cerrno>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <map>
#include <string>
#include <thread>
#include <vector>

#include "bench/load.h"
#include "bench/measuring.h"

namespace hg::bench {
namespace {

using SteadyClock = std::chrono::steady_clock;

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
  fcntl(fd, F_SETFL, fcntl(fd, F_GETFL) | O_NONBLOCK);
  return fd;
}

/// One keep-alive connection: a request on its way, then its answer.
struct Connection {
  int fd = -1;
  const std::string* request = nullptr;
  size_t sent = 0;
  std::string reply;
  bool waits_to_write = false;
  SteadyClock::time_point began;
};

class Sender {
 public:
  Sender(uint16_t port, size_t connections)
      : epoll_(epoll_create1(EPOLL_CLOEXEC)), connections_(connections) {
    for (Connection& connection : connections_) {
      connection.fd = Connect(port);
      epoll_event event{};
      event.events = EPOLLIN;
      event.data.ptr = &connection;
      epoll_ctl(epoll_, EPOLL_CTL_ADD, connection.fd, &event);
    }
  }

  /// Sends all requests, each once, and waits for every answer. Seconds it took.
  double SendAll(const std::vector<std::string>& requests) {
    requests_ = &requests;
    next_ = 0;
    const auto began = SteadyClock::now();
    for (Connection& connection : connections_) StartNext(connection);
    std::array<epoll_event, 64> events;
    while (in_flight_ > 0) {
      const int count = epoll_wait(epoll_, events.data(), events.size(), 60'000);
      if (count == 0) Die("no answer for a minute");
      for (int i = 0; i < count; ++i) {
        Connection& connection = *static_cast<Connection*>(events[i].data.ptr);
        if (events[i].events & EPOLLOUT) Write(connection);
        if (events[i].events & (EPOLLIN | EPOLLHUP | EPOLLERR)) Read(connection);
      }
    }
    return std::chrono::duration<double>(SteadyClock::now() - began).count();
  }

  [[nodiscard]] std::vector<double> latencies_us() const { return latencies_us_; }

 private:
  void StartNext(Connection& connection) {
    if (next_ == requests_->size()) return;
    connection.request = &(*requests_)[next_++];
    connection.sent = 0;
    connection.began = SteadyClock::now();
    ++in_flight_;
    Write(connection);
  }

  void Write(Connection& connection) {
    while (connection.request != nullptr && connection.sent < connection.request->size()) {
      const ssize_t n = send(connection.fd, connection.request->data() + connection.sent,
                             connection.request->size() - connection.sent, MSG_NOSIGNAL);
      if (n < 0 && errno == EAGAIN) return WaitToWrite(connection, true);
      if (n < 0) Die(std::string("send: ") + std::strerror(errno));
      connection.sent += static_cast<size_t>(n);
    }
    WaitToWrite(connection, false);
  }

  void WaitToWrite(Connection& connection, bool wait) {
    if (connection.waits_to_write == wait) return;
    connection.waits_to_write = wait;
    epoll_event event{};
    event.events = EPOLLIN | (wait ? EPOLLOUT : 0U);
    event.data.ptr = &connection;
    epoll_ctl(epoll_, EPOLL_CTL_MOD, connection.fd, &event);
  }

  void Read(Connection& connection) {
    std::array<char, 4096> buffer;
    const ssize_t n = recv(connection.fd, buffer.data(), buffer.size(), 0);
    if (n < 0 && errno == EAGAIN) return;
    if (n <= 0) Die("the server closed the connection: " + connection.reply);
    connection.reply.append(buffer.data(), static_cast<size_t>(n));
    if (connection.reply.find("\r\n\r\n") == std::string::npos) return;
    // Success of a put has no body: whatever is not 204 ends the measurement.
    if (connection.reply.compare(0, 12, "HTTP/1.1 204") != 0) Die("answered: " + connection.reply);
    connection.reply.clear();
    connection.request = nullptr;
    latencies_us_.push_back(
        std::chrono::duration<double, std::micro>(SteadyClock::now() - connection.began).count());
    --in_flight_;
    StartNext(connection);
  }

  const int epoll_;
  std::vector<Connection> connections_;
  const std::vector<std::string>* requests_ = nullptr;
  size_t next_ = 0;
  size_t in_flight_ = 0;
  std::vector<double> latencies_us_;
};

/// Sends lines over blocking connections, a thread each, and waits until the server has closed them
/// all. Seconds it took. Any answer is an objection to a line and ends the measurement.
double SendLines(uint16_t port, size_t connections, const std::vector<std::string>& requests) {
  const auto began = SteadyClock::now();
  std::vector<std::thread> threads;
  for (size_t i = 0; i < connections; ++i) {
    threads.emplace_back([port, connections, i, &requests] {
      const int fd = Connect(port);
      fcntl(fd, F_SETFL, fcntl(fd, F_GETFL) & ~O_NONBLOCK);
      for (size_t r = i; r < requests.size(); r += connections) {
        for (size_t sent = 0; sent < requests[r].size();) {
          const ssize_t n =
              send(fd, requests[r].data() + sent, requests[r].size() - sent, MSG_NOSIGNAL);
          if (n < 0) Die(std::string("send: ") + std::strerror(errno));
          sent += static_cast<size_t>(n);
        }
      }
      shutdown(fd, SHUT_WR);
      std::array<char, 4096> buffer;
      const ssize_t n = recv(fd, buffer.data(), buffer.size(), 0);
      if (n > 0) Die("answered: " + std::string(buffer.data(), static_cast<size_t>(n)));
      close(fd);
    });
  }
  for (std::thread& thread : threads) thread.join();
  return std::chrono::duration<double>(SteadyClock::now() - began).count();
}

double Quantile(std::vector<double> values, double q) {
  if (values.empty()) return 0;
  const auto at =
      values.begin() + static_cast<ptrdiff_t>(q * static_cast<double>(values.size() - 1));
  std::nth_element(values.begin(), at, values.end());
  return *at;
}

}  // namespace
}  // namespace hg::bench

int main(int argc, char** argv) {
  using namespace hg::bench;
  LoadShape shape;
  uint16_t port = 4242;
  int pid = 0;
  size_t connections = 4;
  uint32_t passes = 5;
  double settle_s = 0;
  bool create = false;
  bool fresh = false;

  CLI::App app(
      "Sends points to /api/put and says how fast they were accepted and what they cost the "
      "server.");
  app.add_option("--port", port, "port on 127.0.0.1");
  app.add_option("--pid", pid, "process whose CPU time counts");
  app.add_option("--hosts", shape.hosts, "hosts");
  app.add_option("--metrics", shape.metrics, "metrics of each host")
      ->check(CLI::Range(1U, kMetricsMax));
  app.add_option("--steps", shape.steps, "points of each series in one pass");
  app.add_option("--step", shape.step_s, "seconds between points");
  app.add_option("--batch", shape.batch, "points a request");
  app.add_option("--start", shape.start_s, "time of the first point");
  app.add_option("--decimals", shape.decimals, "digits behind the dot, 0 = integers");
  app.add_option("--seed", shape.seed, "of the random walks");
  app.add_option("--connections", connections, "keep-alive connections");
  app.add_option("--passes", passes,
                 "times the prepared load is sent, each as the time that follows");
  app.add_option("--settle", settle_s, "seconds to wait before the CPU time is read once more");
  app.add_flag("--lines", shape.lines, "the line protocol instead of HTTP");
  const std::map<std::string, Values> kinds = {
      {"walk", Values::kWalk}, {"counter", Values::kCounter}, {"constant", Values::kConstant}};
  app.add_option("--values", shape.values, "walk, counter or constant")
      ->transform(CLI::CheckedTransformer(kinds));
  app.add_flag("--fresh", fresh, "new values in each pass, not the same again");
  app.add_flag("--create", create,
               "only create the series: one point each, an hour before --start");
  CLI11_PARSE(app, argc, argv);
  if (create) {
    shape.steps = 1;
    shape.start_s -= 3600;
    passes = 1;
  }

  Load load(shape, "127.0.0.1:" + std::to_string(port));
  Sender sender(port, shape.lines ? 0 : connections);
  double seconds = 0;
  const double cpu_before = pid != 0 ? ProcessCpuSeconds(pid) : 0;
  double cpu_sending = 0;
  for (uint32_t pass = 0; pass < passes; ++pass) {
    if (pass > 0) fresh ? load.GoOn() : load.MoveOn();
    const double cpu = pid != 0 ? ProcessCpuSeconds(pid) : 0;
    seconds += shape.lines ? SendLines(port, connections, load.requests())
                           : sender.SendAll(load.requests());
    if (pid != 0) cpu_sending += ProcessCpuSeconds(pid) - cpu;
  }
  std::this_thread::sleep_for(std::chrono::duration<double>(settle_s));
  const double cpu_all = pid != 0 ? ProcessCpuSeconds(pid) - cpu_before : 0;
  const double points = static_cast<double>(load.points()) * passes;
  std::printf(
      "points %.0f seconds %.3f rate %.0f cpu_ns %.1f settled_cpu_ns %.1f median_us %.0f p99_us "
      "%.0f\n",
      points, seconds, points / seconds, cpu_sending / points * 1e9, cpu_all / points * 1e9,
      Quantile(sender.latencies_us(), 0.5), Quantile(sender.latencies_us(), 0.99));
  return 0;
}
