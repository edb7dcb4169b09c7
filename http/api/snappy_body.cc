#include "http/api/snappy_body.h"

#include "http/errors.h"
#include "http/wire/media_type.h"
#include "http/wire/snappy_block.h"

namespace hg::http {
namespace {

std::string_view HeaderOf(const Request& request, std::string_view name) {
  const std::string* value = request.Header(name);
  return value != nullptr ? std::string_view(*value) : std::string_view();
}

}  // namespace

std::optional<std::string> RequireSnappyBody(const Request& request, std::string_view message,
                                             uint64_t bytes_max, ResponseWriter& out) {
  const std::string_view type = HeaderOf(request, "content-type");
  const MediaType media = ParseMediaType(type);
  const std::string_view sent = media.Find("proto");
  if (media.type != kProtobufType || (!sent.empty() && sent != message)) {
    SendError(out, request, 415,
              "The body must be " + std::string(kProtobufType) + " of " + std::string(message) +
                  " (version 1.0 of the protocol), not '" + std::string(type) + "'");
    return {};
  }
  const std::string_view coding = HeaderOf(request, "content-encoding");
  if (coding != "snappy") {
    SendError(out, request, 415,
              "The body must be packed with snappy (Content-Encoding), not '" +
                  std::string(coding) + "'");
    return {};
  }
  std::string bytes;
  const Status unpacked = UnpackSnappy(request.body, bytes_max, &bytes, request.memory);
  if (unpacked.ok()) return bytes;
  SendStatus(out, request, unpacked);
  return {};
}

}  // namespace hg::http
