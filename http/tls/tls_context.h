#pragma once
// What the TLS side of the edge is made of: certificate, key, and whom it trusts to vouch for
// clients. Versions from 1.2, the ciphers that the system's OpenSSL takes for safe.

#include <memory>
#include <mutex>
#include <string>

#include "http/options.h"
#include "storage/base/status.h"

struct ssl_ctx_st;  // OpenSSL's SSL_CTX

namespace hg::http {

class TlsSession;

/// Thread-safe.
class TlsContext {
 public:
  explicit TlsContext(const TlsOptions& options) : options_(options) {}

  /// Reads the files for all sessions that begin from now on. On failure, which names the file,
  /// everything stays as it was.
  Status Load();

  /// A session over a connected socket, whose descriptor it borrows. After a Load that was ok.
  /// Null: no memory.
  std::unique_ptr<TlsSession> NewSession(int descriptor);

 private:
  const TlsOptions& options_;
  std::mutex mutex_;
  std::shared_ptr<ssl_ctx_st> context_;  // guarded by mutex_
};

}  // namespace hg::http
