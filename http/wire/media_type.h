#pragma once
// Parses the values of Content-Type fields.

#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace hg::http {

struct MediaType {
  std::string type;  // media type in lower case, without parameters
  /// Names in lower case, and values without quotes.
  std::vector<std::pair<std::string, std::string>> parameters;

  /// Returns the value of a parameter, or "" if the parameter is absent.
  [[nodiscard]] std::string_view Find(std::string_view lower_name) const;
};

/// Returns the text without the blanks at its start and end.
inline std::string_view Trimmed(std::string_view text) {
  while (!text.empty() && (text.front() == ' ' || text.front() == '\t')) text.remove_prefix(1);
  while (!text.empty() && (text.back() == ' ' || text.back() == '\t')) text.remove_suffix(1);
  return text;
}

/// Parses the text of a Content-Type field. Parameters that cannot be parsed are left out. The text
/// may be any text.
MediaType ParseMediaType(std::string_view content_type);

}  // namespace hg::http
