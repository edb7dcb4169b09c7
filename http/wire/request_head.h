#pragma once
// Parses the head of an HTTP request: request line and header fields, within the limits of
// opentsdb-http-api.md §2.1.

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace hg::http {

inline constexpr size_t kRequestLineBytesMax = 4096;
inline constexpr size_t kHeaderBytesMax = 8192;

enum class ContentCoding : uint8_t { kNone, kGzip, kDeflate };

/// A parsed request head. A connection uses the same object for all its requests. All views are of
/// `text`.
struct RequestHead {
  using Field = std::pair<std::string_view, std::string_view>;

  std::string text;  // a copy of the head's bytes
  std::string_view method, target;
  std::string_view host;      // value of the Host field; "" if there is none
  std::vector<Field> fields;  // as sent; values are trimmed
  bool http11 = true;
  bool keep_alive = true;  // result of the version and the Connection field
  bool chunked = false;
  bool expects_continue = false;
  /// Whether Origin, Sec-Fetch-Site or Referer is present, which means that a web page in a browser
  /// made the request.
  bool tells_of_page = false;
  /// The content coding for the reply. If the client accepts gzip and deflate equally, gzip is used
  /// (opentsdb-http-api.md §2.2).
  ContentCoding accepted = ContentCoding::kNone;
  ContentCoding coding = ContentCoding::kNone;
  /// The value of Content-Encoding if the server does not know this coding, otherwise "". Snappy is
  /// known, but `coding` never names it, because only remote write and remote read decompress
  /// snappy. Other endpoints ignore this coding, as OpenTSDB does (opentsdb-http-api.md §2.2).
  std::string_view unknown_coding;
  uint64_t content_length = 0;

  /// Returns the value of the first field with that name in any case, as Request::Header does.
  /// Returns "" if the request has no such field.
  [[nodiscard]] std::string_view Find(std::string_view name) const;
};

enum class HeadResult : uint8_t {
  kIncomplete,  // more bytes are needed
  kDone,
  kMalformed,  // invalid HTTP: send 400 and close
  kRefused,    // over the limits, or not HTTP: close without a reply, as OpenTSDB does
};

/// Parses the head at the front of `bytes` into *head; *consumed = its length, including the blank
/// line. `scanned` avoids repeated searches for the end: the caller keeps it between calls on a
/// growing buffer, starting with 0. kMalformed: *fault is a sentence that says what is wrong.
///
/// The grammar is strict, because a proxy with another interpretation could be made to see one
/// request where there are two (RFC 9112, 11.2). Malformed are: lines that end without CR, folded
/// lines, control bytes, a blank before a colon, more than one Host, Content-Length,
/// Transfer-Encoding or Authorization, Content-Length together with Transfer-Encoding, and unknown
/// transfer codings.
HeadResult ParseRequestHead(std::string_view bytes, size_t* scanned, RequestHead* head,
                            size_t* consumed, std::string_view* fault);

}  // namespace hg::http
