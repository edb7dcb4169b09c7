#pragma once
// The output of a handler. A short response is sent in one piece with Content-Length. A response
// that outgrows the buffer is sent in chunks; Write then waits for slow clients (pool threads
// only).

#include <string>
#include <string_view>

namespace hg::http {

/// One thread at a time; lives while its request is handled. Implemented by the connection, and by
/// a string buffer in tests/support.
class ResponseWriter {
 public:
  virtual ~ResponseWriter() = default;

  /// Sets the status. Call it before the first Write. The default is 200.
  virtual void SetStatus(int status) = 0;
  /// Sets the content type. Call it before the first Write. The default is "application/json;
  /// charset=UTF-8"; "" = no Content-Type.
  virtual void SetContentType(std::string_view type) = 0;
  /// Adds a header. Call it before the first Write.
  virtual void AddHeader(std::string_view name, std::string_view value) = 0;
  /// Appends to the body. Returns false if the client is gone; then stop working.
  virtual bool Write(std::string_view bytes) = 0;
  /// Returns true once bytes were sent, so that status and headers can no longer change. Any
  /// thread.
  [[nodiscard]] virtual bool Started() const = 0;
  /// If no bytes were sent yet, drops everything that was written. A handler can then send an error
  /// instead, even if it fails late.
  virtual void Reset() = 0;
  /// Returns true if the client has closed its sending side; long work should then stop. Cheap, so
  /// it may be called often.
  [[nodiscard]] virtual bool Cancelled() const = 0;
  /// Called by the handler if its work takes long, so that the pool starts another thread for other
  /// requests. Any thread; may be called repeatedly.
  virtual void TakesLong() = 0;
  /// Aborts an incomplete response: Write fails from now on, a waiting Write returns, and the
  /// connection closes without the end of the body. Any thread.
  virtual void Cut() = 0;
};

}  // namespace hg::http
