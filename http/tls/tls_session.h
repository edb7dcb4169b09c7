#pragma once
// The TLS session of one connection, on a non-blocking socket. The first calls of Receive perform
// the TLS handshake.

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "http/tls/transfer.h"

struct ssl_st;  // the type SSL of OpenSSL

namespace hg::http {

/// A TLS session. Only one thread at a time may use it.
class TlsSession {
 public:
  /// Maximum number of reads from the socket in one call. OpenSSL needs at least two reads for each
  /// TLS record. Without this limit, one call could handle the records of one client for seconds,
  /// because a record may have only one byte of data, or none.
  static constexpr int kReadsAtOnce = 512;

  /// The session takes ownership of `ssl`.
  explicit TlsSession(ssl_st* ssl);
  ~TlsSession();
  TlsSession(const TlsSession&) = delete;
  TlsSession& operator=(const TlsSession&) = delete;

  /// Sets the socket of the session. The caller keeps ownership of the descriptor. Call this
  /// function once, before all others. Returns false if memory is exhausted.
  bool SetSocket(int descriptor);

  // Stream calls the following functions. Their contracts are those of the functions of Stream that
  // have the same names. After kReadsAtOnce reads, Receive and Look return although the socket has
  // further bytes. If none of the records that these reads returned had data, they return kFailed,
  // except during the handshake.
  Transfer Receive(char* room, size_t size, size_t* received);
  Transfer Send(std::string_view bytes, size_t* sent);
  Transfer Look();
  /// Sends the close message of TLS if the socket can take it now. Only the first call has an
  /// effect.
  void Farewell();

  /// Returns whether Receive would return at once with bytes that this object already holds, with
  /// the end of the stream, or with a failure. In these cases, the caller must not wait for the
  /// socket, which may stay unreadable.
  [[nodiscard]] bool HoldsBytes() const;
  /// Returns whether Receive or Look must wait until the socket is writable, not readable. This may
  /// happen during a handshake.
  [[nodiscard]] bool ReceivingWaitsToSend() const { return receiving_waits_to_send_; }

  [[nodiscard]] bool Established() const;
  /// Returns the names in the verified client certificate: the common name of the subject, followed
  /// by the DNS names and e-mail addresses of its alternative names. Returns no names if the client
  /// sent no certificate, or if the certificate was not verified.
  [[nodiscard]] std::vector<std::string> PeerNames() const;

 private:
  /// Prepares a call of Receive, Send or Look.
  void BeginCall();
  /// Returns the Transfer for the result of an OpenSSL call that transferred no bytes.
  Transfer Verdict(int result);
  /// Returns the result of Receive or Look after an OpenSSL call that returned no bytes. `received`
  /// is the number of bytes that earlier OpenSSL calls have returned.
  Transfer ReceiveVerdict(int result, size_t received);

  const std::unique_ptr<ssl_st, void (*)(ssl_st*)> ssl_;
  int reads_left_ = 0;  // number of reads from the socket that the current call may still make
  bool receiving_waits_to_send_ = false;
  bool failed_ = false;
  bool said_farewell_ = false;
};

}  // namespace hg::http
