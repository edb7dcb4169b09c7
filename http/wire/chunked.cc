#include "http/wire/chunked.h"

#include <algorithm>
#include <cstring>

#include "storage/base/hex_digit.h"

namespace hg::http {

ChunkedDecoder::State ChunkedDecoder::Feed(char* body, size_t size) {
  while (raw_ < size) {
    if (part_ == Part::kData) {
      const size_t n = static_cast<size_t>(std::min<uint64_t>(left_, size - raw_));
      std::memmove(body + decoded_, body + raw_, n);
      decoded_ += n;
      raw_ += n;
      left_ -= n;
      if (left_ == 0) part_ = Part::kDataEnd;
      continue;
    }
    if (++line_bytes_ > kChunkLineBytesMax) return State::kMalformed;
    const char c = body[raw_++];
    switch (part_) {
      case Part::kSize:
        if (const int digit = HexDigit(c); digit >= 0) {
          if (left_ >> 59 != 0) return State::kMalformed;
          left_ = left_ << 4 | static_cast<uint64_t>(digit);
          any_digit_ = true;
          break;
        }
        if (!any_digit_) return State::kMalformed;
        part_ = Part::kExtension;
        [[fallthrough]];
      case Part::kExtension:
        if (c == '\n') {
          part_ = left_ == 0 ? Part::kTrailerStart : Part::kData;
          any_digit_ = false;
          if (left_ != 0) line_bytes_ = 0;
        }
        break;
      case Part::kDataEnd:
        if (c == '\n') {
          part_ = Part::kSize;
        } else if (c != '\r') {
          return State::kMalformed;
        }
        break;
      case Part::kTrailerStart:
        if (c == '\n') return State::kDone;
        part_ = c == '\r' ? Part::kLastLf : Part::kTrailer;
        break;
      case Part::kTrailer:
        if (c == '\n') part_ = Part::kTrailerStart;
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
