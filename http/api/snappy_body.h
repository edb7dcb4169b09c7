#pragma once
// The bodies that Prometheus sends: a message of protobuf in a block of snappy.

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "http/request.h"
#include "http/response_writer.h"

namespace hg::http {

/// Media type of such bodies, there and back.
inline constexpr std::string_view kProtobufType = "application/x-protobuf";

/// The body, unpacked. `message`: the only one that is understood, such as
/// "prometheus.WriteRequest". None: an error was sent: 415 for another type, message or coding, 400
/// for a damaged block, 413 for more than bytes_max.
std::optional<std::string> RequireSnappyBody(const Request& request, std::string_view message,
                                             uint64_t bytes_max, ResponseWriter& out);

}  // namespace hg::http
