#pragma once
// The TLS configuration: the certificate, the key, and the CA certificates by which client
// certificates are verified. The daemon uses TLS 1.2 or later, with the ciphers that the OpenSSL
// library of the system considers safe.

#include <memory>
#include <mutex>
#include <string>

#include "http/request/options.h"
#include "storage/base/status.h"

struct ssl_ctx_st;  // the type SSL_CTX of OpenSSL

namespace hg::http {

class TlsSession;

/// The TLS configuration of all sessions. The object is thread-safe.
class TlsContext {
 public:
  /// `options` must outlive the object.
  explicit TlsContext(const TlsOptions& options) : options_(options) {}

  /// Reads the TLS files. All sessions that begin after the call use them. If reading fails,
  /// nothing changes, and the error message contains the name of the file.
  Status Load();

  /// Creates a TLS session on a connected socket. The caller keeps ownership of the descriptor.
  /// Call this function after a successful Load. Returns null if memory is exhausted.
  std::unique_ptr<TlsSession> NewSession(int descriptor);

 private:
  const TlsOptions& options_;
  std::mutex mutex_;
  std::shared_ptr<ssl_ctx_st> context_;  // settings of new sessions; guarded by mutex_
};

}  // namespace hg::http
