#include "tests/http/tls_client.h"

#include <doctest/doctest.h>
#include <openssl/err.h>
#include <openssl/pem.h>
#include <openssl/ssl.h>

#include <csignal>

namespace hg::http {
namespace {

BIO* PemOf(const std::string& text) {
  return BIO_new_mem_buf(text.data(), static_cast<int>(text.size()));
}

void Trust(SSL_CTX* context, const std::string& authority) {
  BIO* const text = PemOf(authority);
  X509* const certificate = PEM_read_bio_X509(text, nullptr, nullptr, nullptr);
  REQUIRE(X509_STORE_add_cert(SSL_CTX_get_cert_store(context), certificate) == 1);
  X509_free(certificate);
  BIO_free(text);
}

void Present(SSL_CTX* context, const Certificate& own) {
  BIO* const certificate_text = PemOf(own.certificate);
  BIO* const key_text = PemOf(own.key);
  X509* const certificate = PEM_read_bio_X509(certificate_text, nullptr, nullptr, nullptr);
  EVP_PKEY* const key = PEM_read_bio_PrivateKey(key_text, nullptr, nullptr, nullptr);
  REQUIRE(SSL_CTX_use_certificate(context, certificate) == 1);
  REQUIRE(SSL_CTX_use_PrivateKey(context, key) == 1);
  X509_free(certificate);
  EVP_PKEY_free(key);
  BIO_free(certificate_text);
  BIO_free(key_text);
}

}  // namespace

TlsClient::TlsClient(uint16_t port, const TlsClientOptions& options)
    : ClientSocket(port, options.receive_bytes), ssl_(nullptr, SSL_free) {
  std::signal(SIGPIPE, SIG_IGN);  // as the daemon does
  const std::unique_ptr<SSL_CTX, void (*)(SSL_CTX*)> context(SSL_CTX_new(TLS_client_method()),
                                                             SSL_CTX_free);
  Trust(context.get(), options.authority);
  if (options.certificate != nullptr) Present(context.get(), *options.certificate);
  SSL_CTX_set_verify(context.get(), SSL_VERIFY_PEER, nullptr);
  if (options.version_max != 0) {
    // Allows what the system's configuration forbids, so that only the server can refuse it.
    SSL_CTX_set_security_level(context.get(), 0);
    SSL_CTX_set_min_proto_version(context.get(), 0);
    SSL_CTX_set_max_proto_version(context.get(), options.version_max);
  }
  ssl_.reset(SSL_new(context.get()));
  SSL_set_fd(ssl_.get(), fd());
  if (options.session != nullptr) REQUIRE(SSL_set_session(ssl_.get(), options.session) == 1);
  ERR_clear_error();
  established_ = SSL_connect(ssl_.get()) == 1;
}

TlsClient::~TlsClient() = default;

std::string TlsClient::ServerName() const {
  const X509* const certificate = SSL_get0_peer_certificate(ssl_.get());
  REQUIRE(certificate != nullptr);
  char name[256] = "";
  X509_NAME_get_text_by_NID(X509_get_subject_name(certificate), NID_commonName, name, sizeof name);
  return name;
}

ssl_session_st* TlsClient::Session() const { return SSL_get_session(ssl_.get()); }

bool TlsClient::Resumed() const { return SSL_session_reused(ssl_.get()) == 1; }

std::string TlsClient::Version() const { return SSL_get_version(ssl_.get()); }

void TlsClient::UpdateKeys(int times) {
  for (int i = 0; i < times; ++i) {
    REQUIRE(SSL_key_update(ssl_.get(), SSL_KEY_UPDATE_NOT_REQUESTED) == 1);
    REQUIRE(SSL_do_handshake(ssl_.get()) == 1);
  }
}

void TlsClient::HalfClose() { SSL_shutdown(ssl_.get()); }

ssize_t TlsClient::SendSome(std::string_view bytes) {
  ERR_clear_error();
  return SSL_write(ssl_.get(), bytes.data(), static_cast<int>(bytes.size()));
}

ssize_t TlsClient::ReceiveSome(char* room, size_t size) {
  ERR_clear_error();
  return SSL_read(ssl_.get(), room, static_cast<int>(size));
}

}  // namespace hg::http
