#pragma once
// Bodies of Prometheus requests: a protobuf message in a snappy block.

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "http/request.h"
#include "http/response_writer.h"

namespace hg::http {

/// Media type of these request and response bodies.
inline constexpr std::string_view kProtobufType = "application/x-protobuf";

/// The unpacked body. `message`: the only supported message type, such as
/// "prometheus.WriteRequest". nullopt: an error was sent: 415 for another type, message or coding,
/// 400 for a damaged block, 413 for more than bytes_max.
std::optional<std::string> RequireSnappyBody(const Request& request, std::string_view message,
                                             uint64_t bytes_max, ResponseWriter& out);

}  // namespace hg::http
