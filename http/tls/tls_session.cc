#include "http/tls/tls_session.h"

#include <openssl/err.h>
#include <openssl/ssl.h>
#include <openssl/x509v3.h>

namespace hg::http {
namespace {

std::string Text(const ASN1_STRING* text) {
  unsigned char* utf8 = nullptr;
  const int size = ASN1_STRING_to_UTF8(&utf8, text);
  if (size < 0) return {};
  std::string result(reinterpret_cast<char*>(utf8), static_cast<size_t>(size));
  OPENSSL_free(utf8);
  return result;
}

/// OpenSSL calls this function before and after each operation on the socket. The callback argument
/// of the socket is the number of reads that the session may still make in this call. Further reads
/// behave as if the socket had no bytes.
long CountReads(BIO* socket, int operation, const char*, size_t, int, long, int result, size_t*) {
  if (operation != BIO_CB_READ) return result;
  int* const left = reinterpret_cast<int*>(BIO_get_callback_arg(socket));
  if (*left > 0) {
    --*left;
    return result;
  }
  BIO_set_retry_read(socket);
  return -1;
}

void AddCommonName(const X509* certificate, std::vector<std::string>* names) {
  const X509_NAME* const subject = X509_get_subject_name(certificate);
  const int at = X509_NAME_get_index_by_NID(subject, NID_commonName, -1);
  if (at >= 0) names->push_back(Text(X509_NAME_ENTRY_get_data(X509_NAME_get_entry(subject, at))));
}

void AddAlternativeNames(const X509* certificate, std::vector<std::string>* names) {
  auto* const list = static_cast<GENERAL_NAMES*>(
      X509_get_ext_d2i(certificate, NID_subject_alt_name, nullptr, nullptr));
  for (int i = 0; i < sk_GENERAL_NAME_num(list); ++i) {
    const GENERAL_NAME* const name = sk_GENERAL_NAME_value(list, i);
    if (name->type == GEN_DNS) names->push_back(Text(name->d.dNSName));
    if (name->type == GEN_EMAIL) names->push_back(Text(name->d.rfc822Name));
  }
  GENERAL_NAMES_free(list);
}

}  // namespace

TlsSession::TlsSession(ssl_st* ssl) : ssl_(ssl, SSL_free) {}

TlsSession::~TlsSession() = default;

bool TlsSession::SetSocket(int descriptor) {
  if (SSL_set_fd(ssl_.get(), descriptor) != 1) return false;
  BIO* const socket = SSL_get_rbio(ssl_.get());
  BIO_set_callback_ex(socket, CountReads);
  BIO_set_callback_arg(socket, reinterpret_cast<char*>(&reads_left_));
  return true;
}

void TlsSession::BeginCall() {
  reads_left_ = kReadsAtOnce;
  // Errors that other code left in this thread's OpenSSL queue would be reported as errors of this
  // session.
  if (ERR_peek_error() != 0) ERR_clear_error();
}

Transfer TlsSession::Verdict(int result) {
  const int error = SSL_get_error(ssl_.get(), result);
  ERR_clear_error();
  switch (error) {
    case SSL_ERROR_WANT_READ:
    case SSL_ERROR_WANT_WRITE:
      return Transfer::kLater;
    case SSL_ERROR_ZERO_RETURN:
      return Transfer::kEnd;
    default:
      failed_ = true;
      return Transfer::kFailed;
  }
}

Transfer TlsSession::ReceiveVerdict(int result, size_t received) {
  const Transfer verdict = Verdict(result);
  receiving_waits_to_send_ = SSL_want_write(ssl_.get());
  if (received > 0) return Transfer::kSome;
  if (verdict != Transfer::kLater || reads_left_ > 0 || !Established()) return verdict;
  failed_ = true;
  return Transfer::kFailed;
}

Transfer TlsSession::Receive(char* room, size_t size, size_t* received) {
  *received = 0;
  BeginCall();
  // SSL_read_ex returns one record at a time. The loop reads many records, so that the caller does
  // not examine a large body after each record.
  while (*received < size) {
    size_t n = 0;
    const int result = SSL_read_ex(ssl_.get(), room + *received, size - *received, &n);
    *received += n;
    if (result != 1) return ReceiveVerdict(result, *received);
  }
  return Transfer::kSome;
}

Transfer TlsSession::Send(std::string_view bytes, size_t* sent) {
  *sent = 0;
  BeginCall();
  while (*sent < bytes.size()) {
    size_t n = 0;
    const int result = SSL_write_ex(ssl_.get(), bytes.data() + *sent, bytes.size() - *sent, &n);
    *sent += n;
    if (result == 1) continue;
    const Transfer verdict = Verdict(result);
    if (verdict != Transfer::kLater) return Transfer::kFailed;
    return *sent > 0 ? Transfer::kSome : verdict;
  }
  return Transfer::kSome;
}

Transfer TlsSession::Look() {
  char byte;
  size_t n = 0;
  BeginCall();
  const int result = SSL_peek_ex(ssl_.get(), &byte, 1, &n);
  return result == 1 ? Transfer::kSome : ReceiveVerdict(result, 0);
}

void TlsSession::Farewell() {
  if (failed_ || said_farewell_ || !Established()) return;
  said_farewell_ = true;
  (void)SSL_shutdown(ssl_.get());
  ERR_clear_error();
}

/// Returns true if the current record has unread bytes, or if the end of the stream was already
/// read. Polling the socket shows neither, but it shows further records.
bool TlsSession::HoldsBytes() const {
  return SSL_pending(ssl_.get()) > 0 || failed_ ||
         (SSL_get_shutdown(ssl_.get()) & SSL_RECEIVED_SHUTDOWN) != 0;
}

bool TlsSession::Established() const { return SSL_is_init_finished(ssl_.get()) == 1; }

std::vector<std::string> TlsSession::PeerNames() const {
  std::vector<std::string> names;
  const X509* const certificate = SSL_get0_peer_certificate(ssl_.get());
  if (certificate == nullptr || SSL_get_verify_result(ssl_.get()) != X509_V_OK) return names;
  AddCommonName(certificate, &names);
  AddAlternativeNames(certificate, &names);
  return names;
}

}  // namespace hg::http
