#pragma once
// The form of a request body: its content coding and its charset. This file also decodes a body
// into UTF-8 text.

#include <string>
#include <string_view>

#include "http/wire/request_head.h"
#include "http/wire/request_memory.h"
#include "storage/base/request_context.h"
#include "storage/base/status.h"

namespace hg::http {

struct BodyForm {
  ContentCoding coding = ContentCoding::kNone;
  std::string charset;  // the charset of the body; "" = UTF-8

  /// Returns whether the body is UTF-8 text that needs no decoding.
  [[nodiscard]] bool plain() const { return coding == ContentCoding::kNone && charset.empty(); }
};

/// Returns the form of a body with `body_bytes` bytes, as the request head describes it.
BodyForm FormOfBody(const RequestHead& head, size_t body_bytes);

/// Decodes a body that is not plain. If the charset of the body is UTF-8, *text is allocated with
/// kPutPadding unused bytes after its end, which the fast parsers need. The memory is charged to
/// `memory` before it is allocated; if charging fails, the function returns the error of `memory`.
/// LimitExceeded: the text is longer than bytes_max. InvalidArgument: the body is damaged or the
/// charset is unknown. Also fails if the context reports an error.
Status ReadBody(const BodyForm& form, std::string_view body, uint64_t bytes_max, std::string* text,
                RequestMemory::Share* memory, RequestContext& context);

}  // namespace hg::http
