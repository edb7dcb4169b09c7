#pragma once
// Reports the state of the process to systemd by datagrams to the socket in NOTIFY_SOCKET
// (sd_notify(3); the unit has Type=notify). No library is used, because the protocol is very short.

#include <string>
#include <string_view>

namespace hg::tsd {

/// Thread-safe. Messages that cannot be sent are lost, and nothing waits for them.
class ServiceManager {
 public:
  /// `socket` is the path of the socket, with "@" in front if it is abstract. "" = no messages are
  /// sent.
  explicit ServiceManager(std::string socket) : socket_(std::move(socket)) {}
  /// Returns the service manager that started this process. If there is none, messages to the
  /// returned object are ignored.
  static ServiceManager FromEnvironment();

  /// Sends one line for users, which `systemctl status` shows.
  void Say(std::string_view status) const;
  void Ready() const;
  /// Reports that the process reloads its configuration, until the next call of Ready.
  void Reloading() const;
  void Stopping() const;

 private:
  void Send(const std::string& text) const;

  const std::string socket_;
};

}  // namespace hg::tsd
