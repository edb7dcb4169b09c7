#pragma once
// Decodes the chunked transfer coding in place: the content moves to the front of the body's bytes.

#include <cstddef>
#include <cstdint>

namespace hg::http {

/// Decodes one body. The buffer may only grow at its end; its address may change between calls.
class ChunkedDecoder {
 public:
  enum class State : uint8_t { kIncomplete, kDone, kMalformed };

  /// `body`: all `size` bytes received after the head. The first decoded() bytes are content that
  /// earlier calls decoded. The coded bytes up to raw() were consumed. Decodes the bytes after
  /// raw() and moves their content to the front.
  State Feed(char* body, size_t size);

  /// Number of content bytes at the front of the body.
  [[nodiscard]] size_t decoded() const { return decoded_; }
  /// Bytes of the coded body consumed so far. After kDone, the next request begins there.
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
  size_t line_bytes_ = 0;  // bytes of chunk sizes, extensions and trailers since the last content
  size_t decoded_ = 0;
  size_t raw_ = 0;
};

/// Maximum number of consecutive bytes that are chunk sizes, extensions and trailers.
inline constexpr size_t kChunkLineBytesMax = 8192;

}  // namespace hg::http
