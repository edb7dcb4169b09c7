#pragma once
// Reads the fields of a protobuf message from the front of its bytes. The functions return false if
// the bytes are truncated, or if they have a form that encoders do not write (groups, or sizes of
// more than four bytes). In these cases, callers let the protobuf library parse the whole message.

#include <bit>
#include <cstdint>
#include <cstring>
#include <string_view>

#include "storage/base/varint.h"
#include "storage/model/utf8.h"

namespace hg::http::protobuf_wire {

enum WireType : uint8_t { kVarint = 0, kFixed64 = 1, kSized = 2, kFixed32 = 5 };

/// Returns the tag that stands before a field. For field numbers up to 15, a tag has one byte.
constexpr uint8_t Tag(int field, WireType type) { return static_cast<uint8_t>(field << 3 | type); }

/// Reads the tag of a field whose number is at most 15. *rest must not be empty.
inline bool TakeTag(std::string_view* rest, uint8_t* tag) {
  *tag = static_cast<uint8_t>(rest->front());
  rest->remove_prefix(1);
  return *tag < 0x80 && *tag >= Tag(1, kVarint);
}

inline bool TakeVarint(std::string_view* rest, uint64_t* number) {
  return GetVarint64(rest, number);
}

inline bool TakeSized(std::string_view* rest, std::string_view* bytes) {
  /// Maximum length of a size in bytes; protobuf itself allows five.
  constexpr size_t kSizeBytesMax = 4;
  ByteView in = rest->substr(0, kSizeBytesMax);
  const size_t before = in.size();
  uint64_t size = 0;
  if (!GetVarint64(&in, &size)) return false;
  const size_t head = before - in.size();
  if (size > rest->size() - head) return false;
  *bytes = rest->substr(head, static_cast<size_t>(size));
  rest->remove_prefix(head + static_cast<size_t>(size));
  return true;
}

inline bool TakeFixed64(std::string_view* rest, uint64_t* number) {
  if (rest->size() < sizeof(*number)) return false;
  std::memcpy(number, rest->data(), sizeof(*number));
  if constexpr (std::endian::native == std::endian::big) *number = __builtin_bswap64(*number);
  rest->remove_prefix(sizeof(*number));
  return true;
}

/// Skips the value of a field that is unknown or not needed. Returns false if the field is a group.
inline bool SkipField(uint8_t tag, std::string_view* rest) {
  uint64_t number = 0;
  std::string_view bytes;
  switch (tag & 7) {
    case kVarint:
      return TakeVarint(rest, &number);
    case kFixed64:
      return TakeFixed64(rest, &number);
    case kSized:
      return TakeSized(rest, &bytes);
    case kFixed32:
      if (rest->size() < sizeof(uint32_t)) return false;
      rest->remove_prefix(sizeof(uint32_t));
      return true;
    default:
      return false;
  }
}

/// Returns whether the bytes are valid UTF-8. Protobuf requires this of fields of the type string.
inline bool IsText(std::string_view text) {
  uint64_t all = 0;
  size_t i = 0;
  for (; i + sizeof(all) <= text.size(); i += sizeof(all)) {
    uint64_t eight;
    std::memcpy(&eight, text.data() + i, sizeof(eight));
    all |= eight;
  }
  for (; i < text.size(); ++i) all |= static_cast<uint8_t>(text[i]);
  return (all & 0x8080808080808080u) == 0 || IsUtf8(text);
}

}  // namespace hg::http::protobuf_wire
