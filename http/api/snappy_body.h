#pragma once
// Bodies of Prometheus requests: a protobuf message in a snappy block.

#include <cstdint>
#include <initializer_list>
#include <optional>
#include <string>
#include <string_view>

#include "http/request/request.h"
#include "http/request/response_writer.h"

namespace hg::http {

/// Media type of these request and response bodies.
inline constexpr std::string_view kProtobufType = "application/x-protobuf";

struct SnappyBody {
  std::string bytes;         // unpacked
  std::string_view message;  // the message type in the request, one of `messages`
};

/// Unpacks the body. `messages`: the supported message types, such as "prometheus.WriteRequest"; a
/// request that does not name its type is read as the first of them. nullopt: an error was sent:
/// 415 for another type, message or coding, 400 for a damaged block, 413 for more than bytes_max.
std::optional<SnappyBody> RequireSnappyBody(const Request& request,
                                            std::initializer_list<std::string_view> messages,
                                            uint64_t bytes_max, ResponseWriter& out);

}  // namespace hg::http
