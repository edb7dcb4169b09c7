#pragma once
// The head of an HTTP request: request line and fields, within the limits of spec http-api.md §2.1.

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace hg::http {

inline constexpr size_t kRequestLineBytesMax = 4096;
inline constexpr size_t kHeaderBytesMax = 8192;

enum class ContentCoding : uint8_t { kNone, kGzip, kDeflate };

/// Reused from request to request. The views are of `text`.
struct RequestHead {
  using Field = std::pair<std::string_view, std::string_view>;

  std::string text;  // the head with CRLF line ends
  std::string_view method, target;
  std::vector<Field> fields;  // as sent
  bool http11 = true;
  bool keep_alive = true;  // what version and Connection say
  bool chunked = false;
  bool expects_continue = false;
  ContentCoding accepted = ContentCoding::kNone;  // of the reply; gzip on a tie (spec §2.2)
  ContentCoding coding = ContentCoding::kNone;
  uint64_t content_length = 0;

  /// The last field of that name, any case; "" if there is none.
  [[nodiscard]] std::string_view Find(std::string_view name) const;
};

enum class HeadResult : uint8_t {
  kIncomplete,  // more bytes are needed
  kDone,
  kRefused,  // too long or malformed: close without a word
};

/// Parses the head at the front of `bytes` into *head; *consumed = its length, blank line included.
/// `scanned` saves looking twice for the end: the caller keeps it between calls on a growing
/// buffer, 0 at first.
HeadResult ParseRequestHead(std::string_view bytes, size_t* scanned, RequestHead* head,
                            size_t* consumed);

}  // namespace hg::http
