#pragma once
// Reads HTTP answers piece by piece without keeping them: an answer may have many megabytes.

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace hg::bench {

/// Of one connection that answers one request at a time. After an answer, Reset. One thread at a
/// time.
class ReplyReader {
 public:
  /// Takes what has arrived. True once the whole answer is there. An answer whose end cannot be
  /// known ends the measurement.
  bool Feed(std::string_view piece);
  void Reset() { *this = ReplyReader(); }

  [[nodiscard]] int status() const { return status_; }
  [[nodiscard]] size_t body_bytes() const { return body_bytes_; }
  /// The server closes the connection behind this answer.
  [[nodiscard]] bool closes() const { return closes_; }
  /// Head and the first 2,000 bytes of the body, to show.
  [[nodiscard]] const std::string& text() const { return text_; }

 private:
  enum class At { kHead, kBody, kChunkSize, kChunk, kTrailer, kDone };

  void TakeHead();
  void TakeLine();
  void TakeBytes(std::string_view* piece);

  At at_ = At::kHead;
  std::string line_;   // the head, or the line of a chunk, so far
  size_t wanted_ = 0;  // bytes of the body or of the chunk that are still to come
  size_t body_bytes_ = 0;
  int status_ = 0;
  bool closes_ = false;
  std::string text_;
};

}  // namespace hg::bench
