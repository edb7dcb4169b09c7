#pragma once
// How the body of a request stands on the wire, and what it is as text.

#include <string>
#include <string_view>

#include "http/wire/request_head.h"
#include "storage/base/status.h"

namespace hg::http {

struct BodyForm {
  ContentCoding coding = ContentCoding::kNone;
  std::string charset;  // "" = UTF-8

  /// The body is its text.
  [[nodiscard]] bool plain() const { return coding == ContentCoding::kNone && charset.empty(); }
};

/// What the head says of a body of that many bytes.
BodyForm FormOfBody(const RequestHead& head, size_t body_bytes);

/// The text of a body that is not plain; *text has the room behind it that the fast parsers want
/// where there is no charset. LimitExceeded: more than bytes_max. Corruption: it cannot be
/// unpacked. InvalidArgument: no such charset. What it takes is asked of this thread's share first
/// (wire/request_memory.h), which holds it then: as it refuses it.
Status ReadBody(const BodyForm& form, std::string_view body, uint64_t bytes_max, std::string* text);

}  // namespace hg::http
