#include "http/wire/charset.h"

#include <iconv.h>

#include <algorithm>
#include <array>
#include <memory>

#include "http/wire/request_memory.h"
#include "storage/model/letter_case.h"

namespace hg::http {
namespace {

constexpr std::string_view kReplacement = "\xEF\xBF\xBD";

/// Beyond it no name of a charset goes; the system would look for a file of that name.
constexpr size_t kNameBytesMax = 40;

bool IsName(std::string_view name) {
  return !name.empty() && name.size() <= kNameBytesMax &&
         std::all_of(name.begin(), name.end(), [](char c) {
           return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
                  c == '-' || c == '_' || c == '.' || c == ':' || c == '+';
         });
}

struct CloseConverter {
  using pointer = iconv_t;
  void operator()(iconv_t converter) const { iconv_close(converter); }
};

}  // namespace

std::string_view ForeignCharset(std::string_view content_type) {
  const size_t at = LowerCase(content_type).find("charset=");
  if (at == std::string_view::npos) return {};
  std::string_view name = content_type.substr(at + 8);
  name = name.substr(0, name.find_first_of("; \t"));
  if (name.starts_with('"')) name.remove_prefix(1);
  if (name.ends_with('"')) name.remove_suffix(1);
  const std::string lower = LowerCase(name);
  return lower == "utf-8" || lower == "utf8" ? std::string_view() : name;
}

Result<std::string> ToUtf8(std::string_view charset, std::string_view text) {
  const auto unknown = [&] {
    return Status::InvalidArgument("The charset of the body is not known: " + std::string(charset));
  };
  if (!IsName(charset)) return unknown();
  const std::string name(charset);
  iconv_t opened = iconv_open("UTF-8", name.c_str());
  if (opened == reinterpret_cast<iconv_t>(-1)) return unknown();
  const std::unique_ptr<iconv_t, CloseConverter> converter(opened);
  RequestMemory::Room in_room, out_room;
  RETURN_IF_ERROR(in_room.Grow(text.size()));
  RETURN_IF_ERROR(out_room.Grow(text.size()));
  std::string out;
  out.reserve(text.size());
  std::string in(text);  // iconv wants bytes that it could change
  char* from = in.data();
  size_t left = in.size();
  std::array<char, 4096> piece;
  while (left > 0) {
    char* to = piece.data();
    size_t room = piece.size();
    const size_t converted = iconv(converter.get(), &from, &left, &to, &room);
    if (out.capacity() - out.size() < piece.size()) {
      const size_t more = 2 * out.capacity() + piece.size();
      RETURN_IF_ERROR(out_room.Grow(more));
      out.reserve(more);
    }
    out.append(piece.data(), static_cast<size_t>(to - piece.data()));
    if (converted != static_cast<size_t>(-1) || left == 0 || errno == E2BIG) continue;
    out += kReplacement;
    ++from;
    --left;
  }
  out_room.Keep();
  return out;
}

}  // namespace hg::http
