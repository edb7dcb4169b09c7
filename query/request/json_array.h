#pragma once
// Parses the values of configuration settings that are JSON arrays.

#include <rapidjson/document.h>

#include <string_view>

#include "storage/base/status.h"

namespace hg::query {

/// Parses the JSON array `json` into `document`. `what` is the name of the items of the array in
/// error messages. InvalidArgument: the text is not JSON or is not an array. If the text is not
/// JSON, the message contains the byte offset of the error.
Status ParseJsonArray(std::string_view json, std::string_view what, rapidjson::Document* document);

}  // namespace hg::query
