#include "http/api/snappy_body.h"

#include <algorithm>

#include "http/request/errors.h"
#include "http/wire/media_type.h"
#include "http/wire/snappy_block.h"

namespace hg::http {
namespace {

std::string_view HeaderOf(const Request& request, std::string_view name) {
  const std::string* value = request.Header(name);
  return value != nullptr ? std::string_view(*value) : std::string_view();
}

}  // namespace

std::optional<SnappyBody> RequireSnappyBody(const Request& request,
                                            std::initializer_list<std::string_view> messages,
                                            uint64_t bytes_max, ResponseWriter& out) {
  const std::string_view type = HeaderOf(request, "content-type");
  const MediaType media = ParseMediaType(type);
  const std::string_view sent = media.Find("proto");
  const auto message =
      sent.empty() ? messages.begin() : std::find(messages.begin(), messages.end(), sent);
  if (media.type != kProtobufType || message == messages.end()) {
    std::string known;
    for (const std::string_view one : messages)
      known.append(known.empty() ? "" : " or ").append(one);
    SendError(out, request, 415,
              "Invalid Content-Type (expected " + std::string(kProtobufType) +
                  " with proto=" + known + "): '" + std::string(type) + "'");
    return {};
  }
  const std::string_view coding = HeaderOf(request, "content-encoding");
  if (coding != "snappy") {
    SendError(out, request, 415,
              "The body must be packed with snappy (Content-Encoding), not '" +
                  std::string(coding) + "'");
    return {};
  }
  SnappyBody body{{}, *message};
  const Status unpacked = UnpackSnappy(request.body, bytes_max, &body.bytes, request.memory);
  if (unpacked.ok()) return body;
  SendStatus(out, request, unpacked);
  return {};
}

}  // namespace hg::http
