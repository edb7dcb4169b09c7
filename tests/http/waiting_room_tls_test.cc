// The waiting room of the port that speaks TLS.

#include <doctest/doctest.h>

#include "http/tls/tls_context.h"
#include "http/waiting_room.h"
#include "tests/http/running_server.h"
#include "tests/http/tls_client.h"

namespace hg::http {
namespace {

TEST_CASE("over TLS the process answers the same way until the server does, and closes lines") {
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
  CHECK(said(std::string(kGetVersion), nullptr).empty());  // nobody without a certificate
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

}  // namespace
}  // namespace hg::http
