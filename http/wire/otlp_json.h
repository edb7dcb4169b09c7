#pragma once
// Converts the JSON form of an OTLP request to protobuf, which otlp_body.h then parses in place.
// This is much faster than protobuf's JSON parser. The converter accepts only texts in the form
// that exporters write. Callers pass other texts to protobuf's parser; both parsers give the same
// result.

#include <string>
#include <string_view>

#include "http/wire/request_memory.h"

namespace hg::http {

/// Writes an ExportMetricsServiceRequest to *protobuf, which must be empty. Returns false if the
/// text is irregular or not a valid request, or if `memory` has too little memory; *protobuf then
/// stays empty.
bool OtlpJsonToProtobuf(std::string_view json, std::string* protobuf, RequestMemory::Share* memory);

}  // namespace hg::http
