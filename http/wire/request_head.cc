#include "http/wire/request_head.h"

#include <algorithm>
#include <boost/beast/http/basic_parser.hpp>
#include <charconv>

#include "storage/model/letter_case.h"

namespace hg::http {
namespace {

namespace beast = boost::beast;

std::string_view Trimmed(std::string_view text) {
  while (!text.empty() && (text.front() == ' ' || text.front() == '\t')) text.remove_prefix(1);
  while (!text.empty() && (text.back() == ' ' || text.back() == '\t')) text.remove_suffix(1);
  return text;
}

/// Calls visit with each element of a comma-separated list.
template <typename Visit>
void ForEachElement(std::string_view list, const Visit& visit) {
  for (;;) {
    const size_t comma = list.find(',');
    visit(Trimmed(list.substr(0, comma)));
    if (comma == std::string_view::npos) return;
    list.remove_prefix(comma + 1);
  }
}

/// Beast's strict grammar; the fields' bytes stay where they are.
class HeadParser : public beast::http::basic_parser<true> {
 public:
  explicit HeadParser(RequestHead* head) : head_(*head) {
    header_limit(static_cast<std::uint32_t>(kRequestLineBytesMax + kHeaderBytesMax + 64));
    body_limit(boost::none);
  }
  [[nodiscard]] bool http11() const { return version_ >= 11; }

 private:
  using View = beast::string_view;
  static std::string_view Std(View v) { return {v.data(), v.size()}; }

  void on_request_impl(beast::http::verb, View method, View target, int version,
                       beast::error_code&) override {
    version_ = version;
    head_.method = Std(method);
    head_.target = Std(target);
  }
  void on_field_impl(beast::http::field, View name, View value, beast::error_code&) override {
    head_.fields.emplace_back(Std(name), Std(value));
  }
  void on_response_impl(int, View, int, beast::error_code&) override {}
  void on_header_impl(beast::error_code&) override {}
  void on_body_init_impl(boost::optional<std::uint64_t> const&, beast::error_code&) override {}
  std::size_t on_body_impl(View body, beast::error_code&) override { return body.size(); }
  void on_chunk_header_impl(std::uint64_t, View, beast::error_code&) override {}
  std::size_t on_chunk_body_impl(std::uint64_t, View body, beast::error_code&) override {
    return body.size();
  }
  void on_finish_impl(beast::error_code&) override {}

