#pragma once
// Parses the values of settings that are JSON arrays.

#include <rapidjson/document.h>

#include <string_view>

#include "storage/base/status.h"

namespace hg::query {

/// Parses the JSON array `json` into the document. Error messages use `what` as the name of the
/// items in the array. InvalidArgument: the text is not an array, or is not JSON. The message for
/// text that is not JSON contains the byte offset.
Status ParseJsonArray(std::string_view json, std::string_view what, rapidjson::Document* document);

}  // namespace hg::query
