#pragma once
// Reads HTTP responses in pieces and does not keep them, because some have many megabytes.

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace hg::bench {

/// Reads the responses of one connection, one after the other. Call Reset after each response. For
/// one thread at a time.
class ReplyReader {
 public:
  /// Processes received bytes. Returns true once the response is complete. Exits if it cannot be
  /// determined where a response ends.
  bool Feed(std::string_view piece);
  void Reset() { *this = ReplyReader(); }

  [[nodiscard]] int status() const { return status_; }
  [[nodiscard]] size_t body_bytes() const { return body_bytes_; }
  /// Returns whether the server closes the connection after this response.
  [[nodiscard]] bool closes() const { return closes_; }
  /// Returns the head and the first 2,000 bytes of the body, for messages.
  [[nodiscard]] const std::string& text() const { return text_; }

 private:
  enum class At { kHead, kBody, kChunkSize, kChunk, kTrailer, kDone };

  void TakeHead();
  void TakeLine();
  void TakeBytes(std::string_view* piece);

  At at_ = At::kHead;
  std::string line_;   // the received part of the head, or of the line before a chunk
  size_t wanted_ = 0;  // bytes of the body or chunk still expected
  size_t body_bytes_ = 0;
  int status_ = 0;
  bool closes_ = false;
  std::string text_;
};

}  // namespace hg::bench
