#pragma once
// Telling systemd how the process is: datagrams to the socket that it names in NOTIFY_SOCKET
// (sd_notify(3); the unit has Type=notify). Five lines of protocol, so no library.

#include <string>
#include <string_view>

namespace hg::tsd {

/// Thread-safe. What cannot be sent is lost, and nothing waits for it.
class ServiceManager {
 public:
  /// The path of its socket, "@" in front if it is abstract; "" = nobody is told anything.
  explicit ServiceManager(std::string socket) : socket_(std::move(socket)) {}
  /// The one that started this process, if any.
  static ServiceManager FromEnvironment();

  /// One line for people: `systemctl status` shows it.
  void Say(std::string_view status) const;
  void Ready() const;
  /// Until the next Ready.
  void Reloading() const;
  void Stopping() const;

 private:
  void Send(const std::string& text) const;

  const std::string socket_;
};

}  // namespace hg::tsd
