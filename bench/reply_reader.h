#pragma once
// Reads HTTP responses in pieces without keeping them, because a response may have many megabytes.

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace hg::bench {

/// For one connection with one request at a time. Call Reset after each response. One thread at a
/// time.
class ReplyReader {
 public:
  /// Processes received bytes. Returns true once the response is complete. Exits if the end of a
  /// response cannot be determined.
  bool Feed(std::string_view piece);
  void Reset() { *this = ReplyReader(); }

  [[nodiscard]] int status() const { return status_; }
  [[nodiscard]] size_t body_bytes() const { return body_bytes_; }
  /// Whether the server closes the connection after this response.
  [[nodiscard]] bool closes() const { return closes_; }
  /// Head and first 2,000 bytes of the body, for messages.
  [[nodiscard]] const std::string& text() const { return text_; }

 private:
  enum class At { kHead, kBody, kChunkSize, kChunk, kTrailer, kDone };

  void TakeHead();
  void TakeLine();
  void TakeBytes(std::string_view* piece);

  At at_ = At::kHead;
  std::string line_;   // the part of the head, or of a chunk's line, received so far
  size_t wanted_ = 0;  // bytes of the body or chunk still expected
  size_t body_bytes_ = 0;
  int status_ = 0;
  bool closes_ = false;
  std::string text_;
};

}  // namespace hg::bench
