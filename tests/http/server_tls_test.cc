// TLS over sockets: the same responses as without TLS, and none for clients that must not get one.

#include <doctest/doctest.h>
#include <openssl/conf.h>
#include <openssl/ssl.h>

#include <chrono>
#include <deque>
#include <filesystem>
#include <future>
#include <optional>
#include <thread>

#include "http/access/access.h"
#include "http/access/secret.h"
#include "tests/http/running_server.h"
#include "tests/http/tls_client.h"

namespace hg::http {
namespace {

/// An authority, a server certificate that it signed, and a server that uses both.
struct TlsFiles {
  TlsFiles() {
    folder.Write("server.pem", own.certificate);
    folder.Write("server.key", own.key);
    folder.Write("authority.pem", authority.certificate);
    folder.Write("revoked.pem", MakeRevocations(authority, {}));
  }

  TestFolder folder;
  Certificate authority = MakeCertificate({.common_name = "an authority", .authority = true});
  Certificate own = MakeCertificate({.common_name = "first"}, &authority);
};

struct TlsServer : TlsFiles, RunningServer {
  explicit TlsServer(ClientCertificates clients = ClientCertificates::kNone,
                     const std::function<void(Options&)>& change = {})
      : RunningServer([&](Options& options) {
          options.tls.certificate_file = folder.Path("server.pem");
          options.tls.key_file = folder.Path("server.key");
          options.tls.clients = clients;
          options.tls.authorities_file = folder.Path("authority.pem");
          if (change) change(options);
        }) {}

  [[nodiscard]] uint16_t port() const { return server.tls_port(); }
  [[nodiscard]] TlsClientOptions trusting(const Certificate* own = nullptr) const {
    return {.authority = authority.certificate, .certificate = own};
  }
};

/// While this object exists, new TLS contexts ignore the system's OpenSSL configuration, which may
/// forbid TLS versions.
class LaxSystem {
 public:
  LaxSystem() {
    OPENSSL_init_ssl(OPENSSL_INIT_LOAD_CONFIG, nullptr);
    const std::string file = folder_.Write("openssl.cnf",
                                           "openssl_conf = all\n[all]\nssl_conf = tls\n[tls]\n"
                                           "system_default = lax\n[lax]\nMinProtocol = TLSv1\n"
                                           "CipherString = DEFAULT:@SECLEVEL=0\n");
    REQUIRE(CONF_modules_load_file(file.c_str(), nullptr, 0) == 1);
    const std::unique_ptr<SSL_CTX, void (*)(SSL_CTX*)> context(SSL_CTX_new(TLS_server_method()),
                                                               SSL_CTX_free);
    REQUIRE(SSL_CTX_get_min_proto_version(context.get()) == TLS1_VERSION);
    REQUIRE(SSL_CTX_get_security_level(context.get()) == 0);
  }
  ~LaxSystem() { CONF_modules_load_file(nullptr, nullptr, CONF_MFLAGS_IGNORE_MISSING_FILE); }
  LaxSystem(const LaxSystem&) = delete;
  LaxSystem& operator=(const LaxSystem&) = delete;

