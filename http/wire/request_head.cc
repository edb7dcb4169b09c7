#include "http/wire/request_head.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <utility>

#include "http/wire/media_type.h"
#include "storage/model/letter_case.h"

namespace hg::http {
namespace {

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

/// Returns whether the byte is allowed in methods and field names (RFC 9110, 5.6.2).
constexpr bool IsTokenByte(char c) {
  if ((c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9')) return true;
  return std::string_view("!#$%&'*+-.^_`|~").find(c) != std::string_view::npos;
}

/// Returns whether the byte is allowed in targets. The check is lenient, because clients do not
/// escape everything that they should.
constexpr bool IsTargetByte(char c) {
  const auto byte = static_cast<unsigned char>(c);
  return byte > 0x20 && byte != 0x7F;
}

/// Returns whether the byte is allowed in field values.
constexpr bool IsValueByte(char c) { return c == ' ' || c == '\t' || IsTargetByte(c); }

template <bool (*kIs)(char)>
constexpr std::array<bool, 256> TableOf() {
  std::array<bool, 256> table{};
  for (size_t i = 0; i < table.size(); ++i) table[i] = kIs(static_cast<char>(i));
  return table;
}

/// Returns true if kIs holds for all bytes of the text.
template <bool (*kIs)(char)>
bool All(std::string_view text) {
  static constexpr std::array<bool, 256> kTable = TableOf<kIs>();
  return std::all_of(text.begin(), text.end(),
                     [](char c) { return kTable[static_cast<unsigned char>(c)]; });
}

using Fault = std::string_view;  // what is wrong; "" = nothing

/// Removes the first line and its CRLF from *rest, which contains a CRLF. Returns the line without
/// CRLF.
std::string_view TakeHeadLine(std::string_view* rest) {
  const size_t end = rest->find("\r\n");
  const std::string_view line = rest->substr(0, end);
  rest->remove_prefix(end + 2);
  return line;
}

Fault ReadRequestLine(std::string_view line, RequestHead* head) {
  const size_t method_end = line.find(' ');
  const size_t target_end = line.rfind(' ');
  if (method_end == std::string_view::npos || method_end == target_end)
    return "The request line is not \"METHOD TARGET VERSION\"";
  head->method = line.substr(0, method_end);
  head->target = line.substr(method_end + 1, target_end - method_end - 1);
  const std::string_view version = line.substr(target_end + 1);
  if (head->method.empty() || !All<IsTokenByte>(head->method))
    return "The method of the request line is not a token";
  if (head->target.empty() || !All<IsTargetByte>(head->target))
    return "The target of the request line is empty or holds a blank or a control byte";
  head->http11 = version == "HTTP/1.1";
  if (!head->http11 && version != "HTTP/1.0") return "The version is neither HTTP/1.1 nor HTTP/1.0";
  return {};
}

Fault ReadField(std::string_view line, RequestHead* head) {
  if (line[0] == ' ' || line[0] == '\t') return "A header line is folded: it begins with a blank";
  const size_t colon = line.find(':');
  if (colon == std::string_view::npos) return "A header line has no colon";
  const std::string_view name = line.substr(0, colon);
  if (name.empty() || !All<IsTokenByte>(name)) return "A header name is not a token";
  const std::string_view value = Trimmed(line.substr(colon + 1));
  if (!All<IsValueByte>(value)) return "A header value holds a control byte";
  head->fields.emplace_back(name, value);
  return {};
}

/// Sets the content coding that the client prefers. Quality 0 means that the client does not accept
/// a coding.
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
  // Named codings take precedence over "*".
  head->accepted = ContentCoding::kNone;
  if (gzip > 0 || deflate > 0) {
    head->accepted = gzip >= deflate ? ContentCoding::kGzip : ContentCoding::kDeflate;
  } else if (star > 0 && (gzip < 0 || deflate < 0)) {
    head->accepted = gzip < 0 ? ContentCoding::kGzip : ContentCoding::kDeflate;
  }
}

void ReadConnection(std::string_view value, RequestHead* head) {
  ForEachElement(value, [&](std::string_view element) {
    if (EqualIgnoringCase(element, "close")) head->keep_alive = false;
    if (EqualIgnoringCase(element, "keep-alive")) head->keep_alive = true;
  });
}

void ReadContentEncoding(std::string_view value, RequestHead* head) {
  if (EqualIgnoringCase(value, "gzip") || EqualIgnoringCase(value, "x-gzip")) {
    head->coding = ContentCoding::kGzip;
  } else if (EqualIgnoringCase(value, "deflate") || EqualIgnoringCase(value, "x-deflate")) {
    head->coding = ContentCoding::kDeflate;
  } else if (!value.empty() && !EqualIgnoringCase(value, "identity") &&
             !EqualIgnoringCase(value, "snappy")) {
    head->unknown_coding = value;
  }
}

/// Whether a field was seen. A second one is refused, because a proxy could use one of them and
/// this server the other. Of several Content-Encoding fields, the first counts.
struct Singles {
  bool host = false, length = false, transfer = false, authorization = false,
       content_coding = false;
};

Fault ReadLength(std::string_view value, RequestHead* head) {
  const auto [end, error] =
      std::from_chars(value.data(), value.data() + value.size(), head->content_length);
  if (error == std::errc() && end == value.data() + value.size()) return {};
  return "Content-Length is not a number";
}

/// Refuses codings other than chunked and identity. The end of such a body is unknown, so its bytes
/// could be read as the next request (RFC 9112, 6.1).
Fault ReadTransferCoding(std::string_view value, RequestHead* head) {
  if (!head->http11) return "Transfer-Encoding needs HTTP/1.1";
  if (EqualIgnoringCase(value, "chunked")) {
    head->chunked = true;
  } else if (!EqualIgnoringCase(value, "identity")) {
    return "Transfer-Encoding is neither \"chunked\" nor \"identity\"";
  }
  return {};
}

/// Evaluates a field that affects the connection.
Fault ReadMeaning(std::string_view name, std::string_view value, Singles* seen, RequestHead* head) {
  switch (LowerCase(name[0])) {
    case 'a':
      if (EqualIgnoringCase(name, "accept-encoding")) ReadAcceptEncoding(value, head);
      if (EqualIgnoringCase(name, "authorization") && std::exchange(seen->authorization, true))
        return "There is more than one Authorization";
      break;
    case 'c':
      if (EqualIgnoringCase(name, "connection")) {
        ReadConnection(value, head);
      } else if (EqualIgnoringCase(name, "content-encoding")) {
        if (!std::exchange(seen->content_coding, true)) ReadContentEncoding(value, head);
      } else if (EqualIgnoringCase(name, "content-length")) {
        if (std::exchange(seen->length, true)) return "There is more than one Content-Length";
        return ReadLength(value, head);
      }
      break;
    case 'e':
      // HTTP/1.0 clients do not know the status 100 (RFC 9110, 10.1.1).
      if (head->http11 && EqualIgnoringCase(name, "expect") &&
          EqualIgnoringCase(value, "100-continue"))
        head->expects_continue = true;
      break;
    case 'h':
      if (!EqualIgnoringCase(name, "host")) break;
      if (std::exchange(seen->host, true)) return "There is more than one Host";
      head->host = value;
      break;
    case 'o':
      if (EqualIgnoringCase(name, "origin")) head->tells_of_page = true;
      break;
    case 'r':
      if (EqualIgnoringCase(name, "referer")) head->tells_of_page = true;
      break;
    case 's':
      if (EqualIgnoringCase(name, "sec-fetch-site")) head->tells_of_page = true;
      break;
    case 't':
      if (!EqualIgnoringCase(name, "transfer-encoding")) break;
      if (std::exchange(seen->transfer, true)) return "There is more than one Transfer-Encoding";
      return ReadTransferCoding(value, head);
    default:
      break;
  }
  return {};
}

Fault ReadHead(RequestHead* head) {
  std::string_view rest = head->text;
  if (const Fault fault = ReadRequestLine(TakeHeadLine(&rest), head); !fault.empty()) return fault;
  head->keep_alive = head->http11;
  Singles seen;
  for (;;) {
    const std::string_view line = TakeHeadLine(&rest);
    if (line.empty()) break;
    if (const Fault fault = ReadField(line, head); !fault.empty()) return fault;
    const auto& [name, value] = head->fields.back();
    if (const Fault fault = ReadMeaning(name, value, &seen, head); !fault.empty()) return fault;
  }
  if (seen.length && seen.transfer)
    return "There are both a Content-Length and a Transfer-Encoding";
  return {};
}

/// Resets the head but keeps its memory.
void Clear(RequestHead* head) {
  RequestHead empty;
  empty.text.swap(head->text);
  empty.fields.swap(head->fields);
  empty.text.clear();
  empty.fields.clear();
  *head = std::move(empty);
}

}  // namespace

std::string_view RequestHead::Find(std::string_view name) const {
  for (const auto& [key, value] : fields) {
    if (EqualIgnoringCase(key, name)) return value;
  }
  return {};
}

HeadResult ParseRequestHead(std::string_view bytes, size_t* scanned, RequestHead* head,
                            size_t* consumed, std::string_view* fault) {
  const size_t line_end = bytes.find('\n');
  const size_t line = line_end == std::string_view::npos ? bytes.size() : line_end;
  const size_t crlf = line > 0 && bytes[line - 1] == '\r' ? 1 : 0;
  if (line - crlf > kRequestLineBytesMax) return HeadResult::kRefused;
  const auto malformed = [&](std::string_view what) {
    Clear(head);
    *fault = what;
    return HeadResult::kMalformed;
  };
  for (size_t lf = bytes.find('\n', *scanned); lf != std::string_view::npos;
       lf = bytes.find('\n', lf + 1)) {
    if (lf - line > kHeaderBytesMax + 4) return HeadResult::kRefused;
    // The client speaks telnet, and its line begins with a capital letter.
    if (lf == line && bytes.substr(0, line).find(" HTTP/") == std::string_view::npos)
      return HeadResult::kRefused;
    if (lf == 0 || bytes[lf - 1] != '\r') return malformed("A header line does not end with CRLF");
    const bool blank = lf >= 2 && bytes[lf - 2] == '\n';
    if (!blank) continue;
    Clear(head);
    head->text.assign(bytes.substr(0, lf + 1));
    if (const Fault what = ReadHead(head); !what.empty()) return malformed(what);
    *consumed = lf + 1;
    return HeadResult::kDone;
  }
  *scanned = bytes.size();
  return bytes.size() - line > kHeaderBytesMax + 4 ? HeadResult::kRefused : HeadResult::kIncomplete;
}

}  // namespace hg::http
