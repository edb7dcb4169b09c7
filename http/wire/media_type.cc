#include "http/wire/media_type.h"

#include <algorithm>

#include "storage/model/letter_case.h"

namespace hg::http {
namespace {

/// Removes the next part and its semicolon from *rest; returns the part trimmed.
std::string_view TakePart(std::string_view* rest) {
  const size_t end = std::min(rest->find(';'), rest->size());
  const std::string_view part = Trimmed(rest->substr(0, end));
  rest->remove_prefix(std::min(end + 1, rest->size()));
  return part;
}

}  // namespace

std::string_view MediaType::Find(std::string_view lower_name) const {
  for (const auto& [name, value] : parameters) {
    if (name == lower_name) return value;
  }
  return {};
}

MediaType ParseMediaType(std::string_view content_type) {
  MediaType media;
  media.type = LowerCase(TakePart(&content_type));
  while (!content_type.empty()) {
    const std::string_view part = TakePart(&content_type);
    const size_t equals = part.find('=');
    if (equals == std::string_view::npos) continue;
    std::string_view value = Trimmed(part.substr(equals + 1));
    if (value.size() >= 2 && value.front() == '"' && value.back() == '"')
      value = value.substr(1, value.size() - 2);
    media.parameters.emplace_back(LowerCase(Trimmed(part.substr(0, equals))), value);
  }
  return media;
}

}  // namespace hg::http
