#pragma once
// The interface through which a handler writes its response. A short response is sent in one piece
// with a Content-Length. A response that does not fit into the buffer is sent in chunks; in this
// case, Write waits for slow clients (on pool threads only).

#include <string>
#include <string_view>

namespace hg::http {

/// The response to one request. Only one thread at a time may use it, while the request is being
/// handled. Reply (reply.h) implements this interface for connections, and BufferResponse in
/// tests/support implements it for tests.
class ResponseWriter {
 public:
  virtual ~ResponseWriter() = default;

  /// Sets the HTTP status; the default is 200. Call this function before the first Write.
  virtual void SetStatus(int status) = 0;
  /// Sets the content type. The default is "application/json; charset=UTF-8"; "" = the response has
  /// no Content-Type. Call this function before the first Write.
  virtual void SetContentType(std::string_view type) = 0;
  /// Adds a header to the response. Call this function before the first Write.
  virtual void AddHeader(std::string_view name, std::string_view value) = 0;
  /// Appends bytes to the body. Returns false if the client has disconnected; the caller should
  /// then stop.
  virtual bool Write(std::string_view bytes) = 0;
  /// Returns whether bytes were already sent, so that status and headers can no longer change. Any
  /// thread may call this function.
  [[nodiscard]] virtual bool Started() const = 0;
  /// Drops the bytes that were passed to Write, and the headers Age and Cache-Control, if no bytes
  /// were sent yet. The status and the other headers stay. Thus a handler that fails late can still
  /// send an error reply.
  virtual void Reset() = 0;
  /// Returns whether the client has closed its sending side; long work should then stop. The call
  /// is cheap, so callers may make it often.
  [[nodiscard]] virtual bool Cancelled() const = 0;
  /// Tells the pool that the handler's work takes long, so that the pool starts another thread for
  /// other requests. Any thread may call this function, also repeatedly.
  virtual void TakesLong() = 0;
  /// Aborts an incomplete response. After the call, Write fails, a waiting Write returns, and the
  /// connection closes before the end of the body. Any thread may call this function.
  virtual void Cut() = 0;
};

}  // namespace hg::http