  RequestHead& head_;
  int version_ = 0;  // 10 or 11
};

/// Length of the head at the front of bytes, with its blank line; npos if that has not come yet.
size_t FindEnd(std::string_view bytes, size_t from) {
  for (size_t lf = bytes.find('\n', from); lf != std::string_view::npos;
       lf = bytes.find('\n', lf + 1)) {
    if (lf + 1 < bytes.size() && bytes[lf + 1] == '\n') return lf + 2;
    if (lf + 2 < bytes.size() && bytes[lf + 1] == '\r' && bytes[lf + 2] == '\n') return lf + 3;
  }
  return std::string_view::npos;
}

/// Copies the head with every line ended by CRLF: agents send bare LFs too, which Beast refuses.
void CopyWithCrlf(std::string_view bytes, std::string* out) {
  out->clear();
  while (!bytes.empty()) {
    const size_t lf = bytes.find('\n');
    size_t line = lf;
    if (line > 0 && bytes[line - 1] == '\r') --line;
    out->append(bytes, 0, line);
    out->append("\r\n");
    bytes.remove_prefix(lf + 1);
  }
}

/// The coding that the client likes best; a quality of 0 refuses one.
void ReadAcceptEncoding(std::string_view value, RequestHead* head) {
  double gzip = -1, deflate = -1, star = -1;  // -1 = not named
  ForEachElement(value, [&](std::string_view element) {
    const size_t semicolon = element.find(';');
    const std::string_view name = Trimmed(element.substr(0, semicolon));
    double quality = 1;
    if (semicolon != std::string_view::npos) {
      std::string_view q = Trimmed(element.substr(semicolon + 1));
      const size_t equals = q.find('=');
      q = equals == std::string_view::npos ? std::string_view() : Trimmed(q.substr(equals + 1));
      if (std::from_chars(q.data(), q.data() + q.size(), quality).ec != std::errc()) quality = 0;
    }
    if (EqualIgnoringCase(name, "gzip")) gzip = quality;
    if (EqualIgnoringCase(name, "deflate")) deflate = quality;
    if (name == "*") star = quality;
  });
  // What "*" stands for comes behind what is named.
  head->accepted = ContentCoding::kNone;
  if (gzip > 0 || deflate > 0) {
    head->accepted = gzip >= deflate ? ContentCoding::kGzip : ContentCoding::kDeflate;
  } else if (star > 0 && (gzip < 0 || deflate < 0)) {
    head->accepted = gzip < 0 ? ContentCoding::kGzip : ContentCoding::kDeflate;
  }
}

/// Fills what the connection acts upon.
void ReadFields(RequestHead* head) {
  head->keep_alive = head->http11;
  for (const auto& [name, value] : head->fields) {
    switch (LowerCase(name[0])) {
      case 'a':
        if (EqualIgnoringCase(name, "accept-encoding")) ReadAcceptEncoding(value, head);
        break;
      case 'c':
        if (EqualIgnoringCase(name, "connection")) {
          ForEachElement(value, [&](std::string_view element) {
            if (EqualIgnoringCase(element, "close")) head->keep_alive = false;
            if (EqualIgnoringCase(element, "keep-alive")) head->keep_alive = true;
          });
        } else if (EqualIgnoringCase(name, "content-encoding")) {
          if (EqualIgnoringCase(value, "gzip") || EqualIgnoringCase(value, "x-gzip")) {
            head->coding = ContentCoding::kGzip;
          } else if (EqualIgnoringCase(value, "deflate") || EqualIgnoringCase(value, "x-deflate")) {
            head->coding = ContentCoding::kDeflate;
          }
        }
        break;
      case 'e':
        if (EqualIgnoringCase(name, "expect") && EqualIgnoringCase(value, "100-continue")) {
          head->expects_continue = true;
        }
        break;
      default:
        break;
    }
  }
}

// Where a body ends that is coded otherwise nobody here knows: what follows it would be taken for
// the next request (RFC 9112, 6.1).
bool HasKnownFraming(const RequestHead& head) {
  return std::none_of(head.fields.begin(), head.fields.end(), [](const auto& field) {
    return EqualIgnoringCase(field.first, "transfer-encoding") &&
           !EqualIgnoringCase(field.second, "chunked") &&
           !EqualIgnoringCase(field.second, "identity");
  });
}

}  // namespace

std::string_view RequestHead::Find(std::string_view name) const {
  for (auto it = fields.rbegin(); it != fields.rend(); ++it) {
    if (EqualIgnoringCase(it->first, name)) return it->second;
  }
  return {};
}

HeadResult ParseRequestHead(std::string_view bytes, size_t* scanned, RequestHead* head,
                            size_t* consumed) {
  const size_t end = FindEnd(bytes, *scanned);
  const size_t line_end = bytes.find('\n');
  const size_t line = line_end == std::string_view::npos ? bytes.size() : line_end;
  const size_t crlf = line > 0 && bytes[line - 1] == '\r' ? 1 : 0;
  if (line - crlf > kRequestLineBytesMax) return HeadResult::kRefused;
  if (end == std::string_view::npos) {
    // A blank line may begin in the last three bytes.
    *scanned = bytes.size() < 3 ? 0 : bytes.size() - 3;
    return bytes.size() - line > kHeaderBytesMax + 4 ? HeadResult::kRefused
                                                     : HeadResult::kIncomplete;
  }
  if (end - line > kHeaderBytesMax + 4) return HeadResult::kRefused;
  CopyWithCrlf(bytes.substr(0, end), &head->text);
  head->fields.clear();
  head->chunked = head->expects_continue = false;
  head->coding = head->accepted = ContentCoding::kNone;
  head->content_length = 0;

  HeadParser parser(head);
  beast::error_code error;
  parser.put(boost::asio::buffer(head->text), error);
  if (!parser.is_header_done()) return HeadResult::kRefused;
  head->chunked = parser.chunked();
  if (!head->chunked && parser.content_length()) head->content_length = *parser.content_length();
  head->http11 = parser.http11();
  ReadFields(head);
  if (!HasKnownFraming(*head)) return HeadResult::kRefused;
  *consumed = end;
  return HeadResult::kDone;
}

}  // namespace hg::http
