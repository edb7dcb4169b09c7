#include "http/wire/chunked.h"

#include <algorithm>
#include <cstring>

#include "storage/base/hex_digit.h"

namespace hg::http {
namespace {

/// Returns whether the byte is allowed in extensions and trailers: printable characters, blanks and
/// tabs.
bool IsLineByte(char c) {
  const auto byte = static_cast<unsigned char>(c);
  return (byte >= 0x20 && byte != 0x7F) || c == '\t';
}

}  // namespace

ChunkedDecoder::State ChunkedDecoder::Feed(char* body, size_t size) {
  while (raw_ < size) {
    if (part_ == Part::kData) {
      const size_t n = static_cast<size_t>(std::min<uint64_t>(left_, size - raw_));
      std::memmove(body + decoded_, body + raw_, n);
      decoded_ += n;
      raw_ += n;
      left_ -= n;
      if (left_ == 0) part_ = Part::kDataCr;
      continue;
    }
    if (++line_bytes_ > kChunkLineBytesMax) return State::kMalformed;
    const char c = body[raw_++];
    // Each part accepts the byte c or fails. Lines must end with CR and LF.
    switch (part_) {
      case Part::kSize:
        if (const int digit = HexDigit(c); digit >= 0) {
          if (left_ >> 59 != 0) return State::kMalformed;
          left_ = left_ << 4 | static_cast<uint64_t>(digit);
          any_digit_ = true;
        } else if (!any_digit_) {
          return State::kMalformed;
        } else if (c == '\r') {
          part_ = Part::kSizeLf;
        } else if (c == ';' || c == ' ' || c == '\t') {
          part_ = Part::kExtension;
        } else {
          return State::kMalformed;
        }
        break;
      case Part::kExtension:
        if (c == '\r') {
          part_ = Part::kSizeLf;
        } else if (!IsLineByte(c)) {
          return State::kMalformed;
        }
        break;
      case Part::kSizeLf:
        if (c != '\n') return State::kMalformed;
        part_ = left_ == 0 ? Part::kTrailerStart : Part::kData;
        any_digit_ = false;
        if (left_ != 0) line_bytes_ = 0;
        break;
      case Part::kDataCr:
        if (c != '\r') return State::kMalformed;
        part_ = Part::kDataLf;
        break;
      case Part::kDataLf:
        if (c != '\n') return State::kMalformed;
        part_ = Part::kSize;
        break;
      case Part::kTrailerStart:
        if (c == '\r') {
          part_ = Part::kLastLf;
        } else if (IsLineByte(c) && c != ' ' && c != '\t') {
          part_ = Part::kTrailer;
        } else {
          return State::kMalformed;
        }
        break;
      case Part::kTrailer:
        if (c == '\r') {
          part_ = Part::kTrailerLf;
        } else if (!IsLineByte(c)) {
          return State::kMalformed;
        }
        break;
      case Part::kTrailerLf:
        if (c != '\n') return State::kMalformed;
        part_ = Part::kTrailerStart;
        break;
      case Part::kLastLf:
        return c == '\n' ? State::kDone : State::kMalformed;
      case Part::kData:
        break;
    }
  }
  return State::kIncomplete;
}

}  // namespace hg::http
