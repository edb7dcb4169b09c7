#pragma once
// Decodes bodies with the chunked transfer coding in place. The decoder moves the content to the
// front of the body.

#include <cstddef>
#include <cstdint>

namespace hg::http {

/// Decodes one chunked body. The buffer with the body may grow at its end, and its address may
/// change between calls.
class ChunkedDecoder {
 public:
  enum class State : uint8_t { kIncomplete, kDone, kMalformed };

  /// Decodes the bytes after position raw(), and moves their content to the front of the body.
  /// `body` must have all `size` bytes that were received after the request head. The first
  /// decoded() bytes of `body` are the content that earlier calls have decoded.
  State Feed(char* body, size_t size);

  /// Returns the number of content bytes that are at the front of the body.
  [[nodiscard]] size_t decoded() const { return decoded_; }
  /// Returns how many bytes of the chunked body were decoded. After the end of the body, the next
  /// request begins at this position.
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
  uint64_t left_ = 0;  // number of content bytes of the current chunk that were not decoded yet
  /// Number of consecutive bytes before the current position that are not content.
  size_t line_bytes_ = 0;
  size_t decoded_ = 0;
  size_t raw_ = 0;
};

/// The maximum number of consecutive bytes that are not content: chunk sizes, extensions, trailers
/// and line ends. A body that exceeds this number is malformed.
inline constexpr size_t kChunkLineBytesMax = 8192;

}  // namespace hg::http
