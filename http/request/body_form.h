#pragma once
// The form of a request body: its content coding and charset, and the decoding into UTF-8 text.

#include <string>
#include <string_view>

#include "http/wire/request_head.h"
#include "http/wire/request_memory.h"
#include "storage/base/request_context.h"
#include "storage/base/status.h"

namespace hg::http {

struct BodyForm {
  ContentCoding coding = ContentCoding::kNone;
  std::string charset;  // "" = UTF-8

  /// Returns whether the body needs no decoding.
  [[nodiscard]] bool plain() const { return coding == ContentCoding::kNone && charset.empty(); }
};

/// Returns the form of a body of `body_bytes` bytes, as the request head describes it.
BodyForm FormOfBody(const RequestHead& head, size_t body_bytes);

/// Decodes a body that is not plain. Without a charset, *text is allocated with kPutPadding unused
/// bytes after its end for the fast parsers. LimitExceeded: the text is longer than bytes_max.
/// InvalidArgument: the body is damaged or the charset is unknown. The memory is first charged to
/// `memory`; if that fails, returns its error. Returns errors of the context, too.
Status ReadBody(const BodyForm& form, std::string_view body, uint64_t bytes_max, std::string* text,
                RequestMemory::Share* memory, RequestContext& context);

}  // namespace hg::http
