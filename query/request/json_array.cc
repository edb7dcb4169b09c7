#include "query/request/json_array.h"

#include <rapidjson/error/en.h>

#include <string>

namespace hg::query {

Status ParseJsonArray(std::string_view json, std::string_view what, rapidjson::Document* document) {
  document->Parse<rapidjson::kParseIterativeFlag>(json.data(), json.size());
  if (document->HasParseError()) {
    return Status::InvalidArgument(
        std::string(rapidjson::GetParseError_En(document->GetParseError())) + " at byte " +
        std::to_string(document->GetErrorOffset()));
  }
  if (!document->IsArray())
    return Status::InvalidArgument("an array of " + std::string(what) + " is expected");
  return {};
}

}  // namespace hg::query
