// HTTP requests: the pieces in which they arrive do not matter, and packed bodies unpack within
// their limit.

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "http/wire/body_coding.h"
#include "http/wire/chunked.h"
#include "http/wire/percent.h"
#include "http/wire/request_head.h"
#include "storage/base/invariant.h"

namespace hg::http {
namespace {

void Head(std::string_view bytes, size_t piece) {
  RequestHead whole;
  size_t scanned = 0, consumed = 0;
  std::string_view fault;
  const HeadResult result = ParseRequestHead(bytes, &scanned, &whole, &consumed, &fault);

  RequestHead grown;
  size_t grown_scanned = 0, grown_consumed = 0;
  for (size_t have = 0;; have = std::min(have + piece, bytes.size())) {
    const HeadResult now =
        ParseRequestHead(bytes.substr(0, have), &grown_scanned, &grown, &grown_consumed, &fault);
    if (now != HeadResult::kIncomplete || have == bytes.size()) {
      // A head without an end is refused for its length, sooner or later.
      INVARIANT(now == result);
      break;
    }
  }
  if (result != HeadResult::kDone) return;
  INVARIANT(consumed <= bytes.size() && grown_consumed == consumed);
  INVARIANT(whole.fields == grown.fields && whole.target == grown.target);
  Parameters parameters;
  ParseQueryString(whole.target, &parameters, nullptr);
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

constexpr size_t kUnpackedMax = 1 << 16;

/// Unpacks the bytes, packs them, and unpacks them again. `piece` is the number of bytes that each
/// call packs.
void Packed(std::string_view bytes, size_t piece) {
  for (const ContentCoding coding : {ContentCoding::kGzip, ContentCoding::kDeflate}) {
    std::string out;
    const Status foreign =
        UnpackBody(coding, bytes, kUnpackedMax, 64, &out, nullptr, RequestContext::Unlimited());
    INVARIANT(!foreign.ok() || (out.size() <= kUnpackedMax && out.capacity() >= out.size() + 64));
    INVARIANT(foreign.ok() || foreign.code() == StatusCode::kInvalidArgument ||
              foreign.code() == StatusCode::kLimitExceeded);
    BodyPacker packer(coding);
    std::string packed;
    for (std::string_view rest = bytes; !rest.empty();) {
      packer.Pack(rest.substr(0, piece), false, &packed);
      rest.remove_prefix(std::min(piece, rest.size()));
    }
    packer.Pack({}, true, &packed);
    INVARIANT(UnpackBody(coding, packed, std::max<size_t>(bytes.size(), 1), 64, &out, nullptr,
                         RequestContext::Unlimited())
                  .ok());
    INVARIANT(out == bytes);
    if (bytes.size() < 2) continue;
    INVARIANT(
        UnpackBody(coding, packed, bytes.size() - 1, 64, &out, nullptr, RequestContext::Unlimited())
            .code() == StatusCode::kLimitExceeded);
  }
}

/// Escaping every byte and decoding gives the same bytes. Decoding never makes a text longer.
void Percent(std::string_view bytes) {
  std::string escaped, back;
  for (const char c : bytes) {
    const auto byte = static_cast<unsigned char>(c);
    escaped += {'%', "0123456789abcdef"[byte >> 4], "0123456789ABCDEF"[byte & 15]};
  }
  INVARIANT(DecodePercent(escaped, &back) && back == bytes);
  if (DecodePercent(bytes, &back)) INVARIANT(back.size() <= bytes.size());
  Parameters parameters;
  if (!ParseQueryString(bytes, &parameters, nullptr)) return;
  for (const auto& [name, value] : parameters.items()) INVARIANT(!name.empty());
}

}  // namespace
}  // namespace hg::http

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  if (size < 2) return 0;
  const std::string_view rest(reinterpret_cast<const char*>(data) + 2, size - 2);
  const size_t piece = 1 + data[1] % 64;
  switch (data[0] % 4) {
    case 0:
      hg::http::Head(rest, piece);
      break;
    case 1:
      hg::http::Body(rest, piece);
      break;
    case 2:
      hg::http::Packed(rest, piece);
      break;
    case 3:
      hg::http::Percent(rest);
      break;
  }
  return 0;
}
