#pragma once
// The byte stream of a connection: a socket without or with TLS. Its functions do not block;
// WaitToReceive and WaitToSend return at once and call a function later. Only the server uses this
// file, which includes Asio.

#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/post.hpp>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "http/tls/tls_session.h"
#include "http/tls/transfer.h"

namespace hg::http {

/// Only the thread of the connection's loop may use the object.
class Stream {
 public:
  /// If `tls` is null, the stream does not use TLS.
  Stream(boost::asio::ip::tcp::socket socket, std::unique_ptr<TlsSession> tls)
      : socket_(std::move(socket)), tls_(std::move(tls)) {}

  /// Receives up to `size` bytes into `room`. Does not wait.
  Transfer Receive(char* room, size_t size, size_t* received);
  /// Returns whether received bytes are available, without taking them.
  Transfer Look();
  /// Returns whether the client has closed or reset the connection, even if there are unread bytes.
  [[nodiscard]] bool ClientClosed();
  /// Sends the front of `bytes` and sets *sent to the number of bytes that the socket took. If the
  /// socket did not take all, the next call must begin with the rest.
  Transfer Send(std::string_view bytes, size_t* sent);

  /// Calls `handler` once Receive may find bytes, or with an error once the socket is closed.
  template <typename Handler>
  void WaitToReceive(Handler handler) {
    using Socket = boost::asio::ip::tcp::socket;
    if (tls_ == nullptr) return socket_.async_wait(Socket::wait_read, std::move(handler));
    if (tls_->HoldsBytes()) {
      return boost::asio::post(socket_.get_executor(), [handler = std::move(handler)]() mutable {
        handler(boost::system::error_code());
      });
    }
    socket_.async_wait(tls_->ReceivingWaitsToSend() ? Socket::wait_write : Socket::wait_read,
                       std::move(handler));
  }
  /// Calls `handler` once Send may take bytes, or with an error once the socket is closed.
  template <typename Handler>
  void WaitToSend(Handler handler) {
    socket_.async_wait(boost::asio::ip::tcp::socket::wait_write, std::move(handler));
  }

  void Prepare(bool no_delay, bool keep_alive);
  /// Closes the sending side of the connection. The client then sees the end of the stream.
  void EndSending();
  void Close();

  /// Returns the client's address, such as "127.0.0.1:51000", or "" if the client has disconnected.
  [[nodiscard]] std::string Remote() const;
  /// Returns the number of sent bytes that the client has not acknowledged yet.
  [[nodiscard]] uint64_t UntakenBytes();
  /// Returns whether there is a TLS handshake that is not complete.
  [[nodiscard]] bool InHandshake() const { return tls_ != nullptr && !tls_->Established(); }
  /// Returns the names in the client's certificate (TlsSession::PeerNames). The result is empty
  /// without TLS.
  [[nodiscard]] std::vector<std::string> PeerNames() const {
    return tls_ == nullptr ? std::vector<std::string>() : tls_->PeerNames();
  }

 private:
  boost::asio::ip::tcp::socket socket_;
  std::unique_ptr<TlsSession> tls_;
};

}  // namespace hg::http
