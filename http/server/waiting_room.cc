#include "http/server/waiting_room.h"

#include <fcntl.h>
#include <poll.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <list>
#include <memory>
#include <vector>

#include "http/request/reply.h"
#include "http/tls/tls_context.h"
#include "http/tls/tls_session.h"
#include "storage/base/survive.h"

namespace hg::http {
namespace {

/// Maximum number of connections that are read or answered at once. Further connections wait in the
/// kernel's queue, for kPatience at most. Telnet connections are not counted here, because they
/// wait until the store is open.
constexpr size_t kClientsMax = 1024;
/// Minimum number of connections that are read at once, even if the limit is lower. With fewer,
/// silent connections could block all others.
constexpr size_t kClientsMin = 16;
/// The maximum lifetime of a connection. It ends when the request is answered and the client has
/// closed the connection.
constexpr auto kPatience = std::chrono::seconds(5);
/// Maximum length of a request head (http/wire/request_head.h); further bytes are dropped.
constexpr size_t kHeadBytesMax = 12 * 1024;
/// Bytes of one read. A whole TLS record fits, because poll does not report the rest of a record
/// that was read in part.
constexpr size_t kBytesAtOnce = 16 * 1024;
constexpr auto kSweep = std::chrono::milliseconds(500);
constexpr auto kPause = std::chrono::milliseconds(10);

struct Client {
  int fd;
  std::chrono::steady_clock::time_point until;
  std::unique_ptr<TlsSession> tls;  // nullptr = plain
  std::string received = {};
  bool answered = false;
};

void Answer(Client* client, const std::string& answer) {
  // The reply fits the send buffer of a new connection.
  if (client->tls != nullptr) {
    size_t sent = 0;
    (void)client->tls->Send(answer, &sent);
    client->tls->Farewell();
  } else {
    (void)::send(client->fd, answer.data(), answer.size(), MSG_NOSIGNAL | MSG_DONTWAIT);
  }
  ::shutdown(client->fd, SHUT_WR);
  client->answered = true;
}

enum class Heard {
  kGoesOn,
  kEnded,  // the connection must be closed
  kLines,  // the client speaks telnet; none of its bytes were read
};

bool SpeaksLines(char first) { return first < 'A' || first > 'Z'; }

/// Reads into `room`. *got is the number of bytes; with kGoesOn it may be 0.
Heard Read(Client* client, char* room, size_t size, size_t* got) {
  *got = 0;
  if (client->tls != nullptr) {
    const Transfer read = client->tls->Receive(room, size, got);
    if (read == Transfer::kSome || read == Transfer::kLater) return Heard::kGoesOn;
    return Heard::kEnded;
  }
  const ssize_t read = ::recv(client->fd, room, size, MSG_DONTWAIT);
  if (read < 0) return errno == EAGAIN || errno == EINTR ? Heard::kGoesOn : Heard::kEnded;
  *got = static_cast<size_t>(read);
  return read == 0 ? Heard::kEnded : Heard::kGoesOn;
}

Heard Hear(Client* client) {
  const bool is_first = client->received.empty() && !client->answered;
  if (is_first && client->tls == nullptr) {
    char first = 0;
    const ssize_t seen = ::recv(client->fd, &first, 1, MSG_DONTWAIT | MSG_PEEK);
    if (seen == 1 && SpeaksLines(first)) return Heard::kLines;
  }
  char bytes[kBytesAtOnce];
  size_t got = 0;
  if (Read(client, bytes, sizeof(bytes), &got) == Heard::kEnded) return Heard::kEnded;
  if (got == 0) return Heard::kGoesOn;
  // A telnet client over TLS cannot wait, because some of its bytes were already read.
  if (is_first && SpeaksLines(bytes[0])) return Heard::kEnded;
  // The body is read and dropped, because closing a socket with unread bytes would lose the reply.
  if (client->answered) return Heard::kGoesOn;
  client->received.append(bytes, got);
  if (const std::string answer = WaitingRoomAnswer(client->received); !answer.empty()) {
    Answer(client, answer);
  } else if (client->received.size() > kHeadBytesMax) {
    return Heard::kEnded;
  }
  return Heard::kGoesOn;
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
    text += "\r\nContent-Length: " + std::to_string(body.size()) + "\r\nConnection: close\r\n";
    text += kNoSniff;
    text += "\r\n";
    if (!received.starts_with("HEAD ")) text += body;
    return text;
  };
  if (is("/healthz") || is("/-/healthy")) return answer("200 OK", "text/plain", "ok\n");
  constexpr std::string_view kBusy = "503 Service Unavailable\r\nRetry-After: 1";
  if (is("/readyz") || is("/-/ready"))
    return answer(kBusy, "text/plain", "starting: the store is being opened\n");
  return answer(
      kBusy, "application/json; charset=UTF-8",
      R"({"error":{"code":503,"message":"The daemon is starting: its store is being opened"}})");
}

uint64_t WaitingRoom::NotForLines(uint64_t connections_max) {
  return std::min<uint64_t>(connections_max / 4, kClientsMax);
}

WaitingRoom::WaitingRoom(const ListeningSocket& listener, uint64_t connections_max, TlsContext* tls)
    : listening_(listener.fd()),
      tls_(tls),
      clients_max_(std::max<uint64_t>(NotForLines(connections_max), kClientsMin)),
      lines_max_(connections_max - NotForLines(connections_max)),
      wake_(::eventfd(0, EFD_CLOEXEC)) {
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

void WaitingRoom::SweepLines() {
  std::vector<pollfd> polled;
  for (const int fd : lines_) polled.push_back({fd, 0, 0});
  if (::poll(polled.data(), polled.size(), 0) <= 0) return;
  lines_.clear();
  for (const pollfd& line : polled) {
    if (line.revents == 0) {
      lines_.push_back(line.fd);
    } else {
      ::close(line.fd);
    }
  }
}

struct WaitingRoom::Visit {
  std::list<Client> clients = {};
  std::vector<pollfd> polled = {};
  Clock::time_point swept = Clock::now();
};

// Runs the waiting room. If memory is exhausted, only the connection concerned is closed.
void WaitingRoom::Run() {
  Visit visit;
  for (bool goes_on = true; goes_on;) {
    if (!Survive([&] { goes_on = Listen(&visit); }).ok()) std::this_thread::sleep_for(kPause);
  }
  for (const Client& client : visit.clients) {
    const bool waits = client.tls == nullptr && client.received.empty() && !client.answered;
    if (!waits || !Survive([&] { lines_.push_back(client.fd); }).ok()) ::close(client.fd);
  }
}

bool WaitingRoom::Listen(Visit* visit) {
  std::list<Client>& clients = visit->clients;
  std::vector<pollfd>& polled = visit->polled;
  polled = {{wake_, POLLIN, 0},
            {listening_, static_cast<short>(clients.size() < clients_max_ ? POLLIN : 0), 0}};
  for (const Client& client : clients) polled.push_back({client.fd, POLLIN, 0});
  if (::poll(polled.data(), polled.size(), static_cast<int>(kSweep.count())) < 0) return true;
  if (polled[0].revents != 0) return false;
  const Clock::time_point now = Clock::now();
  if (now - visit->swept >= kSweep) {
    SweepLines();
    visit->swept = now;
  }
  size_t at = 2;
  for (auto it = clients.begin(); it != clients.end(); ++at) {
    const Heard heard = polled[at].revents == 0 ? Heard::kGoesOn : Hear(&*it);
    if (heard == Heard::kGoesOn && now < it->until) {
      ++it;
      continue;
    }
    // If too many telnet clients wait, the connection is closed, which tells the client that no
    // line was accepted.
    if (heard == Heard::kLines && lines_.size() < lines_max_) {
      lines_.push_back(it->fd);
    } else {
      ::close(it->fd);
    }
    it = clients.erase(it);
  }
  if (polled[1].revents != 0) Accept(visit, now);
  return true;
}

void WaitingRoom::Accept(Visit* visit, Clock::time_point now) {
  const int fd = ::accept4(listening_, nullptr, nullptr,
                           tls_ != nullptr ? SOCK_CLOEXEC | SOCK_NONBLOCK : SOCK_CLOEXEC);
  if (fd < 0) {
    // The process probably has no free file descriptors, so it pauses before it accepts again.
    if (errno != EAGAIN && errno != ECONNABORTED) std::this_thread::sleep_for(kPause);
    return;
  }
  const Status admitted = Survive([&]() -> Status {
    auto session = tls_ != nullptr ? tls_->NewSession(fd) : nullptr;
    if (tls_ != nullptr && session == nullptr) return Status::Busy("no session");
    visit->clients.push_back({fd, now + kPatience, std::move(session)});
    return {};
  });
  if (!admitted.ok()) ::close(fd);
}

}  // namespace hg::http
