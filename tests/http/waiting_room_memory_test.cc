// Memory runs out while the waiting room is open: other clients are served, and telnet lines keep
// waiting.
#include <doctest/doctest.h>
#include <unistd.h>

#include <atomic>
#include <cstdlib>
#include <new>

#include "http/server/waiting_room.h"
#include "tests/http/client_socket.h"

namespace {
std::atomic<int> to_fail{0};       // number of allocations to fail on threads other than the test's
thread_local bool spared = false;  // true on the test's thread
}  // namespace

void* operator new(size_t size) {
  if (!spared && to_fail.load() > 0 && to_fail.fetch_sub(1) > 0) throw std::bad_alloc();
  if (void* const memory = std::malloc(size)) return memory;
  throw std::bad_alloc();
}
void operator delete(void* memory) noexcept { std::free(memory); }
void operator delete(void* memory, size_t) noexcept { std::free(memory); }

namespace hg::http {
namespace {

TEST_CASE(
    "running out of memory affects one connection and not the process, and telnet lines keep "
    "waiting") {
  spared = true;
  Options options;
  options.port = 0;
  const auto listener = ListeningSocket::Open(options);
  REQUIRE(listener.ok());
  WaitingRoom room(*listener, 100);
  ClientSocket line(listener->port());
  line.Send("put m 1 1 host=a\n");
  int answered = 0;
  for (int i = 0; i < 20; ++i) {
    to_fail = i;
    ClientSocket client(listener->port());
    client.Send("GET /healthz HTTP/1.1\r\nHost: a name that is longer than a short one\r\n\r\n");
    answered += client.ReadAll().ends_with("ok\n") ? 1 : 0;
  }
  to_fail = 0;
  CHECK(answered > 0);
  ClientSocket client(listener->port());
  client.Send("GET /healthz HTTP/1.1\r\n\r\n");
  CHECK(client.ReadAll().ends_with("ok\n"));
  const std::vector<int> lines = room.Stop();
  CHECK(lines.size() == 1);
  for (const int fd : lines) ::close(fd);
}

}  // namespace
}  // namespace hg::http
