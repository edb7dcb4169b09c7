#pragma once
// A blocking client that speaks TLS.

#include <memory>
#include <string>

#include "tests/http/certificates.h"
#include "tests/http/client_socket.h"

struct ssl_session_st;
struct ssl_st;

namespace hg::http {

struct TlsClientOptions {
  std::string authority;                     // PEM of whom it trusts
  const Certificate* certificate = nullptr;  // its own; nullptr = none
  int version_max = 0;                       // as of OpenSSL; 0 = the newest
  int receive_bytes = 0;                     // ClientSocket's
  ssl_session_st* session = nullptr;         // of a connection before, to be resumed
};

/// One thread at a time.
class TlsClient : public ClientSocket {
 public:
  /// Connects; the handshake is made by the constructor.
  TlsClient(uint16_t port, const TlsClientOptions& options);
  ~TlsClient() override;

  /// The handshake came to its end, and the server's certificate is vouched for.
  [[nodiscard]] bool established() const { return established_; }
  /// The common name of the server's certificate.
  [[nodiscard]] std::string ServerName() const;
  /// What a later connection may resume, once something was read; lives as long as the object.
  [[nodiscard]] ssl_session_st* Session() const;
  [[nodiscard]] bool Resumed() const;
  /// "TLSv1.3".
  [[nodiscard]] std::string Version() const;

  void HalfClose() override;

 protected:
  ssize_t SendSome(std::string_view bytes) override;
  ssize_t ReceiveSome(char* room, size_t size) override;

 private:
  std::unique_ptr<ssl_st, void (*)(ssl_st*)> ssl_;
  bool established_ = false;
};

}  // namespace hg::http
