#include "tsd/service_manager.h"

#include <doctest/doctest.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <cstddef>
#include <cstring>
#include <string>

namespace hg::tsd {
namespace {

/// Stands for the service manager: it listens on an abstract socket, as in containers.
class Listener {
 public:
  Listener() : name_("@service_manager_test." + std::to_string(getpid())) {
    socket_ = ::socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0);
    sockaddr_un address{};
    address.sun_family = AF_UNIX;
    std::memcpy(address.sun_path + 1, name_.data() + 1, name_.size() - 1);
    REQUIRE(::bind(socket_, reinterpret_cast<const sockaddr*>(&address),
                   static_cast<socklen_t>(offsetof(sockaddr_un, sun_path) + name_.size())) == 0);
  }
  ~Listener() { ::close(socket_); }

  [[nodiscard]] const std::string& name() const { return name_; }
  /// Returns the next message; "" = nothing was received.
  [[nodiscard]] std::string Next() const {
    char text[256];
    const ssize_t length = ::recv(socket_, text, sizeof(text), MSG_DONTWAIT);
    return length < 0 ? "" : std::string(text, static_cast<size_t>(length));
  }

 private:
  const std::string name_;
  int socket_ = -1;
};

TEST_CASE("the service manager is informed of each state") {
  const Listener listener;
  const ServiceManager manager(listener.name());
  manager.Say("Opening the store");
  CHECK(listener.Next() == "STATUS=Opening the store");
  manager.Ready();
  CHECK(listener.Next() == "READY=1\nSTATUS=Ready to serve");
  manager.Reloading();
  CHECK(listener.Next().starts_with("RELOADING=1\nMONOTONIC_USEC="));
  manager.Stopping();
  CHECK(listener.Next() == "STOPPING=1\nSTATUS=Stopping");
}

TEST_CASE("without a service manager, or if it is gone, nothing happens") {
  const Listener listener;
  ServiceManager("").Ready();
  ServiceManager("/no/such/socket").Ready();
  ServiceManager("/" + std::string(200, 'x')).Ready();
  CHECK(listener.Next().empty());
}

}  // namespace
}  // namespace hg::tsd
