#include "http/request/reply.h"

#include <doctest/doctest.h>

#include <atomic>
#include <string>
#include <thread>
#include <vector>

namespace hg::http {
namespace {

TEST_CASE("a large body that a handler writes at once is sent in pieces") {
  std::vector<std::string> pieces;
  ReplyHooks hooks;
  hooks.send = [&](std::string piece) {
    pieces.push_back(std::move(piece));
    return true;
  };
  ReplyForm form;
  form.chunks = false;  // HTTP/1.0: the body ends with the connection
  Reply reply(form, hooks);
  std::string body;
  for (int i = 0; body.size() < 5'000'000; ++i) body += std::to_string(i) + ",";
  CHECK(reply.Write(body));
  CHECK(pieces.size() > 10);
  (void)reply.Finish();
  std::string sent;
  for (const std::string& piece : pieces) {
    CHECK(piece.size() < 300'000);
    sent += piece;
  }
  CHECK(sent.substr(sent.find("\r\n\r\n") + 4) == body);
}

/// Returns hooks that append the bytes of the reply to *sent.
ReplyHooks Into(std::string* sent) {
  ReplyHooks hooks;
  hooks.send = [sent](const std::string& piece) {
    sent->append(piece);
    return true;
  };
  return hooks;
}

TEST_CASE("a large body is chunked although the connection closes, and a cut body has no end") {
  for (const bool cut : {false, true}) {
    CAPTURE(cut);
    std::string sent;
    ReplyForm form;
    form.keep_alive = false;
    Reply reply(form, Into(&sent));
    CHECK(reply.Write(std::string(300'000, 'x')));
    CHECK(sent.find("\r\nTransfer-Encoding: chunked\r\n") != std::string::npos);
    if (cut) reply.Cut();
    CHECK(reply.Write("y") == !cut);
    CHECK_FALSE(reply.Finish());
    CHECK(sent.ends_with("y\r\n0\r\n\r\n") == !cut);
  }
}

TEST_CASE("caches learn on which request headers a response depends") {
  for (const ContentCoding coding : {ContentCoding::kNone, ContentCoding::kGzip}) {
    for (const bool cached : {false, true}) {
      std::string sent;
      ReplyForm form;
      form.coding = coding;
      Reply reply(form, Into(&sent));
      if (cached) reply.AddHeader("Cache-Control", "max-age=60");
      reply.Write("x");
      reply.Finish();
      CHECK((sent.find("\r\nVary: Accept-Encoding, Origin\r\n") != std::string::npos) == cached);
    }
  }
}

TEST_CASE("an error that replaces a body is not cached") {
  std::string sent;
  Reply reply(ReplyForm(), Into(&sent));
  reply.AddHeader("Age", "0");
  reply.AddHeader("Allow", "GET");
  reply.AddHeader("Cache-Control", "max-age=86400");
  reply.Write("plot");
  reply.Reset();
  reply.SetStatus(503);
  reply.Write("error");
  reply.Finish();
  CHECK(sent.find("Cache-Control") == std::string::npos);
  CHECK(sent.find("Age") == std::string::npos);
  CHECK(sent.find("Allow: GET\r\n") != std::string::npos);
}

TEST_CASE("a handler learns in the middle of a large body that the client has left") {
  int sent = 0;
  ReplyHooks hooks;
  hooks.send = [&](const std::string&) { return ++sent < 3; };
  Reply reply(ReplyForm(), hooks);
  CHECK_FALSE(reply.Write(std::string(5'000'000, 'x')));
  CHECK(sent == 3);
  CHECK_FALSE(reply.Write("y"));
}

// A queue in which the client takes pieces only when the test calls Take.
struct UnreadReply {
  explicit UnreadReply(uint64_t bytes_max) : memory(bytes_max), queue([] {}, memory) {}
  bool Take() { return queue.Take(&piece); }

  RequestMemory memory;
  ReplyQueue queue;
  std::string piece;
};

constexpr size_t kPiece = 256 * 1024;

TEST_CASE("bytes that a client does not take are charged until they are sent") {
  UnreadReply reply(8 << 20);
  const auto never = [] { return false; };
  REQUIRE(reply.queue.Push(std::string(kPiece, 'x'), never));
  REQUIRE(reply.queue.Push(std::string(kPiece, 'x'), never));
  CHECK(reply.queue.End(true, never));
  CHECK(reply.memory.taken() > 2 * kPiece - 64 * 1024);
  CHECK(reply.Take());
  CHECK(reply.Take());
  CHECK(reply.memory.taken() > 0);  // the event loop is still sending the last piece
  CHECK_FALSE(reply.Take());
  CHECK(reply.memory.taken() == 0);
}

TEST_CASE("without memory for unread replies, a handler waits until the client has taken its own") {
  UnreadReply reply(kPiece);
  std::atomic<int> waits{0}, pushed{0};
  const auto patient = [&] {
    waits.fetch_add(1);
    return true;
  };
  std::thread handler([&] {
    for (; pushed.load() < 3; pushed.fetch_add(1))
      CHECK(reply.queue.Push(std::string(kPiece, 'x'), patient));
    CHECK(reply.queue.End(true, patient));
    pushed.fetch_add(1);
  });
  for (int sent = 0; sent < 3; ++sent) {
    while (waits.load() == sent) std::this_thread::yield();
    CHECK(pushed.load() == sent + 1);
    CHECK(reply.Take());
    CHECK_FALSE(reply.Take());  // the piece was sent
  }
  handler.join();
  CHECK(pushed.load() == 4);
  bool keep_alive = false;
  CHECK(reply.queue.Finished(&keep_alive));
  CHECK(keep_alive);
}

TEST_CASE("a handler that occupies a thread of others does not wait long for its client") {
  UnreadReply reply(kPiece);
  const auto never = [] { return false; };
  REQUIRE(reply.queue.Push(std::string(kPiece, 'x'), never));
  CHECK_FALSE(reply.queue.Push("y", never));
  CHECK(reply.queue.cancelled());
  CHECK_FALSE(reply.queue.End(true, never));

  UnreadReply last(kPiece);
  REQUIRE(last.queue.Push(std::string(kPiece, 'x'), never));
  CHECK_FALSE(last.queue.End(true, never));
}

}  // namespace
}  // namespace hg::http
