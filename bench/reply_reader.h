#pragma once
// Parses HTTP responses as their bytes arrive. Responses are not stored, because some of them have
// many megabytes.

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace hg::bench {

/// Parses the responses of one connection, one after another. Call Reset after each response. Only
/// one thread at a time may use the object.
class ReplyReader {
 public:
  /// Processes bytes that were received. Returns true when the response is complete. Exits the
  /// program if the end of the response cannot be determined.
  bool Feed(std::string_view piece);
  void Reset() { *this = ReplyReader(); }

  [[nodiscard]] int status() const { return status_; }
  [[nodiscard]] size_t body_bytes() const { return body_bytes_; }
  /// Returns whether the server closes the connection after this response.
  [[nodiscard]] bool closes() const { return closes_; }
  /// Returns the head of the response and the first 2,000 bytes of its body, for error messages.
  [[nodiscard]] const std::string& text() const { return text_; }

 private:
  enum class At { kHead, kBody, kChunkSize, kChunk, kTrailer, kDone };

  void TakeHead();
  void TakeLine();
  void TakeBytes(std::string_view* piece);

  At at_ = At::kHead;
  std::string line_;  // the received part of the response head, or of the line before a chunk
  /// Number of bytes of the body or of the current chunk that were not received yet.
  size_t wanted_ = 0;
  size_t body_bytes_ = 0;
  int status_ = 0;
  bool closes_ = false;
  std::string text_;
};

}  // namespace hg::bench
