#include "http/wire/charset.h"

#include <iconv.h>

#include <algorithm>
#include <array>
#include <memory>

#include "http/wire/media_type.h"
#include "http/wire/request_memory.h"
#include "storage/model/letter_case.h"
#include "storage/model/utf8.h"

namespace hg::http {
namespace {

constexpr std::string_view kReplacement = "\xEF\xBF\xBD";

/// Charsets that clients may name. The system has hundreds more, but it would load a library for
/// each of them.
bool IsOffered(std::string_view name) {
  static constexpr std::array<std::string_view, 24> kNames = {
      "us-ascii",  "ascii",      "latin1",   "utf-16",     "utf-16be", "utf-16le",
      "utf-32",    "utf-32be",   "utf-32le", "koi8-r",     "koi8-u",   "shift_jis",
      "euc-jp",    "euc-kr",     "big5",     "gb2312",     "gbk",      "gb18030",
      "iso8859-1", "iso_8859-1", "cp1252",   "iso8859-15", "cp1251",   "macintosh"};
  const std::string lower = LowerCase(name);
  if (std::find(kNames.begin(), kNames.end(), lower) != kNames.end()) return true;
  // "iso-8859-1" to "iso-8859-16", "windows-1250" to "windows-1258".
  for (const std::string_view family : {"iso-8859-", "windows-125"}) {
    if (!lower.starts_with(family)) continue;
    const std::string_view number = std::string_view(lower).substr(family.size());
    return !number.empty() && number.size() <= 2 &&
           number.find_first_not_of("0123456789") == std::string_view::npos;
  }
  return false;
}

struct CloseConverter {
  using pointer = iconv_t;
  void operator()(iconv_t converter) const { iconv_close(converter); }
};

}  // namespace

std::string ForeignCharset(std::string_view content_type) {
  const MediaType media = ParseMediaType(content_type);
  const std::string_view name = media.Find("charset");
  const std::string lower = LowerCase(name);
  return lower == "utf-8" || lower == "utf8" ? std::string() : std::string(name);
}

Result<std::string> ToUtf8(std::string_view charset, std::string_view text,
                           RequestMemory::Share* memory, RequestContext& context) {
  const auto unknown = [&] {
    std::string said(charset);
    ReplaceInvalidUtf8(&said);
    return Status::InvalidArgument("The charset of the body is not known: " + said);
  };
  if (!IsOffered(charset)) return unknown();
  const std::string name(charset);
  iconv_t opened = iconv_open("UTF-8", name.c_str());
  if (opened == reinterpret_cast<iconv_t>(-1)) return unknown();
  const std::unique_ptr<iconv_t, CloseConverter> converter(opened);
  RequestMemory::Room in_room(memory), out_room(memory);
  RETURN_IF_ERROR(in_room.Grow(text.size()));
  RETURN_IF_ERROR(out_room.Grow(text.size()));
  std::string out;
  out.reserve(text.size());
  std::string in(text);  // iconv requires a mutable buffer
  char* from = in.data();
  size_t left = in.size();
  std::array<char, 4096> piece;
  constexpr size_t kCheckedBytes = 64 << 10;
  size_t checked = left;  // the value of `left` at the last check
  while (left > 0) {
    if (checked - left >= kCheckedBytes) {
      RETURN_IF_ERROR(context.Check());
      checked = left;
    }
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
