#pragma once
// Sends prepared HTTP requests over keep-alive connections of the loopback interface: one thread
// and epoll, because it shares the machine with the server that it measures.

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "bench/histogram.h"
#include "bench/reply_reader.h"

namespace hg::bench {

/// Connected to 127.0.0.1, without Nagle's delay; blocking. A failure ends the measurement.
int Connect(uint16_t port);

/// Whatever answers otherwise than expected ends the measurement; a 503 to a put is back-pressure:
/// the request is sent again. One thread at a time.
class Sender {
 public:
  Sender(uint16_t port, size_t connections, int expected_status);
  ~Sender();
  Sender(const Sender&) = delete;
  Sender& operator=(const Sender&) = delete;

  /// Sends all requests, each once, and waits for every answer; seconds that it took.
  ///
  /// `rate` 0, the closed loop: each connection sends its next request when it has an answer; a
  /// latency counts from the sending. Above 0, the open loop: so many requests fall due a second,
  /// whatever the server does, and wait for a free connection; a latency counts from when the
  /// request was due, so that a stalled server is charged with all that it made wait (no
  /// coordinated omission).
  ///
  /// `first_due`, of the open loop: when the first request fell due; now if it is not said.
  double SendAll(const std::vector<std::string>& requests, double rate = 0,
                 std::optional<std::chrono::steady_clock::time_point> first_due = {});

  [[nodiscard]] const Histogram& latencies() const { return latencies_; }
  /// Of what was sent since they were taken last.
  Histogram TakeLatencies() { return std::exchange(latencies_, Histogram()); }
  [[nodiscard]] const Histogram& body_bytes() const { return body_bytes_; }
  [[nodiscard]] uint64_t refused() const { return refused_; }

 private:
  using Clock = std::chrono::steady_clock;
  struct Connection {
    int fd = -1;
    const std::string* request = nullptr;
    size_t sent = 0;
    ReplyReader reply;
    bool waits_to_write = false;
    Clock::time_point due;
  };

  void Open(Connection& connection);
  [[nodiscard]] Clock::time_point DueOfNext() const;
  void StartWhatIsDue();
  void Start(Connection& connection, Clock::time_point due);
  void Write(Connection& connection);
  void WaitToWrite(Connection& connection, bool wait);
  void Read(Connection& connection);
  void Finish(Connection& connection);

  const uint16_t port_;
  const int expected_status_;
  const int epoll_;
  std::vector<Connection> connections_;
  std::vector<Connection*> idle_;
  const std::vector<std::string>* requests_ = nullptr;
  size_t next_ = 0;
  double rate_ = 0;
  Clock::time_point began_;
  Histogram latencies_;
  Histogram body_bytes_;
  uint64_t refused_ = 0;
};

}  // namespace hg::bench
