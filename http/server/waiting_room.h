#pragma once
// A minimal server that runs while the store opens. Opening takes long if a log is replayed. The
// waiting room tells clients that the process is alive but not ready. It needs neither a store nor
// settings.

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

/// Accepts connections on a listening socket from its construction until Stop.
///
/// GET and HEAD requests to /healthz and /-/healthy get 200. All other HTTP requests get 503 with
/// Retry-After. Each connection gets only one reply.
///
/// Telnet connections are accepted but not read until the store is open, because the protocol has
/// no "retry later" reply. The number of waiting telnet connections is limited, so that HTTP
/// clients still get replies. Telnet connections beyond the limit are closed unread. Telnet
/// connections over TLS are closed instead of being kept, because a TLS session that has started
/// cannot be handed over to the server.
///
/// Connections that were not accepted stay in the queue of the kernel, and the server accepts them
/// later.
class WaitingRoom {
 public:
  /// Returns how many of `connections_max` connections are reserved for HTTP clients: a quarter of
  /// them, but at most 1,024. Telnet clients cannot use the reserved connections.
  static uint64_t NotForLines(uint64_t connections_max);

  /// `listener` and `tls` must stay valid until Stop has returned. `tls` must be loaded; nullptr
  /// means no TLS. `connections_max` is the maximum number of open connections, at least 1. Even if
  /// `connections_max` is less than 16, up to 16 connections are read at the same time.
  WaitingRoom(const ListeningSocket& listener, uint64_t connections_max, TlsContext* tls = nullptr);
  /// Stops the thread and closes the telnet connections that wait.
  ~WaitingRoom();
  WaitingRoom(const WaitingRoom&) = delete;
  WaitingRoom& operator=(const WaitingRoom&) = delete;

  /// Stops the thread of the waiting room. Returns the waiting telnet connections, which the caller
  /// must serve or close. A second call returns no connections.
  [[nodiscard]] std::vector<int> Stop();

 private:
  using Clock = std::chrono::steady_clock;
  struct Visit;

  void Run();
  /// Polls all sockets once. Returns false if Stop was called.
  bool Listen(Visit* visit);
  void Accept(Visit* visit, Clock::time_point now);
  /// Closes the telnet connections whose clients have closed their side.
  void SweepLines();

  const int listening_;
  TlsContext* const tls_;
  const size_t clients_max_;  // maximum number of connections that are read at the same time
  const size_t lines_max_;
  int wake_;                // an eventfd that becomes readable when Stop is called
  std::vector<int> lines_;  // telnet connections; only thread_ uses them until it has ended
  std::thread thread_;
};

/// Returns the reply to the request head in `received`, or "" if the request head is incomplete.
std::string WaitingRoomAnswer(std::string_view received);

}  // namespace hg::http
