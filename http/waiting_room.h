#pragma once
// Who answers while the store is opened, which takes its time where a log is read again: the
// process lives, and is not ready. No store and no settings are needed for that.

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include "http/listening_socket.h"

namespace hg::http {

class TlsContext;

/// Accepts on a listener's socket from its construction until Stop. /healthz: 200; any other
/// request: 503 with Retry-After, one for each connection. Who speaks lines waits, unread: there is
/// no answer that would have him send them again. So many may wait that others can still be
/// answered; who comes beyond them is closed, nothing of his read. What comes later, or has not
/// been accepted, is left to who accepts next. Over TLS, where a connection that was begun cannot
/// be left to another, lines are closed: who sends them knows that none was answered.
class WaitingRoom {
 public:
  /// Of so many connections those that are not for lines: a quarter, 1,024 at most.
  static uint64_t NotForLines(uint64_t connections_max);

  /// `listener` outlives the object or its Stop, and so does `tls`, which is loaded; nullptr:
  /// plain. `connections_max`: those that it may hold, at least 1; however few, 16 can be heard at
  /// once.
  WaitingRoom(const ListeningSocket& listener, uint64_t connections_max, TlsContext* tls = nullptr);
  /// Stops.
  ~WaitingRoom();
  WaitingRoom(const WaitingRoom&) = delete;
  WaitingRoom& operator=(const WaitingRoom&) = delete;

  /// Ends what it has begun. The connections of those who speak lines, for the caller to go on with
  /// or to close. Again: none.
  [[nodiscard]] std::vector<int> Stop();

 private:
  using Clock = std::chrono::steady_clock;
  struct Visit;

  void Run();
  /// To all, once; false: it is over.
  bool Listen(Visit* visit);
  void Accept(Visit* visit, Clock::time_point now);
  /// Closes those whose clients have broken off.
  void SweepLines();

  const int listening_;
  TlsContext* const tls_;
  const size_t clients_max_;  // those that do not wait
  const size_t lines_max_;
  int wake_;                // readable: it is over
  std::vector<int> lines_;  // of the thread, until it has ended
  std::thread thread_;
};

/// The answer to a request that begins so; "" = more is needed, or it is none.
std::string WaitingRoomAnswer(std::string_view received);

}  // namespace hg::http
