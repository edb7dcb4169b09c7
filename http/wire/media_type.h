#pragma once
// Parses the value of a Content-Type field.

#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace hg::http {

struct MediaType {
  std::string type;                                             // in lower case, without parameters
  std::vector<std::pair<std::string, std::string>> parameters;  // names in lower case; unquoted

  /// Returns the value of a parameter, or "" if it is absent.
  [[nodiscard]] std::string_view Find(std::string_view lower_name) const;
};

/// Returns a part of a header field without the blanks around it.
inline std::string_view Trimmed(std::string_view text) {
  while (!text.empty() && (text.front() == ' ' || text.front() == '\t')) text.remove_prefix(1);
  while (!text.empty() && (text.back() == ' ' || text.back() == '\t')) text.remove_suffix(1);
  return text;
}

/// Parses any text. Leaves out parameters that cannot be parsed.
MediaType ParseMediaType(std::string_view content_type);

}  // namespace hg::http
