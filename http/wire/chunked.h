#pragma once
// The chunked transfer coding, decoded where it stands: the content moves to the front of the
// body's bytes.

#include <cstddef>
#include <cstdint>

namespace hg::http {

/// One body. Fed with a buffer that only grows at its end (its address may change between calls).
class ChunkedDecoder {
 public:
  enum class State : uint8_t { kIncomplete, kDone, kMalformed };

  /// `body`: all bytes behind the head so far, `size` of them, of which the first decoded() are
  /// content already and the rest up to raw() has been taken. Moves further content down.
  State Feed(char* body, size_t size);

  /// Bytes of content at the front.
  [[nodiscard]] size_t decoded() const { return decoded_; }
  /// Bytes of the coded body taken so far; with kDone the next request begins there.
  [[nodiscard]] size_t raw() const { return raw_; }

 private:
  enum class Part : uint8_t {
    kSize,
    kExtension,
    kData,
    kDataEnd,
    kTrailerStart,
    kTrailer,
    kLastLf
  };

  Part part_ = Part::kSize;
  bool any_digit_ = false;
  uint64_t left_ = 0;      // of the chunk
  size_t line_bytes_ = 0;  // of sizes, extensions and trailers since the last content
  size_t decoded_ = 0;
  size_t raw_ = 0;
};

/// Bytes of chunk sizes, extensions and trailers accepted in a row.
inline constexpr size_t kChunkLineBytesMax = 8192;

}  // namespace hg::http
