#pragma once
// A connection that a thread of a pool works for: it waits for that thread, and is let go on its
// loop's own. Internal to the server; includes Asio.

#include <boost/asio/io_context.hpp>
#include <boost/asio/post.hpp>
#include <chrono>
#include <memory>
#include <thread>
#include <utility>

#include "http/connection.h"
#include "http/loop.h"
#include "storage/base/survive.h"

namespace hg::http {

/// Made on the loop; given back once, on any thread. Copies are of one loan, for std::function.
class LentConnection {
 public:
  LentConnection(std::shared_ptr<Connection> connection, Loop& loop)
      : io_(loop.io()),
        lent_(std::make_shared<std::shared_ptr<Connection>>(std::move(connection))) {}

  /// Has the loop call `then` with the connection, which it lets go behind that. Where there is no
  /// memory even for this, it is tried until there is: the client waits for it.
  template <typename Then>
  void GiveBack(const Then& then) {
    constexpr auto kBreath = std::chrono::milliseconds(10);
    const auto post = [&] {
      boost::asio::post(io_, [lent = lent_, then] {
        const std::shared_ptr<Connection> connection = std::move(*lent);
        then(*connection);
      });
    };
    while (!Survive(post).ok()) std::this_thread::sleep_for(kBreath);
  }

 private:
  boost::asio::io_context& io_;
  const std::shared_ptr<std::shared_ptr<Connection>> lent_;
};

}  // namespace hg::http
