#pragma once
// Converts the JSON form of an OTLP request to protobuf, which otlp_body.h then parses in place. It
// is much faster than protobuf's JSON parser. It accepts only what exporters write; other texts are
// left to protobuf, which gives the same result.

#include <string>
#include <string_view>

#include "http/wire/request_memory.h"

namespace hg::http {

/// Writes an ExportMetricsServiceRequest to *protobuf, which must be empty. False, and *protobuf
/// stays empty: the text is not regular or not a valid request, or `memory` refused the
/// memory.
bool OtlpJsonToProtobuf(std::string_view json, std::string* protobuf, RequestMemory::Share* memory);

}  // namespace hg::http
