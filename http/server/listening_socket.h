#pragma once
// The listening socket of the daemon. Two objects accept connections on it: first the waiting room
// (waiting_room.h) while the store opens, and then the server. If a connection arrives after the
// waiting room has stopped and before the server has started, it waits in the queue of the kernel.

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "http/request/options.h"
#include "storage/base/status.h"

namespace hg::http {

inline bool SpeaksTls(const Options& options) { return !options.tls.certificate_file.empty(); }
/// Returns whether Options::port accepts connections without TLS.
inline bool SpeaksPlain(const Options& options) { return !SpeaksTls(options) || options.tls.port; }

/// A listening socket. The destructor closes the socket, unless Release was called.
class ListeningSocket {
 public:
  /// Listens on Options::bind and Options::port. Call this function only if SpeaksPlain returns
  /// true. Returns the errors of Listen (listener.h).
  static Result<ListeningSocket> Open(const Options& options);
  /// Listens on the TLS port. Call this function only if SpeaksTls returns true.
  static Result<ListeningSocket> OpenTls(const Options& options);
  ~ListeningSocket();
  ListeningSocket(ListeningSocket&& other) noexcept
      : fd_(std::exchange(other.fd_, -1)), port_(other.port_), v6_(other.v6_) {}
  ListeningSocket& operator=(ListeningSocket&& other) noexcept {
    std::swap(fd_, other.fd_);
    port_ = other.port_;
    v6_ = other.v6_;
    return *this;
  }

  [[nodiscard]] int fd() const { return fd_; }
  /// Returns the port on which the socket listens. If the configured port is 0, the system has
  /// selected this port.
  [[nodiscard]] uint16_t port() const { return port_; }
  [[nodiscard]] bool v6() const { return v6_; }
  /// Returns the file descriptor of the socket. The caller must close it.
  [[nodiscard]] int Release() { return std::exchange(fd_, -1); }

 private:
  static Result<ListeningSocket> Open(const Options& options, const std::string& bind,
                                      uint16_t wanted);
  ListeningSocket(int fd, uint16_t port, bool v6) : fd_(fd), port_(port), v6_(v6) {}

  int fd_;
  uint16_t port_;
  bool v6_;
};

/// The sockets that were opened before the server started, and the connections that were accepted
/// on them.
struct OpenedPorts {
  std::optional<ListeningSocket> plain, tls;
  /// Connections that were accepted on the plain port. The owner of this object must close them.
  std::vector<int> connections;
};

}  // namespace hg::http
