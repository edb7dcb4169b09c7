#pragma once
// The listening socket, apart from who accepts on it: while the store opens that is the waiting
// room (waiting_room.h), then the server. Connections that come in between wait in the system's
// queue.

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "http/options.h"
#include "storage/base/status.h"

namespace hg::http {

inline bool SpeaksTls(const Options& options) { return !options.tls.certificate_file.empty(); }
/// Whether Options::port is spoken to without TLS.
inline bool SpeaksPlain(const Options& options) { return !SpeaksTls(options) || options.tls.port; }

/// Closes what it listens on at its end, unless that was released.
class ListeningSocket {
 public:
  /// Of Options::bind and port; fails as Listen does (listener.h). Only where SpeaksPlain.
  static Result<ListeningSocket> Open(const Options& options);
  /// The same of the port that speaks TLS. Only where there is one.
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
  /// The one that was asked for, or that the system chose for 0.
  [[nodiscard]] uint16_t port() const { return port_; }
  [[nodiscard]] bool v6() const { return v6_; }
  /// The caller closes it from now on.
  [[nodiscard]] int Release() { return std::exchange(fd_, -1); }

 private:
  static Result<ListeningSocket> Open(const Options& options, const std::string& bind,
                                      uint16_t wanted);
  ListeningSocket(int fd, uint16_t port, bool v6) : fd_(fd), port_(port), v6_(v6) {}

  int fd_;
  uint16_t port_;
  bool v6_;
};

/// What somebody leaves who has had the ports before the server.
struct OpenedPorts {
  std::optional<ListeningSocket> plain, tls;
  std::vector<int> connections;  // of the plain port, accepted; whoever has them closes them
};

}  // namespace hg::http
