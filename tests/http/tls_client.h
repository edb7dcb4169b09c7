#pragma once
// A blocking client that uses TLS.

#include <memory>
#include <string>

#include "tests/http/certificates.h"
#include "tests/http/client_socket.h"

struct ssl_session_st;
struct ssl_st;

namespace hg::http {

struct TlsClientOptions {
  std::string authority;  // certificate of the authority that the client trusts, as PEM
  const Certificate* certificate = nullptr;  // the client's certificate; nullptr = none
  int version_max = 0;    // newest TLS version, as OpenSSL's constant; 0 = no limit
  int receive_bytes = 0;  // as in the constructor of ClientSocket
  // Session of an earlier connection to resume; nullptr = a new session.
  ssl_session_st* session = nullptr;
};

/// Use on one thread at a time.
class TlsClient : public ClientSocket {
 public:
  /// Connects and performs the handshake.
  TlsClient(uint16_t port, const TlsClientOptions& options);
  ~TlsClient() override;

  /// Returns whether the handshake is complete and the server's certificate was verified.
  [[nodiscard]] bool established() const { return established_; }
  /// Returns the common name of the server's certificate.
  [[nodiscard]] std::string ServerName() const;
  /// Returns the session, which a later connection may resume. The result is valid once something
  /// was read, and as long as this object exists.
  [[nodiscard]] ssl_session_st* Session() const;
  [[nodiscard]] bool Resumed() const;
  /// Returns the TLS version of the connection in the form "TLSv1.3".
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
