#include "http/tls/tls_context.h"

#include <openssl/err.h>
#include <openssl/ssl.h>

#include "http/tls/tls_session.h"

namespace hg::http {
namespace {

/// Returns the text of OpenSSL's first queued error, and clears the queue.
std::string LastError() {
  const unsigned long code = ERR_peek_last_error();
  ERR_clear_error();
  char text[256] = "";
  ERR_error_string_n(code, text, sizeof text);
  return text;
}

Status Failed(const std::string& file, std::string_view what) {
  return Status::InvalidArgument(file + ": " + std::string(what) + ": " + LastError());
}

/// Returns no passphrase. Without this callback, OpenSSL would ask for one at the terminal.
int NoPassphrase(char*, int, int, void*) { return 0; }

Status LoadCertificate(const TlsOptions& options, SSL_CTX* context) {
  if (SSL_CTX_use_certificate_chain_file(context, options.certificate_file.c_str()) != 1)
    return Failed(options.certificate_file, "no certificate in PEM can be read");
  if (SSL_CTX_use_PrivateKey_file(context, options.key_file.c_str(), SSL_FILETYPE_PEM) != 1)
    return Failed(options.key_file, "no private key in PEM, or not that of the certificate");
  if (SSL_CTX_check_private_key(context) != 1)
    return Failed(options.key_file, "it is not the key of " + options.certificate_file);
  return {};
}

/// Enables CRL checks. Each CA in a client's chain must then have a CRL that has not expired,
/// because without a CRL the server could not recognize revoked certificates.
Status LoadRevoked(const std::string& file, SSL_CTX* context) {
  X509_STORE* const store = SSL_CTX_get_cert_store(context);
  X509_LOOKUP* const files = X509_STORE_add_lookup(store, X509_LOOKUP_file());
  if (files == nullptr || X509_load_crl_file(files, file.c_str(), X509_FILETYPE_PEM) < 1)
    return Failed(file, "no lists of revoked certificates in PEM can be read");
  X509_STORE_set_flags(store, X509_V_FLAG_CRL_CHECK | X509_V_FLAG_CRL_CHECK_ALL);
  return {};
}

Status LoadAuthorities(const TlsOptions& options, SSL_CTX* context) {
  if (options.clients == ClientCertificates::kNone) return {};
  const char* const file = options.authorities_file.c_str();
  if (SSL_CTX_load_verify_locations(context, file, nullptr) != 1)
    return Failed(options.authorities_file, "no certificates in PEM can be read");
  SSL_CTX_set_client_CA_list(context, SSL_load_client_CA_file(file));
  if (!options.revoked_file.empty()) RETURN_IF_ERROR(LoadRevoked(options.revoked_file, context));
  int mode = SSL_VERIFY_PEER;
  if (options.clients == ClientCertificates::kRequired) mode |= SSL_VERIFY_FAIL_IF_NO_PEER_CERT;
  SSL_CTX_set_verify(context, mode, nullptr);
  // Session resumption is disabled, because the client sends no certificate when it resumes a
  // session, and the certificate of the original session may have expired.
  SSL_CTX_set_num_tickets(context, 0);
  SSL_CTX_set_options(context, SSL_OP_NO_TICKET);
  SSL_CTX_set_session_cache_mode(context, SSL_SESS_CACHE_OFF);
  return {};
}

}  // namespace

Status TlsContext::Load() {
  ERR_clear_error();
  const std::shared_ptr<SSL_CTX> context(SSL_CTX_new(TLS_server_method()), SSL_CTX_free);
  if (context == nullptr) return Status::IoError("no TLS: " + LastError());
  SSL_CTX* const raw = context.get();
  SSL_CTX_set_min_proto_version(raw, TLS1_2_VERSION);
  // Requests and lines have explicit ends, and truncated ones do not run. So it is no error if a
  // client closes the connection without a TLS close message.
  SSL_CTX_set_options(raw, SSL_OP_NO_RENEGOTIATION | SSL_OP_NO_COMPRESSION |
                               SSL_OP_CIPHER_SERVER_PREFERENCE | SSL_OP_IGNORE_UNEXPECTED_EOF);
  SSL_CTX_set_mode(raw, SSL_MODE_ENABLE_PARTIAL_WRITE | SSL_MODE_ACCEPT_MOVING_WRITE_BUFFER |
                            SSL_MODE_RELEASE_BUFFERS);
  SSL_CTX_set_default_passwd_cb(raw, NoPassphrase);
  // Sessions can be resumed only within one context, and Load replaces the context.
  constexpr unsigned char kSessions[] = "hourglass";
  SSL_CTX_set_session_id_context(raw, kSessions, sizeof kSessions - 1);
  RETURN_IF_ERROR(LoadCertificate(options_, raw));
  RETURN_IF_ERROR(LoadAuthorities(options_, raw));
  std::lock_guard lock(mutex_);
  context_ = context;
  return {};
}

std::unique_ptr<TlsSession> TlsContext::NewSession(int descriptor) {
  std::shared_ptr<SSL_CTX> context;
  {
    std::lock_guard lock(mutex_);
    context = context_;
  }
  SSL* const ssl = SSL_new(context.get());  // holds a reference to the context
  if (ssl == nullptr) return nullptr;
  auto session = std::make_unique<TlsSession>(ssl);
  if (!session->SetSocket(descriptor)) return nullptr;
  SSL_set_accept_state(ssl);
  return session;
}

}  // namespace hg::http
