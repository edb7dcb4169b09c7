#pragma once
// Parses the head of an HTTP request: the request line and the header fields. The limits are those
// of opentsdb-http-api.md §2.1.

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

/// A parsed request head. A connection uses one object for all its requests. All views refer to the
/// member `text`.
struct RequestHead {
  using Field = std::pair<std::string_view, std::string_view>;

  std::string text;  // a copy of the bytes of the request head
  std::string_view method, target;
  std::string_view host;  // value of the Host field; "" if the request has no Host field
  /// Header fields as the client sent them; blanks around values are removed.
  std::vector<Field> fields;
  bool http11 = true;
  /// Whether the connection stays open after the response. The HTTP version and the Connection
  /// field decide this.
  bool keep_alive = true;
  bool chunked = false;
  bool expects_continue = false;
  /// Whether the field Origin, Sec-Fetch-Site or Referer is present, which means that a web page in
  /// a browser caused the request.
  bool tells_of_page = false;
  /// The content coding for the reply. If the client accepts gzip and deflate equally, the reply
  /// uses gzip (opentsdb-http-api.md §2.2).
  ContentCoding accepted = ContentCoding::kNone;
  ContentCoding coding = ContentCoding::kNone;
  /// The value of Content-Encoding if the server does not know this coding; otherwise "". The
  /// server knows snappy, but `coding` never has the value snappy, because only remote write and
  /// remote read decompress snappy. All other endpoints ignore this coding, as OpenTSDB does
  /// (opentsdb-http-api.md §2.2).
  std::string_view unknown_coding;
  uint64_t content_length = 0;

  /// Returns the value of the first field with that name. The case of the name is ignored. Returns
  /// "" if the request has no such field.
  [[nodiscard]] std::string_view Find(std::string_view name) const;
};

enum class HeadResult : uint8_t {
  kIncomplete,  // the head is not complete; more bytes are needed
  kDone,
  kMalformed,  // invalid HTTP: the caller sends 400 and closes the connection
  /// The head exceeds the limits, or is not HTTP. The caller closes the connection without a reply,
  /// as OpenTSDB does.
  kRefused,
};

/// Parses the head at the front of `bytes` into *head. Sets *consumed to the length of the head,
/// including the blank line after it. `scanned` avoids repeated searches for the end of the head:
/// the caller sets *scanned to 0 for a new head, and keeps its value between calls while the buffer
/// grows. If the result is kMalformed, *fault is a sentence that describes the error.
///
/// The grammar is strict, because attackers can send bytes that a lenient server interprets as two
/// requests, but a proxy interprets as one (RFC 9112, 11.2). These are malformed: lines that end
/// without CR, folded lines, control bytes, a blank before a colon, more than one Host,
/// Content-Length, Transfer-Encoding or Authorization, Content-Length together with
/// Transfer-Encoding, and unknown transfer codings.
HeadResult ParseRequestHead(std::string_view bytes, size_t* scanned, RequestHead* head,
                            size_t* consumed, std::string_view* fault);

}  // namespace hg::http
