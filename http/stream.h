#pragma once
// What a connection reads from and writes to: a socket, plain or with TLS over it. Internal to the
// server; includes Asio. Nothing here waits but the two calls that say so, and those call back.

#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/post.hpp>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "http/tls/tls_session.h"
#include "http/transfer.h"

namespace hg::http {

/// The loop's thread only.
class Stream {
 public:
  /// `tls`: null = plain.
  Stream(boost::asio::ip::tcp::socket socket, std::unique_ptr<TlsSession> tls)
      : socket_(std::move(socket)), tls_(std::move(tls)) {}

  /// Takes what has come, up to `size` bytes, into `room`.
  Transfer Receive(char* room, size_t size, size_t* received);
  /// Whether something has come, which stays.
  Transfer Look();
  /// Whether the client has closed, or broken off, whatever of its bytes has not been taken.
  [[nodiscard]] bool ClientClosed();
  /// Hands over the beginning of `bytes`, *sent of them. After less than all, the next call must
  /// begin with the rest.
  Transfer Send(std::string_view bytes, size_t* sent);

  /// Calls back once Receive may find something; with an error once the socket is closed.
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
  /// The same for Send.
  template <typename Handler>
  void WaitToSend(Handler handler) {
    socket_.async_wait(boost::asio::ip::tcp::socket::wait_write, std::move(handler));
  }

  void Prepare(bool no_delay, bool keep_alive);
  /// Nothing more will be sent.
  void EndSending();
  void Close();

  /// "127.0.0.1:51000"; "" if it is gone.
  [[nodiscard]] std::string Remote() const;
  /// Bytes that were sent and that the client has not taken.
  [[nodiscard]] uint64_t UntakenBytes();
  /// TLS, of which the handshake is not over.
  [[nodiscard]] bool InHandshake() const { return tls_ != nullptr && !tls_->Established(); }
  /// TlsSession::PeerNames; none of a plain stream.
  [[nodiscard]] std::vector<std::string> PeerNames() const {
    return tls_ == nullptr ? std::vector<std::string>() : tls_->PeerNames();
  }

 private:
  boost::asio::ip::tcp::socket socket_;
  std::unique_ptr<TlsSession> tls_;
};

}  // namespace hg::http
