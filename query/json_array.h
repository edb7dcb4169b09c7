#pragma once
// Settings whose text is a JSON array.

#include <rapidjson/document.h>

#include <string_view>

#include "storage/base/status.h"

namespace hg::query {

/// Reads `json` into the document. InvalidArgument: it is no JSON, with the byte, or no array, of
/// whose items `what` is the name.
Status ParseJsonArray(std::string_view json, std::string_view what, rapidjson::Document* document);

}  // namespace hg::query
