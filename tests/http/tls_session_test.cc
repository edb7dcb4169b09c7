// One TLS session on the thread of the test.

#include "http/tls/tls_session.h"

#include <doctest/doctest.h>
#include <openssl/err.h>
#include <poll.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <unistd.h>

#include <chrono>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <thread>

#include "http/server/listening_socket.h"
#include "http/tls/tls_context.h"
#include "tests/http/tls_client.h"

namespace hg::http {
namespace {

/// A session on the thread of the test, and the client that has connected to it.
struct Pair {
  /// `before_each` runs before each call of the session.
  explicit Pair(const std::function<void()>& before_each = [] {}) {
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
    std::thread connecting([&] {
      client.emplace(listener->port(),
                     TlsClientOptions{.authority = authority.certificate, .certificate = &agent});
    });
    pollfd coming{listener->fd(), POLLIN, 0};
    REQUIRE(::poll(&coming, 1, -1) == 1);
    fd = ::accept4(listener->fd(), nullptr, nullptr, SOCK_CLOEXEC | SOCK_NONBLOCK);
    REQUIRE(fd >= 0);
    session = context.NewSession(fd);
    REQUIRE(session != nullptr);
    while (!session->Established()) {
      Wait();
      before_each();
      REQUIRE(session->Look() == Transfer::kLater);
    }
    connecting.join();
  }
  ~Pair() { ::close(fd); }
  Pair(const Pair&) = delete;
  Pair& operator=(const Pair&) = delete;

  void Wait() const {
    pollfd bytes{fd, POLLIN, 0};
    REQUIRE(::poll(&bytes, 1, -1) == 1);
  }
  /// Returns the number of bytes that the session has not read from the socket.
  [[nodiscard]] int Unread() const {
    int bytes = 0;
    REQUIRE(::ioctl(fd, FIONREAD, &bytes) == 0);
    return bytes;
  }
  void WaitForBytes(int bytes) const {
    while (Unread() < bytes) std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }

  const TestFolder folder;
  const Certificate authority = MakeCertificate({.common_name = "an authority", .authority = true});
  const Certificate own = MakeCertificate({.common_name = "first"}, &authority);
  const Certificate agent =
      MakeCertificate({.common_name = "agent", .dns_names = {"a.example.org"}}, &authority);
  std::optional<TlsClient> client;
  int fd = -1;
  std::unique_ptr<TlsSession> session;
};

TEST_CASE("errors that other code left in the thread's OpenSSL queue do not fail a session") {
  const auto leave_errors = [] {
    for (int i = 0; i < 3; ++i) ERR_raise(ERR_LIB_USER, 7);
  };
  Pair pair(leave_errors);
  TlsSession* const session = pair.session.get();
  leave_errors();
  CHECK(session->PeerNames() == std::vector<std::string>{"agent", "a.example.org"});
  char room[64];
  size_t moved = 0;
  leave_errors();
  CHECK(session->Receive(room, sizeof room, &moved) == Transfer::kLater);
  leave_errors();
  CHECK(session->Send("hello", &moved) == Transfer::kSome);
  pair.client->Send("answer");
  pair.Wait();
  leave_errors();
  CHECK(session->Receive(room, sizeof room, &moved) == Transfer::kSome);
  CHECK(std::string_view(room, moved) == "answer");
  leave_errors();
  CHECK(session->Look() == Transfer::kLater);
  CHECK_FALSE(session->HoldsBytes());
  session->Farewell();
  ERR_clear_error();
}

constexpr int kRecords = 600;
constexpr int kRecordBytesMin = 23;  // a record with one byte of data
constexpr int kUpdateBytes = 27;     // a record with an update of keys
constexpr int kRecordsAtOnce = TlsSession::kReadsAtOnce / 2;

TEST_CASE("a call receives a limited number of records, and the next calls receive the rest") {
  Pair pair;
  std::string sent(kRecords, 'x');
  for (size_t i = 0; i < sent.size(); ++i) {
    sent[i] = static_cast<char>('a' + i % 26);
    pair.client->Send({&sent[i], 1});
  }
  pair.WaitForBytes(kRecords * kRecordBytesMin);
  std::string received;
  while (received.size() < sent.size()) {
    pair.Wait();  // the socket is readable while it has unread bytes
    char room[2 * kRecords];
    size_t moved = 0;
    REQUIRE(pair.session->Receive(room, sizeof room, &moved) == Transfer::kSome);
    CHECK(moved <= kRecordsAtOnce);
    received.append(room, moved);
    REQUIRE_FALSE(pair.session->HoldsBytes());
  }
  CHECK(received == sent);
}

TEST_CASE("a session fails if its client sends hundreds of records without data in a row") {
  for (const bool look : {false, true}) {
    CAPTURE(look);
    Pair pair;
    pair.client->UpdateKeys(kRecords);
    pair.client->Send("data");
    pair.WaitForBytes(kRecords * kRecordBytesMin);
    const int before = pair.Unread();
    char room[64];
    size_t moved = 0;
    CHECK((look ? pair.session->Look() : pair.session->Receive(room, sizeof room, &moved)) ==
          Transfer::kFailed);
    CHECK(pair.session->HoldsBytes());
    // More records may have arrived after `before` was read.
    CHECK(pair.Unread() >= before - kRecordsAtOnce * kUpdateBytes);
  }
}

TEST_CASE("a client may update its keys between records with data") {
  Pair pair;
  for (int i = 0; i < kRecords; ++i) {
    pair.client->UpdateKeys(1);
    pair.client->Send("x");
  }
  for (size_t received = 0; received < kRecords;) {
    pair.Wait();
    char room[2 * kRecords];
    size_t moved = 0;
    REQUIRE(pair.session->Receive(room, sizeof room, &moved) == Transfer::kSome);
    received += moved;
  }
}

}  // namespace
}  // namespace hg::http
