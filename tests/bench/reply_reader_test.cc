#include "bench/reply_reader.h"

#include <doctest/doctest.h>

#include <string>

using hg::bench::ReplyReader;

namespace {

/// Feeds pieces of every size from 1 on. All must end at the last byte and give the same response.
void CheckInPieces(const std::string& answer, int status, size_t body_bytes, bool closes) {
  for (size_t size = 1; size <= answer.size(); ++size) {
    ReplyReader reader;
    for (size_t at = 0; at < answer.size(); at += size) {
      const bool done = reader.Feed(answer.substr(at, size));
      REQUIRE(done == (at + size >= answer.size()));
    }
    CHECK(reader.status() == status);
    CHECK(reader.body_bytes() == body_bytes);
    CHECK(reader.closes() == closes);
  }
}

}  // namespace

TEST_CASE("responses end correctly, whatever pieces they arrive in") {
  CheckInPieces("HTTP/1.1 204 No Content\r\nServer: x\r\n\r\n", 204, 0, false);
  CheckInPieces("HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhello", 200, 5, false);
  CheckInPieces("HTTP/1.1 200 OK\r\ncontent-length:0\r\n\r\n", 200, 0, false);
  CheckInPieces(
      "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhe\r\no\r\n1a;x=y\r\n"
      "abcdefghijklmnopqrstuvwxyz\r\n0\r\n\r\n",
      200, 31, false);
  CheckInPieces("HTTP/1.1 400 Bad Request\r\nConnection: close\r\nContent-Length: 2\r\n\r\nno", 400,
                2, true);
}

TEST_CASE("after Reset the next response is read from its beginning") {
  ReplyReader reader;
  CHECK(reader.Feed("HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nno"));
  reader.Reset();
  CHECK(!reader.Feed("HTTP/1.1 204 No Content\r\n"));
  CHECK(reader.Feed("\r\n"));
  CHECK(reader.status() == 204);
  CHECK(reader.body_bytes() == 0);
}
