#pragma once
// Parses settings that are written as a JSON array.

#include <rapidjson/document.h>

#include <string_view>

#include "storage/base/status.h"

namespace hg::query {

/// Parses `json` into the document. `what` names the items of the array in error messages.
/// InvalidArgument: the text is not an array, or not JSON (the message has the byte offset).
Status ParseJsonArray(std::string_view json, std::string_view what, rapidjson::Document* document);

}  // namespace hg::query
