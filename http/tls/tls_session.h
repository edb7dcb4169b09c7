#pragma once
// TLS of one connection, over a socket that does not block. The handshake is made by the first
// reads.

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "http/transfer.h"

struct ssl_st;  // OpenSSL's SSL

namespace hg::http {

/// One thread at a time.
class TlsSession {
 public:
  /// Takes it over.
  explicit TlsSession(ssl_st* ssl);
  ~TlsSession();
  TlsSession(const TlsSession&) = delete;
  TlsSession& operator=(const TlsSession&) = delete;

  // As of Stream, which these stand in for.
  Transfer Receive(char* room, size_t size, size_t* received);
  Transfer Send(std::string_view bytes, size_t* sent);
  Transfer Look();
  /// Says that nothing more will be sent, as far as the socket takes it now; once.
  void Farewell();

  /// Bytes, or the end, have come that the socket does not show any more.
  [[nodiscard]] bool HoldsBytes() const;
  /// What Receive or Look waits for is room to send (else bytes to read): a handshake may.
  [[nodiscard]] bool ReceivingWaitsToSend() const { return receiving_waits_to_send_; }

  [[nodiscard]] bool Established() const;
  /// Whom the client's certificate, which was verified, is about: the subject's common name, then
  /// DNS names and addresses of its alternative names. None without a certificate.
  [[nodiscard]] std::vector<std::string> PeerNames() const;

 private:
  /// What a call that moved nothing means.
  Transfer Verdict(int result);

  const std::unique_ptr<ssl_st, void (*)(ssl_st*)> ssl_;
  bool receiving_waits_to_send_ = false;
  bool failed_ = false;
  bool said_farewell_ = false;
};

}  // namespace hg::http
