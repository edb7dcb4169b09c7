#pragma once
// A reference to a connection that an event loop lends to a pool thread. The reference keeps the
// connection alive. The connection is always released on the thread of its event loop. Only the
// server uses this file, which includes Asio.

#include <boost/asio/post.hpp>
#include <chrono>
#include <memory>
#include <thread>
#include <utility>

#include "http/server/connection.h"
#include "http/server/loop.h"
#include "storage/base/survive.h"

namespace hg::http {

/// A lent connection. Create this object on the event loop of the connection. Call GiveBack once,
/// on any thread. Copies share one reference to the connection; the object can be copied because
/// std::function requires this.
class LentConnection {
 public:
  LentConnection(std::shared_ptr<Connection> connection, Loop& loop)
      : loop_(loop), lent_(std::make_shared<std::shared_ptr<Connection>>(std::move(connection))) {}

  /// Makes the event loop call `then` with the connection and release the connection afterwards. If
  /// there is no memory for the message to the event loop, GiveBack retries until there is memory,
  /// because the client waits for the result.
  template <typename Then>
  void GiveBack(const Then& then) {
    constexpr auto kBreath = std::chrono::milliseconds(10);
    const auto post = [&] {
      boost::asio::post(loop_.io(), [&loop = loop_, lent = lent_, then] {
        const std::shared_ptr<Connection> connection = std::move(*lent);
        const Turn turn(loop.turns(), [&] { return connection->Doing(); });
        then(*connection);
      });
    };
    while (!Survive(post).ok()) std::this_thread::sleep_for(kBreath);
  }

 private:
  Loop& loop_;
  const std::shared_ptr<std::shared_ptr<Connection>> lent_;
};

}  // namespace hg::http
