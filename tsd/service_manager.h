#pragma once
// Reports the state of the process to systemd by means of datagrams to the socket in NOTIFY_SOCKET
// (sd_notify(3); the unit has Type=notify). The code uses no library, because the protocol is very
// short.

#include <string>
#include <string_view>

namespace hg::tsd {

/// Sends messages to the service manager. The object is thread-safe. A message that cannot be sent
/// is lost, and no function waits for it.
class ServiceManager {
 public:
  /// `socket` is the path of the socket; if the socket is abstract, "@" stands in front of the
  /// path. If `socket` is "", the object sends no messages.
  explicit ServiceManager(std::string socket) : socket_(std::move(socket)) {}
  /// Returns an object for the service manager that started this process. If no service manager
  /// did, the returned object sends no messages.
  static ServiceManager FromEnvironment();

  /// Sends a line of text for users, which `systemctl status` shows.
  void Say(std::string_view status) const;
  void Ready() const;
  /// Reports that the process is reloading its configuration. Call Ready when the reload has ended.
  void Reloading() const;
  void Stopping() const;

 private:
  void Send(const std::string& text) const;

  const std::string socket_;
};

}  // namespace hg::tsd