 private:
  const TestFolder folder_;
};

TEST_CASE("HTTP and telnet work over TLS, on every path") {
  TlsServer edge;
  TlsClient web(edge.port(), edge.trusting());
  REQUIRE(web.established());
  CHECK(web.Version() == "TLSv1.3");
  web.Send(Post("/api/put", PointAt(1700000000)));  // the slow path
  CHECK(web.ReadResponse().status() == 204);
  web.Send(Post("/api/put", PointAt(1700000001)) + std::string(kGetVersion));  // the fast path
  CHECK(web.ReadResponse().status() == 204);
  CHECK(web.ReadResponse().status() == 200);
  TlsClient lines(edge.port(), edge.trusting());
  lines.Send("put m 1700000002 1 host=a\nversion\n");
  CHECK(lines.Read(18) == "net.opentsdb.tools");
  CHECK(edge.Cells().size() == 3);
}

TEST_CASE("large bodies and large replies go through TLS whole, for slow readers, too") {
  TlsServer edge;
  TlsClientOptions options = edge.trusting();
  options.receive_bytes = 8192;
  TlsClient client(edge.port(), options);
  constexpr int kPoints = 30'000;  // megabytes, each with an error in the reply
  client.Send(Post("/api/put?details", RefusedPoints(kPoints)));
  const auto response = client.ReadResponse();
  CHECK(response.status() == 400);
  CHECK(response.body.size() > (size_t{1} << 20));
  CHECK(response.body.starts_with("{\"success\":0,\"failed\":30000,"));
  CHECK(response.body.ends_with("]}"));
  client.Send(Post("/api/put?summary", Points(kPoints)));
  CHECK(client.ReadResponse().body == R"({"success":30000,"failed":0})");
  client.Send(kGetVersion);
  CHECK(client.ReadResponse().status() == 200);
}

TEST_CASE("an HTTP/1.0 response over TLS that its client does not read in time ends with a reset") {
  TlsServer edge(ClientCertificates::kNone, [](Options& options) { options.loop_threads = 1; });
  TlsClientOptions options = edge.trusting();
  options.receive_bytes = 4096;
  TlsClient deaf(edge.port(), options);
  const std::string body = RefusedPoints(80'000);
  deaf.Send("POST /api/put?details HTTP/1.0\r\nContent-Length: " + std::to_string(body.size()) +
            "\r\n\r\n" + body);
  CHECK(deaf.Read(12) == "HTTP/1.1 400");
  CHECK(AgeUntil(edge, 61'000, [&] { return edge.counters.exceptions_timeout.load() == 1; }));
  (void)deaf.ReadAll();
  CHECK(deaf.reset());
}

TEST_CASE("a request that arrives byte by byte over TLS is one request") {
  TlsServer edge;
  TlsClient client(edge.port(), edge.trusting());
  for (const char byte : Post("/api/put?summary", Points(50))) client.Send({&byte, 1});
  CHECK(client.ReadResponse().body == R"({"success":50,"failed":0})");
}

TEST_CASE("a client that sends a TLS close message after its request gets its response") {
  TlsServer edge;
  for (const std::string& request :
       {std::string(kGetVersion), std::string("version\n"), Post("/api/put?summary", Points(5))}) {
    TlsClient client(edge.port(), edge.trusting());
    client.Send(request);
    client.HalfClose();
    CHECK_FALSE(client.ReadAll().empty());
  }
}

TEST_CASE("unfinished handshakes hold limited memory together, and further clients wait for them") {
  // A quarter of this memory is for handshakes: enough for five.
  TlsServer edge(ClientCertificates::kNone,
                 [](Options& options) { options.request_memory_bytes_max = 4 << 20; });
  // The header of a record and of a ClientHello of 128 KiB.
  constexpr std::string_view kHello("\x16\x03\x01\x01\x00\x01\x01\xff\xff", 9);
  std::deque<ClientSocket> silent;
  for (int i = 0; i < 5; ++i) silent.emplace_back(edge.port()).Send(kHello);
  // On a busy machine, the server may read a further client before the first five. One of the five
  // then finds too little memory and tries again every 100 ms: it succeeds in a pause without
  // further clients.
  std::future<bool> late;
  auto waited = std::future_status::ready;
  for (int i = 0; i < 20 && waited == std::future_status::ready; ++i) {
    std::this_thread::sleep_for(std::chrono::milliseconds(300));
    late = std::async(std::launch::async,
                      [&] { return TlsClient(edge.port(), edge.trusting()).established(); });
    waited = late.wait_for(std::chrono::milliseconds(500));
  }
  CHECK(waited == std::future_status::timeout);
  silent.clear();
  CHECK(late.get());
}

TEST_CASE("clients without TLS, or with an old version, get no response on a TLS port") {
  const LaxSystem lax;  // the server itself refuses it
  TlsServer edge;
  ClientSocket plain(edge.port());
  plain.Send(kGetVersion);
  CHECK(plain.ReadAll().find("HTTP/1.1") == std::string::npos);
  TlsClientOptions old = edge.trusting();
  for (const int version : {TLS1_VERSION, TLS1_1_VERSION}) {
    old.version_max = version;
    CHECK_FALSE(TlsClient(edge.port(), old).established());
  }
  old.version_max = TLS1_2_VERSION;
  TlsClient good_enough(edge.port(), old);
  REQUIRE(good_enough.established());
  CHECK(good_enough.Version() == "TLSv1.2");
  good_enough.Send(kGetVersion);
  CHECK(good_enough.ReadResponse().status() == 200);
}

TEST_CASE("with a separate port, TLS and plain connections work at the same time") {
  TlsServer edge(ClientCertificates::kNone, [](Options& options) { options.tls.port = 0; });
  CHECK(edge.port() != edge.server.port());
  ClientSocket plain(edge.server.port());
  plain.Send(kGetVersion);
  CHECK(plain.ReadResponse().status() == 200);
  TlsClient client(edge.port(), edge.trusting());
  client.Send(kGetVersion);
  CHECK(client.ReadResponse().status() == 200);
}

TEST_CASE("each port checks host names if its own address is a loopback address") {
  const std::string request = "GET /api/version HTTP/1.1\r\nHost: evil.example:4242\r\n\r\n";
  for (const bool plain_is_local : {false, true}) {
    CAPTURE(plain_is_local);
    TlsServer edge(ClientCertificates::kNone, [&](Options& options) {
      options.tls.port = 0;
      options.bind = plain_is_local ? "127.0.0.1" : "0.0.0.0";
      options.tls.bind = plain_is_local ? "0.0.0.0" : "127.0.0.1";
    });
    ClientSocket plain(edge.server.port());
    plain.Send(request);
    CHECK(plain.ReadResponse().status() == (plain_is_local ? 403 : 200));
    TlsClient client(edge.port(), edge.trusting());
    client.Send(request);
    CHECK(client.ReadResponse().status() == (plain_is_local ? 200 : 403));
  }
}

TEST_CASE("if client certificates are required, clients without a valid one are refused") {
  TlsServer edge(ClientCertificates::kRequired);
  const Certificate good = MakeCertificate({.common_name = "agent"}, &edge.authority);
  TlsClient welcome(edge.port(), edge.trusting(&good));
  welcome.Send(kGetVersion);
  CHECK(welcome.ReadResponse().status() == 200);

  const Certificate other = MakeCertificate({.common_name = "other", .authority = true});
  const Certificate stranger = MakeCertificate({.common_name = "agent"}, &other);
  const Certificate expired =
      MakeCertificate({.common_name = "agent", .valid_days = -1}, &edge.authority);
  for (const Certificate* own : {static_cast<const Certificate*>(nullptr), &stranger, &expired}) {
    TlsClient refused(edge.port(), edge.trusting(own));
    refused.Send(kGetVersion);
    CHECK(refused.ReadAll().empty());
  }
}

TEST_CASE(
    "a client that needs a certificate must send it on each connection: sessions are not resumed") {
  for (const ClientCertificates clients :
       {ClientCertificates::kNone, ClientCertificates::kOptional, ClientCertificates::kRequired}) {
    TlsServer edge(clients);
    const Certificate good = MakeCertificate({.common_name = "agent"}, &edge.authority);
    for (const int version : {TLS1_2_VERSION, TLS1_3_VERSION}) {
      CAPTURE(version);
      TlsClientOptions options = edge.trusting(&good);
      options.version_max = version;
      TlsClient first(edge.port(), options);
      first.Send(kGetVersion);
      REQUIRE(first.ReadResponse().status() == 200);
      options.session = first.Session();
      TlsClient second(edge.port(), options);
      second.Send(kGetVersion);
      CHECK(second.ReadResponse().status() == 200);
      CHECK(second.Resumed() == (clients == ClientCertificates::kNone));
    }
  }
}

TEST_CASE("the name in a certificate is the user, by its common name or an alternative name") {
  TlsServer edge(ClientCertificates::kOptional);
  Access access;
  REQUIRE(access
              .Load("reader:read:\nwriter.example.org:write:\nother:admin:" +
                    *HashPassword("secret") + "\n")
              .ok());
  edge.services.access = &access;
  const std::string put = Post("/api/put", PointAt(1700000000));
  const auto status = [&edge](const Certificate* own, const std::string& request) {
    TlsClient client(edge.port(), edge.trusting(own));
    client.Send(request);
    return client.ReadResponse().status();
  };
  const Certificate reader = MakeCertificate({.common_name = "reader"}, &edge.authority);
  const Certificate writer = MakeCertificate(
      {.common_name = "host 7", .dns_names = {"x.example.org", "writer.example.org"}},
      &edge.authority);
  const Certificate unknown = MakeCertificate({.common_name = "unknown"}, &edge.authority);
  CHECK(status(nullptr, put) == 401);
  CHECK(status(&unknown, put) == 401);
  CHECK(status(&reader, put) == 403);
  CHECK(status(&reader, std::string(kGetVersion)) == 200);
  CHECK(status(&writer, put) == 204);
  // Credentials in a request take precedence ("other:secret").
  CHECK(status(&reader, Post("/api/put", PointAt(1700000001),
                             "Authorization: Basic b3RoZXI6c2VjcmV0\r\n")) == 204);
  TlsClient lines(edge.port(), edge.trusting(&writer));
  lines.Send("put m 1700000002 1 host=a\nexit\n");
  CHECK(lines.ReadAll().empty());
  CHECK(edge.Cells().size() == 3);
  edge.server.Stop();
}

TEST_CASE("a revoked certificate is refused") {
  for (const ClientCertificates clients :
       {ClientCertificates::kOptional, ClientCertificates::kRequired}) {
    TlsServer edge(clients, [](Options& options) {
      options.tls.revoked_file =
          std::filesystem::path(options.tls.authorities_file).replace_filename("revoked.pem");
    });
    const Certificate good = MakeCertificate({.common_name = "agent"}, &edge.authority);
    const Certificate taken = MakeCertificate({.common_name = "agent"}, &edge.authority);
    const auto heard = [&edge](const Certificate* own) {
      TlsClient client(edge.port(), edge.trusting(own));
      client.Send("GET /api/version HTTP/1.0\r\n\r\n");
      return !client.ReadAll().empty();
    };
    const auto reload = [&edge](const std::string& list) {
      edge.folder.Write("revoked.pem", list);
      return edge.server.ReloadTls();
    };
    CHECK(heard(&good));
    TlsClient before(edge.port(), edge.trusting(&taken));
    before.Send(kGetVersion);
    CHECK(before.ReadResponse().status() == 200);
    REQUIRE(reload(MakeRevocations(edge.authority, {&taken})).ok());
    CHECK(heard(&good));
    CHECK_FALSE(heard(&taken));
    CHECK(heard(nullptr) == (clients == ClientCertificates::kOptional));
    before.Send(kGetVersion);  // it began before the reload
    CHECK(before.ReadResponse().status() == 200);

    const Status broken = reload("no list\n");
    CHECK(broken.code() == StatusCode::kInvalidArgument);
    CHECK(broken.message().find("revoked.pem") != std::string_view::npos);
    CHECK(heard(&good));
    CHECK_FALSE(heard(&taken));
    // Certificates that were revoked after the list was created are not known.
    REQUIRE(reload(MakeRevocations(edge.authority, {}, -1)).ok());
    CHECK_FALSE(heard(&good));
    const Certificate other = MakeCertificate({.common_name = "other", .authority = true});
    REQUIRE(reload(MakeRevocations(other, {})).ok());
    CHECK_FALSE(heard(&good));
    REQUIRE(reload(MakeRevocations(other, {}) + MakeRevocations(edge.authority, {})).ok());
    CHECK(heard(&taken));
  }
}

TEST_CASE("new certificates apply to new connections, and existing connections continue") {
  TlsServer edge;
  TlsClient before(edge.port(), edge.trusting());
  CHECK(before.ServerName() == "first");
  const Certificate second = MakeCertificate({.common_name = "second"}, &edge.authority);
  edge.folder.Write("server.pem", second.certificate);
  const Status mixed = edge.server.ReloadTls();  // with the key of the first certificate
  CHECK(mixed.code() == StatusCode::kInvalidArgument);
  CHECK(mixed.message().find("server.key") != std::string_view::npos);
  CHECK(TlsClient(edge.port(), edge.trusting()).ServerName() == "first");
  edge.folder.Write("server.key", second.key);
  REQUIRE(edge.server.ReloadTls().ok());
  CHECK(TlsClient(edge.port(), edge.trusting()).ServerName() == "second");
  before.Send(kGetVersion);
  CHECK(before.ReadResponse().status() == 200);
}

TEST_CASE("the server does not start with an unreadable file, and the error names the file") {
  TlsFiles files;
  EdgeFixture edge;
  edge.options.port = 0;
  const auto start = [&](const std::string& certificate, const std::string& key,
                         const std::string& authorities) {
    TlsOptions& tls = edge.options.tls;
    tls.certificate_file = files.folder.Path(certificate);
    tls.key_file = files.folder.Path(key);
    tls.clients = ClientCertificates::kOptional;
    tls.authorities_file = files.folder.Path(authorities);
    return Server(edge.options, edge.services).Start();
  };
  CHECK(start("server.pem", "server.key", "authority.pem").ok());
  CHECK(start("none", "server.key", "authority.pem").message().find("/none") !=
        std::string_view::npos);
  CHECK(start("server.pem", "authority.pem", "authority.pem").message().find("/authority.pem") !=
        std::string_view::npos);
  CHECK(start("server.pem", "server.key", "server.key").message().find("/server.key") !=
        std::string_view::npos);
}

TEST_CASE("a client that does not complete the TLS handshake in time is disconnected") {
  TlsServer edge(ClientCertificates::kNone, [](Options& options) { options.loop_threads = 1; });
  ClientSocket silent(edge.port());
  ClientSocket slow(edge.port());
  slow.Send("\x16\x03\x01");
  CHECK(AgeUntil(edge, 11'000, [&] { return edge.counters.exceptions_timeout.load() == 2; }));
  CHECK(silent.ReadAll().empty());
  CHECK(slow.ReadAll().empty());
  TlsClient good(edge.port(), edge.trusting());
  good.Send(kGetVersion);
  CHECK(good.ReadResponse().status() == 200);
}

}  // namespace
}  // namespace hg::http
