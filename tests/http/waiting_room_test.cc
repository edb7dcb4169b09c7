#include "http/server/waiting_room.h"

#include <doctest/doctest.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <deque>
#include <thread>

#include "tests/http/running_server.h"

namespace hg::http {
namespace {

ListeningSocket AnySocket() {
  Options options;
  options.port = 0;
  auto listener = ListeningSocket::Open(options);
  REQUIRE(listener.ok());
  return std::move(*listener);
}

std::string AnswerTo(uint16_t port, std::string_view request) {
  ClientSocket client(port);
  client.Send(request);
  return client.ReadAll();
}

class LineSocket : public ClientSocket {
 public:
  using ClientSocket::ClientSocket;
  void BreakOff() {
    const linger at_once{1, 0};
    ::setsockopt(fd(), SOL_SOCKET, SO_LINGER, &at_once, sizeof at_once);
    Close();
  }
  [[nodiscard]] bool IsOpen() const {
    char byte = 0;
    return ::recv(fd(), &byte, 1, MSG_DONTWAIT) < 0 && errno == EAGAIN;
  }
};

TEST_CASE(
    "while the store opens, /healthz and /-/healthy are 200, and /readyz and /-/ready are 503") {
  const ListeningSocket listener = AnySocket();
  WaitingRoom room(listener, 100);
  const uint16_t port = listener.port();
  CHECK(AnswerTo(port, "GET /healthz HTTP/1.1\r\n\r\n").ends_with("\r\n\r\nok\n"));
  CHECK(AnswerTo(port, "GET /-/healthy HTTP/1.1\r\n\r\n").ends_with("\r\n\r\nok\n"));
  CHECK(AnswerTo(port, "GET /healthz?x HTTP/1.1\r\n\r\n").starts_with("HTTP/1.1 200 OK\r\n"));
  const std::string head = AnswerTo(port, "HEAD /healthz HTTP/1.1\r\n\r\n");
  CHECK(head.starts_with("HTTP/1.1 200 OK\r\n"));
  CHECK(head.ends_with("\r\n\r\n"));
  CHECK(head.find("X-Content-Type-Options: nosniff\r\n") != std::string::npos);
  for (const char* request :
       {"GET /readyz HTTP/1.1\r\n\r\n", "GET /-/ready HTTP/1.1\r\n\r\n",
        "GET /healthzz HTTP/1.1\r\n\r\n", "POST /healthz HTTP/1.1\r\nContent-Length: 0\r\n\r\n",
        "GET /api/version HTTP/1.0\r\n\r\n",
        "POST /api/put HTTP/1.1\r\nContent-Length: 2\r\n\r\n[]"}) {
    CAPTURE(request);
    const std::string answer = AnswerTo(port, request);
    CHECK(answer.starts_with("HTTP/1.1 503 Service Unavailable\r\nRetry-After: 1\r\n"));
  }
}

TEST_CASE("slow clients do not delay others") {
  const ListeningSocket listener = AnySocket();
  WaitingRoom room(listener, 100);
  std::string response;
  // The waiting room closes a connection without a complete request after 5 s.
  for (int tries = 0; tries < 10 && response.empty(); ++tries) {
    ClientSocket slow(listener.port());
    slow.Send("GET /rea");
    CHECK(AnswerTo(listener.port(), "GET /readyz HTTP/1.1\r\n\r\n").ends_with("is being opened\n"));
    slow.Send("dyz HTTP/1.1\r\n\r\n");
    response = slow.ReadAll();
  }
  CHECK(response.starts_with("HTTP/1.1 503 "));
}

TEST_CASE("telnet lines wait until the server can store them") {
  ListeningSocket listener = AnySocket();
  const uint16_t port = listener.port();
  WaitingRoom room(listener, 100);
  ClientSocket lines(port);
  lines.Send("put m 1700000000 1 a=b\nversion\n");
  // Once a later request is answered, the first connection was examined.
  CHECK(AnswerTo(port, kGetVersion).starts_with("HTTP/1.1 503 "));
  const std::vector<int> waiting = room.Stop();
  REQUIRE(waiting.size() == 1);
  CHECK(room.Stop().empty());

  EdgeFixture edge;
  Server server(edge.options, edge.services);
  REQUIRE(server.Start({.plain = std::move(listener), .tls = {}, .connections = waiting}).ok());
  CHECK(lines.Read(1).size() == 1);  // "version" is answered after the point
  CHECK(edge.Cells().size() == 1);
  server.Stop();
}

TEST_CASE("too many telnet connections do not block health checks") {
  const ListeningSocket listener = AnySocket();
  WaitingRoom room(listener, 8);
  std::deque<ClientSocket> lines;
  for (int i = 0; i < 40; ++i) lines.emplace_back(listener.port()).Send("put m 1700000000 1 a=b\n");
  CHECK(AnswerTo(listener.port(), "GET /healthz HTTP/1.1\r\n\r\n").ends_with("\r\n\r\nok\n"));
  // The connections that came last are closed, so their clients know that no line was taken.
  for (size_t i = 6; i < lines.size(); ++i) CHECK(lines[i].ReadAll().empty());
  const std::vector<int> waiting = room.Stop();
  CHECK(waiting.size() == 6);
  for (const int fd : waiting) ::close(fd);
}

TEST_CASE("a closed telnet connection makes its place available to another one") {
  const ListeningSocket listener = AnySocket();
  WaitingRoom room(listener, 1);
  const auto waits = [&listener](LineSocket* lines) {
    lines->Send("put m 1700000000 1 a=b\n");
    CHECK(AnswerTo(listener.port(), kGetVersion).starts_with("HTTP/1.1 503 "));
    return lines->IsOpen();
  };
  LineSocket first(listener.port());
  REQUIRE(waits(&first));
  LineSocket second(listener.port());
  CHECK_FALSE(waits(&second));
  first.BreakOff();
  bool found_room = false;
  for (int tries = 0; tries < 6000 && !found_room; ++tries) {  // it is seen soon, but not at once
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
    LineSocket next(listener.port());
    found_room = waits(&next);
    next.BreakOff();
  }
  CHECK(found_room);
}

TEST_CASE("clients that connect while the waiting room closes are served by the server") {
  ListeningSocket listener = AnySocket();
  const uint16_t port = listener.port();
  WaitingRoom room(listener, 100);
  CHECK(AnswerTo(port, kGetVersion).starts_with("HTTP/1.1 503 "));
  CHECK(room.Stop().empty());
  ClientSocket between(port);
  between.Send(kGetVersion);

  EdgeFixture edge;
  Server server(edge.options, edge.services);
  REQUIRE(server.Start({.plain = std::move(listener), .tls = {}, .connections = {}}).ok());
  CHECK(server.port() == port);
  CHECK(between.ReadResponse().status() == 200);
  server.Stop();
}

TEST_CASE("an invalid address is named in the error") {
  Options options;
  options.bind = "no such host.invalid";
  CHECK(ListeningSocket::Open(options).status().code() == StatusCode::kInvalidArgument);
  const ListeningSocket taken = AnySocket();
  options.bind = "127.0.0.1";
  options.port = taken.port();
  const Status refused = ListeningSocket::Open(options).status();
  CHECK(refused.code() == StatusCode::kIoError);
  CHECK(refused.message().find("127.0.0.1:" + std::to_string(taken.port())) !=
        std::string_view::npos);
}

}  // namespace
}  // namespace hg::http
