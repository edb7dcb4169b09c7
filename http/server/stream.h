#pragma once
// The byte stream of a connection: a socket with or without TLS. The functions do not block;
// WaitToReceive and WaitToSend return at once and call their handler later. Only the server uses
// this file, which includes Asio.

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

/// The byte stream of one connection. Only the thread of the connection's event loop may use the
/// object.
class Stream {
 public:
  /// If `tls` is null, the stream does not use TLS. The stream owns both arguments.
  Stream(boost::asio::ip::tcp::socket socket, std::unique_ptr<TlsSession> tls)
      : socket_(std::move(socket)), tls_(std::move(tls)) {}

  /// Receives up to `size` bytes into `room`, and sets *received to their number. Does not wait for
  /// bytes.
  Transfer Receive(char* room, size_t size, size_t* received);
  /// Returns kSome if received bytes are available. The bytes stay available for Receive. Otherwise
  /// returns kLater, kEnd or kFailed, as Receive would.
  Transfer Look();
  /// Returns whether the client has closed its sending side or reset the connection, even if there
  /// are unread bytes.
  [[nodiscard]] bool ClientClosed();
  /// Sends bytes from the front of `bytes`, and sets *sent to the number of bytes that the socket
  /// took. If the socket did not take all bytes, the next call must begin with the remaining bytes.
  Transfer Send(std::string_view bytes, size_t* sent);

  /// Calls `handler` when Receive may find bytes. If the socket is closed before, calls `handler`
  /// with an error.
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
  /// Calls `handler` when Send may take bytes, or with an error if the socket is closed before.
  template <typename Handler>
  void WaitToSend(Handler handler) {
    socket_.async_wait(boost::asio::ip::tcp::socket::wait_write, std::move(handler));
  }

  void Prepare(bool no_delay, bool keep_alive);
  /// Closes the sending side of the connection, so that the client sees the end of the stream.
  void EndSending();
  void Close();
  /// Closes the connection with a TCP reset, so that the client gets an error instead of the end of
  /// the stream. Bytes that the client has not received yet are dropped.
  void Reset();

  /// Returns the client's address, such as "127.0.0.1:51000", or "" if the client has disconnected.
  [[nodiscard]] std::string Remote() const;
  /// Returns the number of bytes that the kernel has taken but that the client has not
  /// acknowledged.
  [[nodiscard]] uint64_t UntakenBytes();
  /// Returns whether the stream uses TLS and the handshake is not complete.
  [[nodiscard]] bool InHandshake() const { return tls_ != nullptr && !tls_->Established(); }
  /// Returns the names in the client's certificate (TlsSession::PeerNames). Returns no names if the
  /// stream does not use TLS.
  [[nodiscard]] std::vector<std::string> PeerNames() const {
    return tls_ == nullptr ? std::vector<std::string>() : tls_->PeerNames();
  }

 private:
  boost::asio::ip::tcp::socket socket_;
  std::unique_ptr<TlsSession> tls_;
};

}  // namespace hg::http
