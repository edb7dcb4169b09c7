#pragma once
// The TLS session of one connection, on a non-blocking socket. The first calls of Receive perform
// the handshake.

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "http/tls/transfer.h"

struct ssl_st;  // OpenSSL's SSL

namespace hg::http {

/// One thread at a time.
class TlsSession {
 public:
  /// Takes ownership of `ssl`.
  explicit TlsSession(ssl_st* ssl);
  ~TlsSession();
  TlsSession(const TlsSession&) = delete;
  TlsSession& operator=(const TlsSession&) = delete;

  // These functions have the contracts of the functions with the same names in Stream, which calls
  // them.
  Transfer Receive(char* room, size_t size, size_t* received);
  Transfer Send(std::string_view bytes, size_t* sent);
  Transfer Look();
  /// Sends the TLS close message if the socket can take it now. Only the first call has an effect.
  void Farewell();

  /// Returns true if received bytes, or the end of the stream, are held in this object. Polling the
  /// socket does not detect such bytes.
  [[nodiscard]] bool HoldsBytes() const;
  /// Returns true if Receive or Look waits until the socket is writable instead of readable; a
  /// handshake may need that.
  [[nodiscard]] bool ReceivingWaitsToSend() const { return receiving_waits_to_send_; }

  [[nodiscard]] bool Established() const;
  /// The names in the verified client certificate: the subject's common name, then the DNS names
  /// and addresses of its alternative names. Empty without a certificate.
  [[nodiscard]] std::vector<std::string> PeerNames() const;

 private:
  /// Translates the result of an OpenSSL call that moved no bytes.
  Transfer Verdict(int result);

  const std::unique_ptr<ssl_st, void (*)(ssl_st*)> ssl_;
  bool receiving_waits_to_send_ = false;
  bool failed_ = false;
  bool said_farewell_ = false;
};

}  // namespace hg::http
