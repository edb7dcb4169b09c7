#include "tsd/service_manager.h"

#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <cstddef>
#include <cstdlib>
#include <cstring>
#include <ctime>

namespace hg::tsd {

ServiceManager ServiceManager::FromEnvironment() {
  const char* socket = std::getenv("NOTIFY_SOCKET");
  return ServiceManager(socket != nullptr ? socket : "");
}

void ServiceManager::Say(std::string_view status) const { Send("STATUS=" + std::string(status)); }

void ServiceManager::Ready() const { Send("READY=1\nSTATUS=Ready to serve"); }

void ServiceManager::Reloading() const {
  timespec now{};
  clock_gettime(CLOCK_MONOTONIC, &now);
  Send("RELOADING=1\nMONOTONIC_USEC=" +
       std::to_string(now.tv_sec * 1'000'000 + now.tv_nsec / 1000));
}

void ServiceManager::Stopping() const { Send("STOPPING=1\nSTATUS=Stopping"); }

void ServiceManager::Send(const std::string& text) const {
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  if (socket_.empty() || socket_.size() >= sizeof(address.sun_path)) return;
  std::memcpy(address.sun_path, socket_.data(), socket_.size());
  if (socket_[0] == '@') address.sun_path[0] = '\0';
  const int out = ::socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0);
  if (out < 0) return;
  (void)::sendto(out, text.data(), text.size(), MSG_NOSIGNAL | MSG_DONTWAIT,
                 reinterpret_cast<const sockaddr*>(&address),
                 static_cast<socklen_t>(offsetof(sockaddr_un, sun_path) + socket_.size()));
  ::close(out);
}

}  // namespace hg::tsd
