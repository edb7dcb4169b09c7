#pragma once
// Who answers while the store is opened, which takes its time where a log is read again: the
// process lives, and is not ready. No store and no settings are needed for that.

#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include "http/listening_socket.h"

namespace hg::http {

/// Accepts on a listener's socket from its construction until Stop. /healthz: 200; any other
/// request: 503 with Retry-After, one for each connection. Who speaks lines waits, unread: there is
/// no answer that would have him send them again. What comes later, or has not been accepted, is
/// left to who accepts next.
class WaitingRoom {
 public:
  /// `listener` outlives the object or its Stop.
  explicit WaitingRoom(const ListeningSocket& listener);
  /// Stops.
  ~WaitingRoom();
  WaitingRoom(const WaitingRoom&) = delete;
  WaitingRoom& operator=(const WaitingRoom&) = delete;

  /// Ends what it has begun. The connections of those who speak lines, for the caller to go on with
  /// or to close. Again: none.
  [[nodiscard]] std::vector<int> Stop();

 private:
  void Run();

  const int listening_;
  int wake_;                // readable: it is over
  std::vector<int> lines_;  // once the thread has ended
  std::thread thread_;
};

/// The answer to a request that begins so; "" = more is needed, or it is none.
std::string WaitingRoomAnswer(std::string_view received);

}  // namespace hg::http
