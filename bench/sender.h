#pragma once
// Sends prepared HTTP requests over keep-alive connections to the loopback interface. The sender
// uses one thread and epoll, because it runs on the same machine as the server that it measures.

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

/// Returns a blocking socket that is connected to 127.0.0.1, with TCP_NODELAY. Exits the program if
/// the connection fails.
int Connect(uint16_t port);

/// Sends requests and measures their latencies. A request for which expected_status is 204 is a
/// put: if the server answers 503 because it is busy, the sender sends the request again. The
/// program exits after any other unexpected response. Only one thread at a time may use the object.
class Sender {
 public:
  Sender(uint16_t port, size_t connections, int expected_status);
  ~Sender();
  Sender(const Sender&) = delete;
  Sender& operator=(const Sender&) = delete;

  /// Sends each request and waits for all responses. Returns the time that this took, in seconds.
  ///
  /// If `rate` is 0, the sender is a closed loop: each connection sends its next request after the
  /// previous response. Latency is measured from the time at which the request was sent.
  ///
  /// If `rate` is above 0, the sender is an open loop: `rate` requests per second become due. A
  /// request that is due waits for a free connection. Latency is measured from the time at which
  /// the request became due. It therefore includes the time that the request waited because the
  /// server stalled (no coordinated omission).
  ///
  /// `first_due` is the time at which the first request of the open loop becomes due. It may be in
  /// the past; the default is now.
  double SendAll(const std::vector<std::string>& requests, double rate = 0,
                 std::optional<std::chrono::steady_clock::time_point> first_due = {});

  [[nodiscard]] const Histogram& latencies() const { return latencies_; }
  /// Returns the latencies of the requests since the previous call of TakeLatencies, in
  /// nanoseconds.
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
