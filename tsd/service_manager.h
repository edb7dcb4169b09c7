#pragma once
// Reports the state of the process to systemd by datagrams to the socket in NOTIFY_SOCKET
// (sd_notify(3); the unit has Type=notify). No library is used, because the protocol is very short.

#include <string>
#include <string_view>

namespace hg::tsd {

/// Thread-safe. A message that cannot be sent is lost, and no function waits for it.
class ServiceManager {
 public:
  /// `socket` is the path of the socket, with "@" in front if the socket is abstract. "" = no
  /// messages are sent.
  explicit ServiceManager(std::string socket) : socket_(std::move(socket)) {}
  /// Returns the service manager that started this process. If there is none, the returned object
  /// ignores messages.
  static ServiceManager FromEnvironment();

  /// Sends one line for users, which `systemctl status` shows.
  void Say(std::string_view status) const;
  void Ready() const;
  /// Reports that the process is reloading its configuration. Ready reports the end of the reload.
  void Reloading() const;
  void Stopping() const;

 private:
  void Send(const std::string& text) const;

  const std::string socket_;
};

}  // namespace hg::tsd
