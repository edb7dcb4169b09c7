#pragma once
// Parses the bodies of Prometheus' requests. A body is a protobuf message in a snappy block.

#include <cstdint>
#include <initializer_list>
#include <optional>
#include <string>
#include <string_view>

#include "http/request/request.h"
#include "http/request/response_writer.h"

namespace hg::http {

/// The media type of the bodies of requests and responses.
inline constexpr std::string_view kProtobufType = "application/x-protobuf";

struct SnappyBody {
  std::string bytes;         // bytes of the body after decompression
  std::string_view message;  // the type of the protobuf message; one of `messages`
};

/// Decompresses the body. `messages` lists the supported message types, such as
/// "prometheus.WriteRequest". If the request names no message type, the first one is assumed. On
/// failure, sends an error reply and returns nullopt: 415 for an unsupported type or coding, 400
/// for a damaged block, 413 if the decompressed body is larger than bytes_max.
std::optional<SnappyBody> RequireSnappyBody(const Request& request,
                                            std::initializer_list<std::string_view> messages,
                                            uint64_t bytes_max, ResponseWriter& out);

}  // namespace hg::http
