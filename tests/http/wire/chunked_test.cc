#include "http/wire/chunked.h"

#include <doctest/doctest.h>

#include <string>

namespace hg::http {
namespace {

using State = ChunkedDecoder::State;

/// Feeds the coded body in pieces of `step` bytes; what it decodes to.
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

TEST_CASE("chunks are joined whatever the pieces they come in") {
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

TEST_CASE("bare line feeds end lines of the coding too") {
  State state;
  size_t raw = 0;
  CHECK(Decode("2\nab\n0\n\n", 100, &state, &raw) == "ab");
  CHECK(state == State::kDone);
}

TEST_CASE("what is not the chunked coding is refused") {
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
