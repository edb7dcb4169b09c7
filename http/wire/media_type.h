#pragma once
// The value of a Content-Type field.

#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace hg::http {

struct MediaType {
  std::string type;                                             // in lower case, without parameters
  std::vector<std::pair<std::string, std::string>> parameters;  // names in lower case; no quotes

  /// The value of a parameter; "" if there is none.
  [[nodiscard]] std::string_view Find(std::string_view lower_name) const;
};

/// Of any text; what cannot be read as a parameter is left out.
MediaType ParseMediaType(std::string_view content_type);

}  // namespace hg::http
