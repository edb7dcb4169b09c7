#pragma once
// Converts the JSON form of an OTLP request to protobuf, which otlp_body.h then parses in place.
// This is much faster than the JSON parser of the protobuf library. The converter accepts only
// texts in the form that exporters write. Callers pass all other texts to the JSON parser of the
// protobuf library; both parsers return the same result.

#include <string>
#include <string_view>

#include "http/wire/request_memory.h"

namespace hg::http {

/// Writes the protobuf form of an ExportMetricsServiceRequest to *protobuf, which must be empty.
/// Returns false if the text is irregular, if it is not a valid request, or if `memory` has not
/// enough memory. In these cases *protobuf stays empty.
bool OtlpJsonToProtobuf(std::string_view json, std::string* protobuf, RequestMemory::Share* memory);

}  // namespace hg::http
