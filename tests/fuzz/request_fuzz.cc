// Requests off the socket: it does not matter in which pieces they arrive.

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "http/wire/chunked.h"
#include "http/wire/percent.h"
#include "http/wire/request_head.h"
#include "storage/base/invariant.h"

namespace hg::http {
namespace {

void Head(std::string_view bytes, size_t piece) {
  RequestHead whole;
  size_t scanned = 0, consumed = 0;
  const HeadResult result = ParseRequestHead(bytes, &scanned, &whole, &consumed);

  RequestHead grown;
  size_t grown_scanned = 0, grown_consumed = 0;
  for (size_t have = 0;; have = std::min(have + piece, bytes.size())) {
    const HeadResult now =
        ParseRequestHead(bytes.substr(0, have), &grown_scanned, &grown, &grown_consumed);
    if (now != HeadResult::kIncomplete || have == bytes.size()) {
      // A head that never ends may be refused for its length sooner or later, but is refused.
      INVARIANT(now == result);
      break;
    }
  }
  if (result != HeadResult::kDone) return;
  INVARIANT(consumed <= bytes.size() && grown_consumed == consumed);
  INVARIANT(whole.fields == grown.fields && whole.target == grown.target);
  Parameters parameters;
  ParseQueryString(whole.target, &parameters);
}

void Body(std::string_view bytes, size_t piece) {
  std::string at_once(bytes);
  ChunkedDecoder whole;
  const auto result = whole.Feed(at_once.data(), at_once.size());

  std::string grown;
  ChunkedDecoder pieces;
  auto now = ChunkedDecoder::State::kIncomplete;
  for (size_t i = 0; i < bytes.size() && now == ChunkedDecoder::State::kIncomplete; i += piece) {
    grown.append(bytes.substr(i, piece));
    now = pieces.Feed(grown.data(), grown.size());
  }
  INVARIANT(now == result);
  if (result == ChunkedDecoder::State::kMalformed) return;
  INVARIANT(whole.decoded() == pieces.decoded() && whole.raw() == pieces.raw());
  INVARIANT(at_once.compare(0, whole.decoded(), grown, 0, pieces.decoded()) == 0);
}

}  // namespace
}  // namespace hg::http

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  if (size < 2) return 0;
  const std::string_view rest(reinterpret_cast<const char*>(data) + 2, size - 2);
  const size_t piece = 1 + data[1] % 64;
  if (data[0] % 2 == 0) hg::http::Head(rest, piece);
  if (data[0] % 2 == 1) hg::http::Body(rest, piece);
  return 0;
}
