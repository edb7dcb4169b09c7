// The waiting room of the TLS port, alone and together with the plain port.

#include <doctest/doctest.h>

#include <deque>
#include <filesystem>
#include <iterator>

#include "http/server/waiting_ports.h"
#include "http/server/waiting_room.h"
#include "http/tls/tls_context.h"
#include "tests/http/running_server.h"
#include "tests/http/tls_client.h"

namespace hg::http {
namespace {

size_t OpenDescriptors() {
  const std::filesystem::directory_iterator all("/proc/self/fd"), end;
  return static_cast<size_t>(std::distance(all, end));
}

TEST_CASE(
    "over TLS health checks are answered until the server starts, and telnet connections are "
    "closed") {
  const TestFolder folder;
  const Certificate authority = MakeCertificate({.common_name = "an authority", .authority = true});
  const Certificate own = MakeCertificate({.common_name = "first"}, &authority);
  EdgeFixture edge;
  edge.options.port = 0;
  edge.options.tls.certificate_file = folder.Write("server.pem", own.certificate);
  edge.options.tls.key_file = folder.Write("server.key", own.key);
  edge.options.tls.clients = ClientCertificates::kRequired;
  edge.options.tls.authorities_file = folder.Write("authority.pem", authority.certificate);
  TlsContext context(edge.options.tls);
  REQUIRE(context.Load().ok());
  auto listener = ListeningSocket::OpenTls(edge.options);
  REQUIRE(listener.ok());
  const uint16_t port = listener->port();
  WaitingRoom room(*listener, 100, &context);
  const Certificate agent = MakeCertificate({.common_name = "agent"}, &authority);
  const auto said = [&](const std::string& text, const Certificate* certificate) {
    TlsClient client(port, {.authority = authority.certificate, .certificate = certificate});
    client.Send(text);
    return client.ReadAll();
  };
  CHECK(said("GET /healthz HTTP/1.1\r\n\r\n", &agent).ends_with("\r\n\r\nok\n"));
  const std::string large =
      "POST /api/put HTTP/1.1\r\nContent-Length: 100000\r\nX: " + std::string(9'000, 'x') +
      "\r\n\r\n" + std::string(100'000, '[');
  for (const std::string& request : {std::string(kGetVersion), large})
    CHECK(said(request, &agent)
              .starts_with("HTTP/1.1 503 Service Unavailable\r\nRetry-After: 1\r\n"));
  CHECK(said("put m 1700000000 1 a=b\n", &agent).empty());
  // A client without a certificate gets nothing.
  CHECK(said(std::string(kGetVersion), nullptr).empty());
  ClientSocket plain(port);
  plain.Send(kGetVersion);
  CHECK(plain.ReadAll().find("HTTP/1.1 ") == std::string::npos);
  CHECK(room.Stop().empty());

  Server server(edge.options, edge.services);
  REQUIRE(server.Start({.plain = {}, .tls = std::move(*listener), .connections = {}}).ok());
  CHECK(server.tls_port() == port);
  TlsClient client(port, {.authority = authority.certificate, .certificate = &agent});
  client.Send(kGetVersion);
  CHECK(client.ReadResponse().status() == 200);
  server.Stop();
}

TEST_CASE("while the store opens, both ports together hold at most the connections of the server") {
  const TestFolder folder;
  const Certificate authority = MakeCertificate({.common_name = "an authority", .authority = true});
  const Certificate own = MakeCertificate({.common_name = "first"}, &authority);
  Options options;
  options.port = 0;
  options.tls.port = 0;
  options.tls.certificate_file = folder.Write("server.pem", own.certificate);
  options.tls.key_file = folder.Write("server.key", own.key);
  constexpr size_t kMax = 128;
  WaitingPorts waiting(options);
  REQUIRE(waiting.Open(options, kMax).ok());
  const uint16_t plain = waiting.ports().plain->port(), tls = waiting.ports().tls->port();
  const size_t before = OpenDescriptors();
  // Once a later request is answered, the earlier connections were examined.
  const auto answered = [](ClientSocket&& client) {
    client.Send("GET /healthz HTTP/1.1\r\n\r\n");
    return client.ReadAll().ends_with("ok\n");
  };
  std::deque<ClientSocket> clients;
  for (size_t i = 0; i < kMax; ++i) clients.emplace_back(plain).Send("put m 1700000000 1 a=b\n");
  CHECK(answered(ClientSocket(plain)));
  // Silent connections, and one free place at each port.
  for (int i = 0; i < 23; ++i) clients.emplace_back(plain);
  CHECK(answered(ClientSocket(plain)));
  for (int i = 0; i < 31; ++i) clients.emplace_back(tls);
  CHECK(answered(TlsClient(tls, {.authority = authority.certificate})));
  CHECK(OpenDescriptors() - before - clients.size() <= kMax);
}

}  // namespace
}  // namespace hg::http
