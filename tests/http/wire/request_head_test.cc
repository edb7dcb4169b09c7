#include "http/wire/request_head.h"

#include <doctest/doctest.h>

#include <string>

namespace hg::http {
namespace {

HeadResult Parse(std::string_view bytes, RequestHead* head, size_t* consumed) {
  size_t scanned = 0;
  std::string_view fault;
  const HeadResult result = ParseRequestHead(bytes, &scanned, head, consumed, &fault);
  CHECK(fault.empty() == (result != HeadResult::kMalformed));
  return result;
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

TEST_CASE("a head is parsed, and the following bytes are left") {
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

TEST_CASE("a head that arrives byte by byte is found when it is complete") {
  const std::string bytes = "GET / HTTP/1.1\r\nA: b\r\n\r\n";
  size_t scanned = 0, consumed = 0;
  RequestHead head;
  std::string_view fault;
  for (size_t size = 1; size < bytes.size(); ++size) {
    CHECK(ParseRequestHead({bytes.data(), size}, &scanned, &head, &consumed, &fault) ==
          HeadResult::kIncomplete);
  }
  CHECK(ParseRequestHead(bytes, &scanned, &head, &consumed, &fault) == HeadResult::kDone);
}

TEST_CASE("a request without Host is accepted, as in OpenTSDB") {
  const RequestHead head = Good("GET /version HTTP/1.1\r\nAccept-Encoding: gzip\r\n\r\n");
  CHECK(head.target == "/version");
  CHECK(head.host.empty());
  CHECK(head.accepted == ContentCoding::kGzip);
  CHECK(Good("GET / HTTP/1.1\r\nhOst:\t a:1 \r\n\r\n").host == "a:1");
}

TEST_CASE("a line that does not end with CRLF is malformed as soon as it has arrived") {
  for (const char* bytes :
       {"GET / HTTP/1.1\n", "GET / HTTP/1.1\r\nHost: x\n", "GET / HTTP/1.1\nHost: x\n\n",
        "GET / HTTP/1.1\r\nHost: x\r\n\n", "GET / HTTP/1.1\r\nA: b\rC: d\r\n\r\n"}) {
    CAPTURE(bytes);
    CHECK(Outcome(bytes) == HeadResult::kMalformed);
  }
  // A telnet line that begins with a capital letter is closed without a reply.
  CHECK(Outcome("Put m 1 1 a=b\n") == HeadResult::kRefused);
  CHECK(Outcome("VERSION\r\n") == HeadResult::kRefused);
}

TEST_CASE("values always point into the head, and folded lines are malformed") {
  for (const char* fold : {"\r\n two", "\r\n\ttwo", "\r\n \r\n", "\r\n \r\n two"}) {
    const std::string bytes =
        "GET /api/version HTTP/1.1\r\nHost: x\r\nX-A: one" + std::string(fold) + "\r\n\r\n";
    CAPTURE(bytes);
    CHECK(Outcome(bytes) == HeadResult::kMalformed);
  }
  CHECK(Outcome("GET / HTTP/1.1\r\n X-A: one\r\n\r\n") == HeadResult::kMalformed);
  const RequestHead head = Good("GET /a HTTP/1.1\r\nA:b\r\nC:\r\n\r\n");
  const auto within = [&head](std::string_view view) {
    return view.data() >= head.text.data() &&
           view.data() + view.size() <= head.text.data() + head.text.size();
  };
  CHECK(within(head.method));
  CHECK(within(head.target));
  for (const auto& [name, value] : head.fields) CHECK((within(name) && within(value)));
}

TEST_CASE("control bytes are malformed anywhere") {
  for (int c = 0; c < 256; ++c) {
    const char byte = static_cast<char>(c);
    const bool control = (c < 0x20 && c != '\t') || c == 0x7F;
    CAPTURE(c);
    const auto in = [byte](std::string text) {
      text.replace(text.find('@'), 1, 1, byte);
      return Outcome(text);
    };
    if (byte == '\n') continue;
    CHECK((in("GET / HTTP/1.1\r\nA: x@y\r\n\r\n") == HeadResult::kDone) == !control);
    CHECK((in("GET /x@y HTTP/1.1\r\n\r\n") == HeadResult::kDone) ==
          (!control && c != ' ' && c != '\t'));
    const bool token = c > 0x20 && c < 0x7F &&
                       std::string_view("\"(),/:;<=>?@[\\]{}").find(byte) == std::string_view::npos;
    CHECK((in("G@T / HTTP/1.1\r\n\r\n") == HeadResult::kDone) == token);
    CHECK((in("GET / HTTP/1.1\r\nA@b: y\r\n\r\n") == HeadResult::kDone) == (token || byte == ':'));
  }
}

TEST_CASE("a field that two readers could interpret differently is malformed") {
  for (const char* fields :
       {"Content-Length: 1\r\nContent-Length: 2", "Content-Length: 1\r\ncontent-length: 1",
        "Content-Length: 1, 1", "Content-Length: +1", "Content-Length: -1",
        "Content-Length:", "Content-Length: 0x1", "Content-Length: 18446744073709551616",
        "Content-Length: 1\r\nTransfer-Encoding: chunked",
        "Transfer-Encoding: chunked\r\nContent-Length: 1",
        "Transfer-Encoding: identity\r\nContent-Length: 1",
        "Transfer-Encoding: chunked\r\nTransfer-Encoding: chunked", "Transfer-Encoding: x",
        "Transfer-Encoding: gzip, chunked", "Transfer-Encoding:", "Content-Length : 1",
        "Host: a\r\nHost: b", "Host: a\r\nHost: a",
        "Authorization: Basic YTpi\r\nAuthorization: Bearer x"}) {
    CAPTURE(fields);
    CHECK(Outcome("POST / HTTP/1.1\r\n" + std::string(fields) + "\r\n\r\n") ==
          HeadResult::kMalformed);
  }
  CHECK(Outcome("POST / HTTP/1.0\r\nTransfer-Encoding: chunked\r\n\r\n") == HeadResult::kMalformed);
}

TEST_CASE("of repeated fields the first one counts") {
  const RequestHead head = Good(
      "POST / HTTP/1.1\r\nX-A: one\r\nx-a: two\r\nContent-Encoding: gzip\r\nContent-Encoding: "
      "deflate\r\n\r\n");
  CHECK(head.Find("X-A") == "one");
  CHECK(head.coding == ContentCoding::kGzip);
}

TEST_CASE("fields that browsers send for pages are detected") {
  CHECK_FALSE(Good("POST / HTTP/1.1\r\nUser-Agent: Mozilla/5.0\r\n\r\n").tells_of_page);
  for (const char* name : {"Origin", "ORIGIN", "Sec-Fetch-Site", "Referer"})
    CHECK(Good("POST / HTTP/1.1\r\n" + std::string(name) + ": x\r\n\r\n").tells_of_page);
}

TEST_CASE("characters that clients do not escape are accepted in the target") {
  CHECK(Good("GET /api/query?m=sum:a{b=c|d}\"<> HTTP/1.1\r\n\r\n").target ==
        "/api/query?m=sum:a{b=c|d}\"<>");
}

TEST_CASE("keep-alive follows from the version and the Connection field") {
  CHECK(Good("GET / HTTP/1.1\r\n\r\n").keep_alive);
  CHECK_FALSE(Good("GET / HTTP/1.1\r\nConnection: close\r\n\r\n").keep_alive);
  CHECK_FALSE(Good("GET / HTTP/1.0\r\n\r\n").keep_alive);
  CHECK(Good("GET / HTTP/1.0\r\nConnection: Keep-Alive\r\n\r\n").keep_alive);
}

TEST_CASE("codings and expectations are detected") {
  CHECK(Good("POST / HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n").chunked);
  CHECK(Good("POST / HTTP/1.1\r\nExpect: 100-continue\r\nContent-Length: 1\r\n\r\n")
            .expects_continue);
  CHECK_FALSE(Good("POST / HTTP/1.0\r\nExpect: 100-continue\r\nContent-Length: 1\r\n\r\n")
                  .expects_continue);
  CHECK(Good("POST / HTTP/1.1\r\nContent-Encoding: GZIP\r\n\r\n").coding == ContentCoding::kGzip);
  const auto unknown = [](const std::string& value) {
    const RequestHead head = Good("POST / HTTP/1.1\r\nContent-Encoding: " + value + "\r\n\r\n");
    CHECK(head.coding == ContentCoding::kNone);
    return std::string(head.unknown_coding);
  };
  for (const char* known : {"", "identity", "Identity", "snappy"}) CHECK(unknown(known).empty());
  for (const char* other : {"br", "gzip, gzip", "gzip;q=1"}) CHECK(unknown(other) == other);
}

TEST_CASE("a response has the coding that the client prefers, gzip on a tie") {
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

TEST_CASE("a request line of 4096 bytes is accepted, and one of 4097 is not") {
  const std::string tail = " HTTP/1.1";
  const auto line = [&](size_t bytes) {
    return "GET /" + std::string(bytes - 5 - tail.size(), 'x') + tail;
  };
  CHECK(Outcome(line(4096) + "\r\n\r\n") == HeadResult::kDone);
  CHECK(Outcome(line(4097) + "\r\n\r\n") == HeadResult::kRefused);
  CHECK(Outcome(line(5000).substr(0, 4097)) == HeadResult::kRefused);
}

TEST_CASE("a header block above 8192 bytes is refused, even before its end has arrived") {
  const auto field = [](size_t bytes) { return "A: " + std::string(bytes - 5, 'x') + "\r\n"; };
  CHECK(Outcome("GET / HTTP/1.1\r\n" + field(8000) + "\r\n") == HeadResult::kDone);
  CHECK(Outcome("GET / HTTP/1.1\r\n" + field(8300) + "\r\n") == HeadResult::kRefused);
  CHECK(Outcome("GET / HTTP/1.1\r\n" + field(9000).substr(0, 8300)) == HeadResult::kRefused);
}

TEST_CASE("data that is not HTTP is refused, and HTTP with an error is malformed") {
  CHECK(Outcome("GET /\r\n\r\n") == HeadResult::kRefused);
  for (const char* bytes :
       {"GET  / HTTP/1.1\r\n\r\n", "GET / HTTP/9\r\n\r\n", "GET / HTTP/1.1 \r\n\r\n",
        "GET / HTTP/2.0\r\n\r\n", "GET /a b HTTP/1.1\r\n\r\n", "GET HTTP/1.1\r\n\r\n",
        "G@T / HTTP/1.1\r\n\r\n", "GET / HTTP/1.1\r\nno colon\r\n\r\n",
        "GET / HTTP/1.1\r\n: x\r\n\r\n"}) {
    CAPTURE(bytes);
    CHECK(Outcome(bytes) == HeadResult::kMalformed);
  }
}

}  // namespace hg::http
