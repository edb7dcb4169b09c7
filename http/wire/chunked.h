#pragma once
// Decodes the chunked transfer coding in place: moves the content to the front of the body.

#include <cstddef>
#include <cstdint>

namespace hg::http {

/// Decodes one body. The buffer may grow at its end, and its address may change between calls.
class ChunkedDecoder {
 public:
  enum class State : uint8_t { kIncomplete, kDone, kMalformed };

  /// `body` has all `size` bytes that were received after the head. The first decoded() bytes are
  /// content that earlier calls decoded. The coded bytes up to raw() were consumed. This call
  /// decodes the bytes after raw() and moves their content to the front.
  State Feed(char* body, size_t size);

  /// Returns the number of content bytes at the front of the body.
  [[nodiscard]] size_t decoded() const { return decoded_; }
  /// Returns how many bytes of the coded body were consumed. The next request begins after them.
  [[nodiscard]] size_t raw() const { return raw_; }

 private:
  enum class Part : uint8_t {
    kSize,
    kExtension,
    kSizeLf,
    kData,
    kDataCr,
    kDataLf,
    kTrailerStart,
    kTrailer,
    kTrailerLf,
    kLastLf
  };

  Part part_ = Part::kSize;
  bool any_digit_ = false;
  uint64_t left_ = 0;      // bytes of the current chunk that were not received yet
  size_t line_bytes_ = 0;  // bytes that are not content since the last content bytes
  size_t decoded_ = 0;
  size_t raw_ = 0;
};

/// Maximum number of consecutive bytes that are chunk sizes, extensions and trailers.
inline constexpr size_t kChunkLineBytesMax = 8192;

}  // namespace hg::http
