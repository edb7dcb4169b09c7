#include "http/wire/request_head.h"

#include <doctest/doctest.h>

#include <string>

namespace hg::http {
namespace {

HeadResult Parse(std::string_view bytes, RequestHead* head, size_t* consumed) {
  size_t scanned = 0;
  return ParseRequestHead(bytes, &scanned, head, consumed);
}

RequestHead Good(std::string_view bytes) {
  RequestHead head;
  size_t consumed = 0;
  REQUIRE(Parse(bytes, &head, &consumed) == HeadResult::kDone);
  CHECK(consumed == bytes.size());
  return head;
}

HeadResult Outcome(std::string_view bytes) {
  RequestHead head;
  size_t consumed = 0;
  return Parse(bytes, &head, &consumed);
}

}  // namespace

TEST_CASE("a head is taken apart and what follows is left") {
  RequestHead head;
  size_t consumed = 0;
  const std::string bytes =
      "POST /api/put?details HTTP/1.1\r\nHost: x\r\nContent-Length: 3\r\nX-Y:  z \r\n\r\nabc";
  REQUIRE(Parse(bytes, &head, &consumed) == HeadResult::kDone);
  CHECK(bytes.substr(consumed) == "abc");
  CHECK(head.method == "POST");
  CHECK(head.target == "/api/put?details");
  CHECK(head.content_length == 3);
  CHECK(head.Find("x-y") == "z");
  CHECK(head.Find("absent").empty());
  CHECK(head.keep_alive);
}

TEST_CASE("a head that comes byte by byte is found once it is whole") {
  const std::string bytes = "GET / HTTP/1.1\r\nA: b\r\n\r\n";
  size_t scanned = 0, consumed = 0;
  RequestHead head;
  for (size_t size = 1; size < bytes.size(); ++size) {
    CHECK(ParseRequestHead({bytes.data(), size}, &scanned, &head, &consumed) ==
          HeadResult::kIncomplete);
  }
  CHECK(ParseRequestHead(bytes, &scanned, &head, &consumed) == HeadResult::kDone);
}

TEST_CASE("bare line feeds and no Host are accepted") {
  const RequestHead head = Good("GET /version HTTP/1.1\nAccept-Encoding: gzip\n\n");
  CHECK(head.target == "/version");
  CHECK(head.accepted == ContentCoding::kGzip);
}

TEST_CASE("characters that clients do not escape are accepted in the target") {
  CHECK(Good("GET /api/query?m=sum:a{b=c|d}\"<> HTTP/1.1\r\n\r\n").target ==
        "/api/query?m=sum:a{b=c|d}\"<>");
}

TEST_CASE("who keeps the connection open") {
  CHECK(Good("GET / HTTP/1.1\r\n\r\n").keep_alive);
  CHECK_FALSE(Good("GET / HTTP/1.1\r\nConnection: close\r\n\r\n").keep_alive);
  CHECK_FALSE(Good("GET / HTTP/1.0\r\n\r\n").keep_alive);
  CHECK(Good("GET / HTTP/1.0\r\nConnection: Keep-Alive\r\n\r\n").keep_alive);
}

TEST_CASE("codings and expectations are noticed") {
  CHECK(Good("POST / HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n").chunked);
  CHECK(Good("POST / HTTP/1.1\r\nExpect: 100-continue\r\nContent-Length: 1\r\n\r\n")
            .expects_continue);
  CHECK(Good("POST / HTTP/1.1\r\nContent-Encoding: GZIP\r\n\r\n").coding == ContentCoding::kGzip);
  CHECK(Good("POST / HTTP/1.1\r\nContent-Encoding: snappy\r\n\r\n").coding == ContentCoding::kNone);
}

TEST_CASE("a reply is coded the way that the client likes best, gzip on a tie") {
  const auto accepted = [](const std::string& value) {
    return Good("GET / HTTP/1.1\r\nAccept-Encoding: " + value + "\r\n\r\n").accepted;
  };
  CHECK(accepted("deflate, gzip") == ContentCoding::kGzip);
  CHECK(accepted("gzip;q=0.5, deflate;q=0.8") == ContentCoding::kDeflate);
  CHECK(accepted("gzip;q=0, *") == ContentCoding::kDeflate);
  CHECK(accepted("deflate;q=0.1, *") == ContentCoding::kDeflate);
  CHECK(accepted("*") == ContentCoding::kGzip);
  CHECK(accepted("*;q=0") == ContentCoding::kNone);
  CHECK(accepted("gzip;q=0, deflate;q=0, *") == ContentCoding::kNone);
  CHECK(accepted("identity") == ContentCoding::kNone);
}

TEST_CASE("a request line of 4096 bytes passes, one more does not") {
  const std::string tail = " HTTP/1.1";
  const auto line = [&](size_t bytes) {
    return "GET /" + std::string(bytes - 5 - tail.size(), 'x') + tail;
  };
  CHECK(Outcome(line(4096) + "\r\n\r\n") == HeadResult::kDone);
  CHECK(Outcome(line(4097) + "\r\n\r\n") == HeadResult::kRefused);
  CHECK(Outcome(line(5000).substr(0, 4097)) == HeadResult::kRefused);
}

TEST_CASE("a header block above 8192 bytes is refused, also before it has ended") {
  const auto field = [](size_t bytes) { return "A: " + std::string(bytes - 5, 'x') + "\r\n"; };
  CHECK(Outcome("GET / HTTP/1.1\r\n" + field(8000) + "\r\n") == HeadResult::kDone);
  CHECK(Outcome("GET / HTTP/1.1\r\n" + field(8300) + "\r\n") == HeadResult::kRefused);
  CHECK(Outcome("GET / HTTP/1.1\r\n" + field(9000).substr(0, 8300)) == HeadResult::kRefused);
}

TEST_CASE("what is no HTTP is refused") {
  for (const char* bytes : {"GET /\r\n\r\n", "GET  / HTTP/1.1\r\n\r\n", "GET / HTTP/9\r\n\r\n",
                            "G@T / HTTP/1.1\r\n\r\n", "GET / HTTP/1.1\r\nno colon\r\n\r\n",
                            "POST / HTTP/1.1\r\nContent-Length: x\r\n\r\n",
                            "POST / HTTP/1.1\r\nTransfer-Encoding: xchunked\r\n\r\n",
                            "POST / HTTP/1.1\r\nTransfer-Encoding: gzip, chunked\r\n\r\n",
                            "POST / HTTP/1.1\r\nTransfer-Encoding: \r\n\r\n",
                            "POST / HTTP/1.1\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\n"}) {
    CAPTURE(bytes);
    CHECK(Outcome(bytes) == HeadResult::kRefused);
  }
}

}  // namespace hg::http
