#pragma once
// The JSON form of an OTLP request as its protobuf form, which is read in place (otlp_body.h): a
// tenth of what protobuf's own reader of JSON takes. Only what exporters write is taken; whoever
// gets a "no" asks protobuf, which agrees with what is taken here.

#include <string>
#include <string_view>

namespace hg::http {

/// Makes an ExportMetricsServiceRequest, in an empty *protobuf. False, and it stays empty: the text
/// is not regular, or no request at all, or RequestMemory::Share::Current() has refused the memory.
bool OtlpJsonToProtobuf(std::string_view json, std::string* protobuf);

}  // namespace hg::http
