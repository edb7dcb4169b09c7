#pragma once
// The TLS configuration: certificate, key, and the CA certificates for clients. The daemon uses TLS
// 1.2 or later, with the ciphers that the system's OpenSSL considers safe.

#include <memory>
#include <mutex>
#include <string>

#include "http/request/options.h"
#include "storage/base/status.h"

struct ssl_ctx_st;  // OpenSSL's SSL_CTX

namespace hg::http {

class TlsSession;

/// Thread-safe.
class TlsContext {
 public:
  explicit TlsContext(const TlsOptions& options) : options_(options) {}

  /// Reads the files for all sessions that begin from now on. If this fails, nothing changes, and
  /// the error message names the file.
  Status Load();

  /// Creates a session on a connected socket. The caller keeps the descriptor. Call this function
  /// after a successful Load. Returns null if out of memory.
  std::unique_ptr<TlsSession> NewSession(int descriptor);

 private:
  const TlsOptions& options_;
  std::mutex mutex_;
  std::shared_ptr<ssl_ctx_st> context_;  // guarded by mutex_
};

}  // namespace hg::http
