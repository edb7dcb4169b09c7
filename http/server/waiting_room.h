#pragma once
// A minimal server for the time while the store opens, which is long if a log is replayed. It tells
// clients that the process is alive but not ready. It needs neither a store nor settings.

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include "http/server/listening_socket.h"

namespace hg::http {

class TlsContext;

/// Accepts on a listening socket from construction until Stop. /healthz and /-/healthy get 200; any
/// other HTTP request gets 503 with Retry-After, one per connection. Telnet connections are
/// accepted but not read until the store is open, because the protocol has no "retry later" reply.
/// The number of waiting telnet connections is limited, so that HTTP clients still get replies.
/// Telnet connections beyond the limit are closed unread. Telnet connections over TLS are closed
/// instead of being kept, because a started TLS session cannot be handed over to the server.
/// Connections that were not accepted stay in the kernel's queue for the server.
class WaitingRoom {
 public:
  /// Returns how many of `connections_max` connections are reserved for HTTP clients: a quarter,
  /// but at most 1,024. Telnet clients cannot use these.
  static uint64_t NotForLines(uint64_t connections_max);

  /// `listener` and `tls` must stay valid until Stop has returned. `tls` must be loaded; nullptr
  /// means no TLS. `connections_max` is the number of connections that may be open, at least 1.
  /// Even if it is smaller than 16, up to 16 connections are read concurrently.
  WaitingRoom(const ListeningSocket& listener, uint64_t connections_max, TlsContext* tls = nullptr);
  /// Stops the thread and closes the telnet connections.
  ~WaitingRoom();
  WaitingRoom(const WaitingRoom&) = delete;
  WaitingRoom& operator=(const WaitingRoom&) = delete;

  /// Stops the thread. Returns the waiting telnet connections, which the caller must serve or
  /// close. A second call returns none.
  [[nodiscard]] std::vector<int> Stop();

 private:
  using Clock = std::chrono::steady_clock;
  struct Visit;

  void Run();
  /// Polls all sockets once. Returns false after Stop was called.
  bool Listen(Visit* visit);
  void Accept(Visit* visit, Clock::time_point now);
  /// Closes telnet connections whose clients have closed their side.
  void SweepLines();

  const int listening_;
  TlsContext* const tls_;
  const size_t clients_max_;  // maximum number of connections that are read at once
  const size_t lines_max_;
  int wake_;                // an eventfd, readable after Stop was called
  std::vector<int> lines_;  // owned by thread_ until it has ended
  std::thread thread_;
};

/// Returns the reply to the request head in `received`, or "" if the head is incomplete.
std::string WaitingRoomAnswer(std::string_view received);

}  // namespace hg::http
