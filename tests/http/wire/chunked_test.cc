#include "http/wire/chunked.h"

#include <doctest/doctest.h>

#include <string>

namespace hg::http {
namespace {

using State = ChunkedDecoder::State;

/// Feeds the coded body in pieces of `step` bytes and returns the decoded content.
std::string Decode(std::string coded, size_t step, State* state, size_t* raw) {
  ChunkedDecoder decoder;
  *state = State::kIncomplete;
  for (size_t size = 0; *state == State::kIncomplete && size < coded.size();) {
    size = std::min(size + step, coded.size());
    *state = decoder.Feed(coded.data(), size);
  }
  *raw = decoder.raw();
  return coded.substr(0, decoder.decoded());
}

}  // namespace

TEST_CASE("chunks are joined, whatever pieces they arrive in") {
  const std::string coded =
      "5\r\nhello\r\n0001;name=value\r\n \r\nA\r\n0123456789\r\n0\r\nTrailer: x\r\n\r\n";
  const std::string next = "GET / HTTP/1.1\r\n";
  for (size_t step = 1; step <= coded.size() + next.size(); ++step) {
    CAPTURE(step);
    State state;
    size_t raw = 0;
    CHECK(Decode(coded + next, step, &state, &raw) == "hello 0123456789");
    CHECK(state == State::kDone);
    CHECK(raw == coded.size());
  }
}

TEST_CASE("extensions and trailers must be printable, and their lines must end with CRLF") {
  for (const char* coded :
       {"2\nab\r\n0\r\n\r\n", "2\r\nab\n0\r\n\r\n", "2\r\nab\r\n0\n\r\n", "2\r\nab\r\n0\r\n\n",
        "2\rab", "2;a\nb\r\n", "2;a\x01\r\n", "2;a\x7F\r\n", "2;a\rb\r\n", "2x\r\n", "0x2\r\n",
        " 2\r\n", "+2\r\n", "2\r\nab\rx", "2\r\nab\r\r\n", "0\r\nT: a\x01\r\n\r\n",
        "0\r\nT: a\nB: c\r\n\r\n", "0\r\n folded\r\n\r\n", "0\r\nT: a\rb"}) {
    CAPTURE(coded);
    for (const size_t step : {size_t{1}, size_t{100}}) {
      State state;
      size_t raw = 0;
      Decode(coded, step, &state, &raw);
      CHECK(state == State::kMalformed);
    }
  }
  State state;
  size_t raw = 0;
  CHECK(Decode("2 ;a=\"b c\"\r\nab\r\n0\r\nT:\ta\r\n\r\n", 1, &state, &raw) == "ab");
  CHECK(state == State::kDone);
}

TEST_CASE("data that is not in the chunked coding is refused") {
  for (const char* coded : {"x\r\n", "\r\n", "2\r\nabc\r\n", "FFFFFFFFFFFFFFFFF\r\n", "0\r\n\rx"}) {
    CAPTURE(coded);
    State state;
    size_t raw = 0;
    Decode(coded, 1, &state, &raw);
    CHECK(state == State::kMalformed);
  }
  State state;
  size_t raw = 0;
  Decode("1;" + std::string(kChunkLineBytesMax, 'x'), 1000, &state, &raw);
  CHECK(state == State::kMalformed);
}

}  // namespace hg::http
