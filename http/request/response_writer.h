#pragma once
// The output of a handler. A short response is sent in one piece with Content-Length. If a response
// does not fit in the buffer, it is sent in chunks; Write then waits for slow clients (on pool
// threads only).

#include <string>
#include <string_view>

namespace hg::http {

/// Use on one thread at a time, while its request is handled. The connection implements it, and so
/// does a string buffer in tests/support.
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
  /// Appends to the body. Returns false if the client has gone; the caller should then stop.
  virtual bool Write(std::string_view bytes) = 0;
  /// Returns whether bytes were sent, so that status and headers can no longer change. Any thread
  /// may call it.
  [[nodiscard]] virtual bool Started() const = 0;
  /// If no bytes were sent yet, drops everything that was written. Even if a handler fails late, it
  /// can then still send an error.
  virtual void Reset() = 0;
  /// Returns whether the client has closed its sending side; long work should then stop. The call
  /// is cheap, so it may be made often.
  [[nodiscard]] virtual bool Cancelled() const = 0;
  /// Handlers call this function if their work takes long, so that the pool starts another thread
  /// for other requests. Any thread may call it, also repeatedly.
  virtual void TakesLong() = 0;
  /// Aborts an incomplete response: Write fails from now on, a waiting Write returns, and the
  /// connection closes without the end of the body. Any thread may call it.
  virtual void Cut() = 0;
};

}  // namespace hg::http
