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
  std::string authority;  // certificate of the authority that the client trusts, in PEM form
  /// The certificate of the client; nullptr: the client has no certificate.
  const Certificate* certificate = nullptr;
  /// The newest TLS version that the client accepts, as a constant of OpenSSL; 0 = no limit.
  int version_max = 0;
  /// Approximate size of the receive buffer of the socket; 0 = the default size of the system.
  int receive_bytes = 0;
  // The session of an earlier connection, which the client resumes. nullptr: the client starts a
  // new session.
  ssl_session_st* session = nullptr;
};

/// A client that uses TLS. Only one thread at a time may use the object.
class TlsClient : public ClientSocket {
 public:
  /// Connects to the server and performs the TLS handshake.
  TlsClient(uint16_t port, const TlsClientOptions& options);
  ~TlsClient() override;

  /// Returns whether the handshake is complete and the client has verified the certificate of the
  /// server.
  [[nodiscard]] bool established() const { return established_; }
  /// Returns the common name in the certificate of the server.
  [[nodiscard]] std::string ServerName() const;
  /// Returns the TLS session, which a later connection may resume. Call this function after
  /// something was read. The session is valid as long as this object exists.
  [[nodiscard]] ssl_session_st* Session() const;
  [[nodiscard]] bool Resumed() const;
  /// Returns the TLS version of the connection in the form "TLSv1.3".
  [[nodiscard]] std::string Version() const;

  /// Sends `times` TLS 1.3 messages that announce new keys. They contain no data.
  void UpdateKeys(int times);
  void HalfClose() override;

 protected:
  ssize_t SendSome(std::string_view bytes) override;
  ssize_t ReceiveSome(char* room, size_t size) override;

 private:
  std::unique_ptr<ssl_st, void (*)(ssl_st*)> ssl_;
  bool established_ = false;
};

}  // namespace hg::http
