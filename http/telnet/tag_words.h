#pragma once
// Converts the words of a telnet line to UTF-8, and parses tags. The checks and the error messages
// are those of OpenTSDB (Tags.parse; opentsdb-http-api.md §19.3).

#include <deque>
#include <string>
#include <string_view>
#include <vector>

#include "storage/model/point_sink.h"

namespace hg::http {

/// Converts texts of telnet lines, and owns the converted texts until Clear.
class LineTexts {
 public:
  /// Converts a text from ISO-8859-1, the charset of the telnet protocol, to UTF-8. If the text is
  /// ASCII, returns `latin1` itself, whose bytes must then stay valid.
  std::string_view Text(std::string_view latin1);
  /// Stores a text until Clear, and returns a view of the stored text.
  std::string_view Keep(std::string text) { return texts_.emplace_back(std::move(text)); }

  /// Parses the words from index `first` on as tags, and appends the tags to *tags. Then sorts
  /// *tags in the order of OpenTSDB's map. Returns "" on success, and otherwise the error message
  /// that the caller must send after the name of the command.
  std::string ParseTags(const std::vector<std::string_view>& words, size_t first,
                        std::vector<TagText>* tags);

  void Clear() { texts_.clear(); }

 private:
  std::deque<std::string> texts_;
};

/// Sorts the tags in the order of OpenTSDB's map.
void OrderTags(std::vector<TagText>* tags);

}  // namespace hg::http
