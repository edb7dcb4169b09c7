#include "http/waiting_room.h"

#include <fcntl.h>
#include <poll.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <list>
#include <vector>

namespace hg::http {
namespace {

using Clock = std::chrono::steady_clock;

/// Others wait in the system's queue; so do, here, those that speak lines.
constexpr size_t kClientsMax = 1024;
/// From the first byte to the last, the client's own closing included.
constexpr auto kPatience = std::chrono::seconds(5);
/// A head is not longer (http/wire/request_head.h); what follows it is read and dropped.
constexpr size_t kHeadBytesMax = 12 * 1024;
constexpr int kSweepMs = 500;
constexpr auto kAcceptPause = std::chrono::milliseconds(10);

struct Client {
  int fd;
  Clock::time_point until;
  std::string received = {};
  bool answered = false;
  bool waits = false;  // speaks lines: nothing of them was read
};

void Answer(Client* client, const std::string& answer) {
  // A new connection's buffer takes so little at once.
  (void)::send(client->fd, answer.data(), answer.size(), MSG_NOSIGNAL | MSG_DONTWAIT);
  ::shutdown(client->fd, SHUT_WR);
  client->answered = true;
}

/// False: nothing more is to be said or heard.
bool Listen(Client* client) {
  if (client->received.empty() && !client->answered) {
    char first = 0;
    const ssize_t seen = ::recv(client->fd, &first, 1, MSG_DONTWAIT | MSG_PEEK);
    client->waits = seen == 1 && (first < 'A' || first > 'Z');
    if (client->waits) return true;
  }
  char bytes[4096];
  const ssize_t got = ::recv(client->fd, bytes, sizeof(bytes), MSG_DONTWAIT);
  if (got < 0) return errno == EAGAIN || errno == EINTR;
  if (got == 0) return false;
  if (client->answered) return true;  // the body: a close with unread bytes would take the answer
  client->received.append(bytes, static_cast<size_t>(got));
  if (client->received.size() > kHeadBytesMax) return false;
  if (const std::string answer = WaitingRoomAnswer(client->received); !answer.empty())
    Answer(client, answer);
  return true;
}

}  // namespace

std::string WaitingRoomAnswer(std::string_view received) {
  if (received.find("\r\n\r\n") == std::string_view::npos) return {};
  const auto is = [received](std::string_view path) {
    for (const std::string_view verb : {"GET ", "HEAD "}) {
      if (!received.starts_with(verb)) continue;
      const std::string_view target = received.substr(verb.size());
      if (!target.starts_with(path)) return false;
      const char next = target[path.size()];
      return next == ' ' || next == '?';
    }
    return false;
  };
  const auto answer = [received](std::string_view status, std::string_view type,
                                 std::string_view body) {
    std::string text = "HTTP/1.1 ";
    text.append(status).append("\r\nContent-Type: ").append(type);
    text += "\r\nContent-Length: " + std::to_string(body.size()) + "\r\nConnection: close\r\n\r\n";
    if (!received.starts_with("HEAD ")) text += body;
    return text;
  };
  if (is("/healthz")) return answer("200 OK", "text/plain", "ok\n");
  constexpr std::string_view kBusy = "503 Service Unavailable\r\nRetry-After: 1";
  if (is("/readyz")) return answer(kBusy, "text/plain", "starting: the store is opened\n");
  return answer(
      kBusy, "application/json; charset=UTF-8",
      R"({"error":{"code":503,"message":"The daemon is starting: its store is opened"}})");
}

WaitingRoom::WaitingRoom(const ListeningSocket& listener)
    : listening_(listener.fd()), wake_(::eventfd(0, EFD_CLOEXEC)) {
  ::fcntl(listening_, F_SETFL, ::fcntl(listening_, F_GETFL) | O_NONBLOCK);
  thread_ = std::thread([this] { Run(); });
}

WaitingRoom::~WaitingRoom() {
  for (const int fd : Stop()) ::close(fd);
}

std::vector<int> WaitingRoom::Stop() {
  if (!thread_.joinable()) return {};
  (void)::eventfd_write(wake_, 1);
  thread_.join();
  ::close(wake_);
  return std::move(lines_);
}

void WaitingRoom::Run() {
  std::list<Client> clients;
  std::vector<pollfd> polled;
  while (true) {
    polled = {{wake_, POLLIN, 0},
              {listening_, static_cast<short>(clients.size() < kClientsMax ? POLLIN : 0), 0}};
    for (const Client& client : clients)
      polled.push_back({client.fd, static_cast<short>(client.waits ? 0 : POLLIN), 0});
    if (::poll(polled.data(), polled.size(), kSweepMs) < 0) continue;
    if (polled[0].revents != 0) break;
    const Clock::time_point now = Clock::now();
    size_t at = 2;
    for (auto it = clients.begin(); it != clients.end(); ++at) {
      const bool stays =
          it->waits ? polled[at].revents == 0
                    : (polled[at].revents == 0 || Listen(&*it)) && (it->waits || now < it->until);
      if (!stays) ::close(it->fd);
      it = stays ? std::next(it) : clients.erase(it);
    }
    if (polled[1].revents == 0) continue;
    const int fd = ::accept4(listening_, nullptr, nullptr, SOCK_CLOEXEC);
    if (fd >= 0) {
      clients.push_back({fd, now + kPatience});
    } else if (errno != EAGAIN && errno != ECONNABORTED) {
      std::this_thread::sleep_for(kAcceptPause);  // out of descriptors, most likely
    }
  }
  for (const Client& client : clients) {
    const bool unread = client.received.empty() && !client.answered;
    if (client.waits || unread) {
      lines_.push_back(client.fd);
    } else {
      ::close(client.fd);
    }
  }
}

}  // namespace hg::http
