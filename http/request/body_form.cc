#include "http/request/body_form.h"

#include <utility>

#include "http/wire/body_coding.h"
#include "http/wire/charset.h"
#include "http/wire/put_json.h"

namespace hg::http {

BodyForm FormOfBody(const RequestHead& head, size_t body_bytes) {
  if (body_bytes == 0) return {};
  return {head.coding, ForeignCharset(head.Find("content-type"))};
}

Status ReadBody(const BodyForm& form, std::string_view body, uint64_t bytes_max, std::string* text,
                RequestMemory::Share* memory, RequestContext& context) {
  const uint64_t held = memory != nullptr ? memory->held() : 0;
  if (form.coding != ContentCoding::kNone) {
    RETURN_IF_ERROR(UnpackBody(form.coding, body, bytes_max, kPutPadding, text, memory, context));
    body = *text;
  }
  if (form.charset.empty()) return {};
  const uint64_t unpacked = memory != nullptr ? memory->held() - held : 0;
  ASSIGN_OR_RETURN(*text, ToUtf8(form.charset, body, memory, context));
  if (memory != nullptr) memory->Give(unpacked);
  return {};
}

}  // namespace hg::http
