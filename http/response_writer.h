#pragma once
// Where a handler puts its answer. Small answers go out in one piece with Content-Length; an answer
// that outgrows the buffer is streamed in chunks, and Write then waits for a slow client (pool
// threads only).

#include <string>
#include <string_view>

namespace hg::http {

/// One thread at a time; lives while its request is handled. Implemented by the connection, and by
/// a string buffer in tests/support.
class ResponseWriter {
 public:
  virtual ~ResponseWriter() = default;

  /// Before the first Write. Default 200.
  virtual void SetStatus(int status) = 0;
  /// Before the first Write. Default "application/json; charset=UTF-8"; "" = no Content-Type.
  virtual void SetContentType(std::string_view type) = 0;
  /// Before the first Write.
  virtual void AddHeader(std::string_view name, std::string_view value) = 0;
  /// Appends to the body. False: the client is gone; stop working.
  virtual bool Write(std::string_view bytes) = 0;
  /// True once bytes have left, so that status and headers can no longer change.
  [[nodiscard]] virtual bool Started() const = 0;
  /// Drops what was written so far, if nothing has left yet (a failure found late becomes a clean
  /// error reply).
  virtual void Reset() = 0;
  /// The client closed its end: long work should stop. Cheap; may be polled.
  [[nodiscard]] virtual bool Cancelled() const = 0;
  /// The handler takes long: other requests should not wait for its thread. Any thread; may be
  /// repeated.
  virtual void TakesLong() = 0;
  /// What was written cannot be completed: Write fails from now on, a Write that waits for the
  /// client returns, and the connection ends without the end of a body. Any thread.
  virtual void Cut() = 0;
};

}  // namespace hg::http
