#pragma once
// Parses bodies of Prometheus' requests: a protobuf message in a snappy block.

#include <cstdint>
#include <initializer_list>
#include <optional>
#include <string>
#include <string_view>

#include "http/request/request.h"
#include "http/request/response_writer.h"

namespace hg::http {

/// Media type of the request and response bodies.
inline constexpr std::string_view kProtobufType = "application/x-protobuf";

struct SnappyBody {
  std::string bytes;         // the body after decompression
  std::string_view message;  // the message type that the request has, one of `messages`
};

/// Decompresses the body. `messages` are the supported message types, such as
/// "prometheus.WriteRequest". A request that names no type has the first one. Returns nullopt after
/// sending an error: 415 for another type or coding, 400 for a damaged block, 413 above bytes_max.
std::optional<SnappyBody> RequireSnappyBody(const Request& request,
                                            std::initializer_list<std::string_view> messages,
                                            uint64_t bytes_max, ResponseWriter& out);

}  // namespace hg::http
