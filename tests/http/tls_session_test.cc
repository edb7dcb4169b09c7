// One TLS session on the thread of the test.

#include "http/tls/tls_session.h"

#include <doctest/doctest.h>
#include <openssl/err.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <optional>
#include <thread>

#include "http/server/listening_socket.h"
#include "http/tls/tls_context.h"
#include "tests/http/tls_client.h"

namespace hg::http {
namespace {

TEST_CASE("errors that other code left in the thread's OpenSSL queue do not fail a session") {
  const TestFolder folder;
  const Certificate authority = MakeCertificate({.common_name = "an authority", .authority = true});
  const Certificate own = MakeCertificate({.common_name = "first"}, &authority);
  const Certificate agent =
      MakeCertificate({.common_name = "agent", .dns_names = {"a.example.org"}}, &authority);
  Options options;
  options.port = 0;
  options.tls.certificate_file = folder.Write("server.pem", own.certificate);
  options.tls.key_file = folder.Write("server.key", own.key);
  options.tls.clients = ClientCertificates::kRequired;
  options.tls.authorities_file = folder.Write("authority.pem", authority.certificate);
  TlsContext context(options.tls);
  REQUIRE(context.Load().ok());
  const auto listener = ListeningSocket::OpenTls(options);
  REQUIRE(listener.ok());
  std::optional<TlsClient> client;
  std::thread connecting([&] {
    client.emplace(listener->port(),
                   TlsClientOptions{.authority = authority.certificate, .certificate = &agent});
  });
  pollfd coming{listener->fd(), POLLIN, 0};
  REQUIRE(::poll(&coming, 1, -1) == 1);
  const int fd = ::accept4(listener->fd(), nullptr, nullptr, SOCK_CLOEXEC | SOCK_NONBLOCK);
  REQUIRE(fd >= 0);
  const auto session = context.NewSession(fd);
  REQUIRE(session != nullptr);
  const auto leave_errors = [] {
    for (int i = 0; i < 3; ++i) ERR_raise(ERR_LIB_USER, 7);
  };
  const auto wait = [fd] {
    pollfd bytes{fd, POLLIN, 0};
    REQUIRE(::poll(&bytes, 1, -1) == 1);
  };
  while (!session->Established()) {
    wait();
    leave_errors();
    REQUIRE(session->Look() == Transfer::kLater);
  }
  connecting.join();
  leave_errors();
  CHECK(session->PeerNames() == std::vector<std::string>{"agent", "a.example.org"});
  char room[64];
  size_t moved = 0;
  leave_errors();
  CHECK(session->Receive(room, sizeof room, &moved) == Transfer::kLater);
  leave_errors();
  CHECK(session->Send("hello", &moved) == Transfer::kSome);
  client->Send("answer");
  wait();
  leave_errors();
  CHECK(session->Receive(room, sizeof room, &moved) == Transfer::kSome);
  CHECK(std::string_view(room, moved) == "answer");
  leave_errors();
  CHECK(session->Look() == Transfer::kLater);
  CHECK_FALSE(session->HoldsBytes());
  session->Farewell();
  ::close(fd);
  ERR_clear_error();
}

}  // namespace
}  // namespace hg::http
